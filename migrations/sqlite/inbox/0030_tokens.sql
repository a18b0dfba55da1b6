-- The tokens lie in the file that is the service's alone: the ERP may open the mirror's. What was kept there comes here before it
-- goes there (crates/store/src/moved_tokens.rs).
CREATE TABLE tokens (
    store       TEXT PRIMARY KEY,
    -- Whose it is: a token is never used for another credential or sent to another host.
    username    TEXT NOT NULL,
    base_url    TEXT NOT NULL,
    token       TEXT NOT NULL,
    expires_at  TEXT NOT NULL,
    obtained_at TEXT NOT NULL
);
