-- How mirror and marketplace compared when a sample was last held against it, by resource.
CREATE TABLE audits (
    store     TEXT NOT NULL,
    resource  TEXT NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    compared  BIGINT NOT NULL,
    differing BIGINT NOT NULL,
    PRIMARY KEY (store, resource)
);
