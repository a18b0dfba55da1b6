-- Messages to people about alarms: what was told, by which channels, and which process tells.

-- A message about alarms of one code, until it is over.
CREATE TABLE notices (
    id            TEXT NOT NULL PRIMARY KEY,
    code          TEXT NOT NULL,
    -- warning or failing
    severity      TEXT NOT NULL,
    -- The identities of its alarms: [{"code", "store", "cause"}].
    members       TEXT NOT NULL,
    -- For how long its alarms must be gone before the end is told.
    quiet_seconds BIGINT NOT NULL,
    -- What is told, in the installation's language.
    content       TEXT NOT NULL,
    raised_at     TIMESTAMPTZ NOT NULL,
    ended_at      TIMESTAMPTZ
);
CREATE INDEX notices_open ON notices (raised_at) WHERE ended_at IS NULL;
CREATE INDEX notices_by_time ON notices (raised_at);

-- What became of it by each channel, once for `raised` and once for `ended`.
CREATE TABLE notice_deliveries (
    notice       TEXT NOT NULL,
    -- webhook, smtp or exec
    channel      TEXT NOT NULL,
    event        TEXT NOT NULL,
    -- open, delivered or given_up
    state        TEXT NOT NULL,
    -- Noted before each attempt.
    attempts     BIGINT NOT NULL DEFAULT 0,
    due_at       TIMESTAMPTZ NOT NULL,
    delivered_at TIMESTAMPTZ,
    error        TEXT,
    PRIMARY KEY (notice, channel, event)
);
CREATE INDEX notice_deliveries_open ON notice_deliveries (due_at) WHERE state = 'open';

-- How each channel fares.
CREATE TABLE notice_channels (
    channel      TEXT NOT NULL PRIMARY KEY,
    delivered_at TIMESTAMPTZ,
    -- Since when nothing goes out by it.
    failed_since TIMESTAMPTZ,
    error        TEXT
);

-- The process that tells, of those that share the database: one row.
CREATE TABLE notice_owner (
    name     TEXT NOT NULL PRIMARY KEY,
    instance TEXT NOT NULL
);
