-- What the marketplace cannot send again: deliveries of webhooks, and the secrets that they are signed with.
-- A file of its own beside the mirror's: its commits wait for the disk (synchronous = FULL), never for a page of the
-- mirror, and it survives when the mirror is thrown away and read anew.

CREATE TABLE webhook_inbox (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    store       TEXT NOT NULL,
    received_at TEXT NOT NULL,
    -- The event's name where the body has a plausible one; the body is what counts.
    event       TEXT,
    -- SHA-256 of the body, in hex.
    digest      TEXT NOT NULL,
    -- The bytes as they were signed.
    body        BLOB NOT NULL,
    handled_at  TEXT
);
CREATE INDEX webhook_inbox_open ON webhook_inbox (store, id) WHERE handled_at IS NULL;
CREATE INDEX webhook_inbox_handled ON webhook_inbox (handled_at) WHERE handled_at IS NOT NULL;

CREATE TABLE webhook_secrets (
    store       TEXT NOT NULL,
    secret      TEXT NOT NULL,
    obtained_at TEXT NOT NULL,
    -- When another one took its place; deliveries signed with it are accepted for a day more.
    retired_at  TEXT,
    PRIMARY KEY (store, secret)
) WITHOUT ROWID;
