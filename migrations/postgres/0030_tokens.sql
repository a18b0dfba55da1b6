-- On SQLite the tokens move to the second file; here they stay, and roles keep others from them.
COMMENT ON TABLE tokens IS 'espelho''s own: live tokens';
