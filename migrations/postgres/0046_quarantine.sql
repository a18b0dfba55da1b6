-- Inputs whose work ended in a panic, or with the process. Almost always empty: what is under way is noted in a file
-- beside the label files, and only what was under way at such an end comes here.
CREATE TABLE quarantine (
    store        TEXT NOT NULL,
    -- What was worked on: stock, price, command, or the resource as in sync_failures.
    work         TEXT NOT NULL,
    key          TEXT NOT NULL,
    attempts     BIGINT NOT NULL,
    -- The place of the panic in the code; NULL where the process ended without a word.
    place        TEXT,
    at           TIMESTAMPTZ NOT NULL,
    -- When it was set aside; NULL while it is worked on once more.
    set_aside_at TIMESTAMPTZ,
    PRIMARY KEY (store, work, key)
);
