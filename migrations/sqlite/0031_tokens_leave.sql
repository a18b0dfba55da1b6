-- The tokens are in the second file by now (crates/store/src/moved_tokens.rs). The pages that they leave are overwritten.
PRAGMA secure_delete = ON;
DELETE FROM tokens;
DROP TABLE tokens;
PRAGMA secure_delete = OFF;
