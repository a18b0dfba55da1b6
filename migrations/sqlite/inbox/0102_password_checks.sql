-- Eight bits of a hash of the password that obtained the token: they tell most other passwords, and one guess in 256 fits them.
-- NULL: a version before this one obtained the token.
ALTER TABLE tokens ADD COLUMN password_check INTEGER;
