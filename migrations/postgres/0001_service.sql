-- What espelho needs for itself: who owns a store, its token, its budget, its runs.

CREATE TABLE stores (
    store         TEXT PRIMARY KEY,
    environment   TEXT NOT NULL,
    base_url      TEXT NOT NULL,
    first_seen_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE leases (
    store       TEXT PRIMARY KEY,
    fence       BIGINT NOT NULL,
    owner       TEXT NOT NULL,
    acquired_at TIMESTAMPTZ NOT NULL,
    renewed_at  TIMESTAMPTZ NOT NULL
);

CREATE TABLE tokens (
    store       TEXT PRIMARY KEY,
    -- Whose it is: a token is never used for another credential or sent to another host.
    username    TEXT NOT NULL,
    base_url    TEXT NOT NULL,
    token       TEXT NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL,
    obtained_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE logins (
    store  TEXT NOT NULL,
    at     TIMESTAMPTZ NOT NULL,
    -- 'attempt' until it succeeded, then why it was made; 'unsent' when there was no connection.
    reason TEXT NOT NULL,
    PRIMARY KEY (store, at)
);

CREATE TABLE rate_blocks (
    store    TEXT NOT NULL,
    block    BIGINT NOT NULL,
    requests BIGINT NOT NULL,
    free_at  TIMESTAMPTZ,
    PRIMARY KEY (store, block)
);

CREATE TABLE sync_runs (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    store       TEXT NOT NULL,
    kind        TEXT NOT NULL,
    state       TEXT NOT NULL,
    started_at  TIMESTAMPTZ NOT NULL,
    finished_at TIMESTAMPTZ,
    requests    BIGINT NOT NULL DEFAULT 0,
    seen        BIGINT NOT NULL DEFAULT 0,
    changed     BIGINT NOT NULL DEFAULT 0,
    gone        BIGINT NOT NULL DEFAULT 0,
    failed      BIGINT NOT NULL DEFAULT 0,
    error       TEXT
);
CREATE INDEX sync_runs_by_store ON sync_runs (store, id);

-- The pass that is under way for a resource, and the pages of it that are mirrored. A page's rows and its
-- line here are written in one transaction: that is the checkpoint.
CREATE TABLE sync_passes (
    store      TEXT NOT NULL,
    resource   TEXT NOT NULL,
    scope      TEXT NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (store, resource)
);

CREATE TABLE sync_pages (
    store    TEXT NOT NULL,
    resource TEXT NOT NULL,
    step     BIGINT NOT NULL,
    page     BIGINT NOT NULL,
    total    BIGINT,
    -- Whether the listing ended with this page.
    last     BOOLEAN NOT NULL,
    seen     BIGINT NOT NULL,
    changed  BIGINT NOT NULL,
    failed   BIGINT NOT NULL,
    -- 8 bytes a row: fingerprints of the keys that the page listed, in its order.
    keys     BYTEA NOT NULL,
    PRIMARY KEY (store, resource, step)
);

CREATE TABLE sync_failures (
    store    TEXT NOT NULL,
    resource TEXT NOT NULL,
    key      TEXT NOT NULL,
    code     TEXT NOT NULL,
    error    TEXT NOT NULL,
    hint     TEXT NOT NULL,
    at       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (store, resource, key)
);

CREATE TABLE changes (
    seq    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    store  TEXT NOT NULL,
    entity TEXT NOT NULL,
    key    TEXT NOT NULL,
    op     TEXT NOT NULL,
    at     TIMESTAMPTZ NOT NULL
);
