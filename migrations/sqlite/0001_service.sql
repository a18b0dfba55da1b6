-- What espelho needs for itself: who owns a store, its token, its budget, its runs.
-- Times are fixed-width UTC ISO 8601 text, decimals exact text, booleans 0/1.

CREATE TABLE stores (
    store         TEXT PRIMARY KEY,
    environment   TEXT NOT NULL,
    base_url      TEXT NOT NULL,
    first_seen_at TEXT NOT NULL
);

CREATE TABLE leases (
    store       TEXT PRIMARY KEY,
    fence       INTEGER NOT NULL,
    owner       TEXT NOT NULL,
    acquired_at TEXT NOT NULL,
    renewed_at  TEXT NOT NULL
);

CREATE TABLE tokens (
    store       TEXT PRIMARY KEY,
    -- Whose it is: a token is never used for another credential or sent to another host.
    username    TEXT NOT NULL,
    base_url    TEXT NOT NULL,
    token       TEXT NOT NULL,
    expires_at  TEXT NOT NULL,
    obtained_at TEXT NOT NULL
);

CREATE TABLE logins (
    store  TEXT NOT NULL,
    at     TEXT NOT NULL,
    -- 'attempt' until it succeeded, then why it was made; 'unsent' when there was no connection.
    reason TEXT NOT NULL,
    PRIMARY KEY (store, at)
);

CREATE TABLE rate_blocks (
    store    TEXT NOT NULL,
    block    INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    free_at  TEXT,
    PRIMARY KEY (store, block)
) WITHOUT ROWID;

CREATE TABLE sync_runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    store       TEXT NOT NULL,
    kind        TEXT NOT NULL,
    state       TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    finished_at TEXT,
    requests    INTEGER NOT NULL DEFAULT 0,
    seen        INTEGER NOT NULL DEFAULT 0,
    changed     INTEGER NOT NULL DEFAULT 0,
    gone        INTEGER NOT NULL DEFAULT 0,
    failed      INTEGER NOT NULL DEFAULT 0,
    error       TEXT
);
CREATE INDEX sync_runs_by_store ON sync_runs (store, id);

-- The pass that is under way for a resource, and the pages of it that are mirrored. A page's rows and its
-- line here are written in one transaction: that is the checkpoint.
CREATE TABLE sync_passes (
    store      TEXT NOT NULL,
    resource   TEXT NOT NULL,
    scope      TEXT NOT NULL,
    started_at TEXT NOT NULL,
    PRIMARY KEY (store, resource)
) WITHOUT ROWID;

CREATE TABLE sync_pages (
    store    TEXT NOT NULL,
    resource TEXT NOT NULL,
    step     INTEGER NOT NULL,
    page     INTEGER NOT NULL,
    total    INTEGER,
    -- Whether the listing ended with this page.
    last     INTEGER NOT NULL,
    seen     INTEGER NOT NULL,
    changed  INTEGER NOT NULL,
    failed   INTEGER NOT NULL,
    -- 8 bytes a row: fingerprints of the keys that the page listed, in its order.
    keys     BLOB NOT NULL,
    PRIMARY KEY (store, resource, step)
);

CREATE TABLE sync_failures (
    store    TEXT NOT NULL,
    resource TEXT NOT NULL,
    key      TEXT NOT NULL,
    code     TEXT NOT NULL,
    error    TEXT NOT NULL,
    hint     TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (store, resource, key)
) WITHOUT ROWID;

CREATE TABLE changes (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    store  TEXT NOT NULL,
    entity TEXT NOT NULL,
    key    TEXT NOT NULL,
    op     TEXT NOT NULL,
    at     TEXT NOT NULL
);
