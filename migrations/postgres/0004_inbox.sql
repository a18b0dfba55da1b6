-- What the marketplace cannot send again: deliveries of webhooks, and the secrets that they are signed with.
-- On SQLite they lie in a file of their own (sqlite/inbox).

CREATE TABLE webhook_inbox (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    store       TEXT NOT NULL,
    received_at TIMESTAMPTZ NOT NULL,
    -- The event's name where the body has a plausible one; the body is what counts.
    event       TEXT,
    -- SHA-256 of the body, in hex.
    digest      TEXT NOT NULL,
    -- The bytes as they were signed.
    body        BYTEA NOT NULL,
    handled_at  TIMESTAMPTZ
);
CREATE INDEX webhook_inbox_open ON webhook_inbox (store, id) WHERE handled_at IS NULL;
CREATE INDEX webhook_inbox_handled ON webhook_inbox (handled_at) WHERE handled_at IS NOT NULL;

CREATE TABLE webhook_secrets (
    store       TEXT NOT NULL,
    secret      TEXT NOT NULL,
    obtained_at TIMESTAMPTZ NOT NULL,
    -- When another one took its place; deliveries signed with it are accepted for a day more.
    retired_at  TIMESTAMPTZ,
    PRIMARY KEY (store, secret)
);
