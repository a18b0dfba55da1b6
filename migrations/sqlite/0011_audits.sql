-- How mirror and marketplace compared when a sample was last held against it, by resource.
CREATE TABLE audits (
    store     TEXT NOT NULL,
    resource  TEXT NOT NULL,
    at        TEXT NOT NULL,
    compared  INTEGER NOT NULL,
    differing INTEGER NOT NULL,
    PRIMARY KEY (store, resource)
) WITHOUT ROWID;
