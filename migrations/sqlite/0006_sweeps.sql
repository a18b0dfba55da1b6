-- What the sweeps between two complete reconciliations remember: they go on after a restart where they were.

-- When each sweep last began and last ended well.
CREATE TABLE sweeps (
    store        TEXT NOT NULL,
    kind         TEXT NOT NULL,
    started_at   TEXT NOT NULL,
    succeeded_at TEXT,
    -- Why the last one did not end well; NULL when it did.
    problem      TEXT,
    PRIMARY KEY (store, kind)
) WITHOUT ROWID;

-- How many rows the marketplace says that it has, and how many the mirror had then.
CREATE TABLE remote_counts (
    store  TEXT NOT NULL,
    kind   TEXT NOT NULL,
    remote INTEGER NOT NULL,
    local  INTEGER NOT NULL,
    at     TEXT NOT NULL,
    PRIMARY KEY (store, kind)
) WITHOUT ROWID;

-- Whether webhooks arrive: changes that sweeps have found since the last delivery, and the daily test.
CREATE TABLE webhook_watch (
    store         TEXT PRIMARY KEY,
    heard_at      TEXT,
    missed        INTEGER NOT NULL,
    missed_since  TEXT,
    tested_at     TEXT,
    test_heard_at TEXT,
    problem       TEXT
);

-- The words that the marketplace has for orders, by the list they stand in (API document, "Orders": the enums route).
CREATE TABLE enums (
    store   TEXT NOT NULL,
    name    TEXT NOT NULL,
    value   TEXT NOT NULL,
    label   TEXT,
    color   TEXT,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (store, name, value)
) WITHOUT ROWID;

-- Orders that are read again by their age: the sweep finds them without reading the rows.
CREATE INDEX orders_by_age ON orders (store, updated_at, created_at, mirrored_at, status, order_number) WHERE gone_at IS NULL;
CREATE INDEX products_live ON products (store, id) WHERE gone_at IS NULL;
