-- What `espelho forget` remembers, without the person: the orders whose person was erased, fingerprints of the person's
-- identifiers, and a record of each erasure.
CREATE TABLE erasures (
    id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    store     TEXT NOT NULL,
    at        TIMESTAMPTZ NOT NULL,
    erased_by TEXT NOT NULL,
    -- Rows by table, as JSON.
    counts    TEXT NOT NULL
);
-- Whatever is written of these orders is written without the person.
CREATE TABLE erased_orders (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    PRIMARY KEY (store, order_number)
);
-- An older order of the same person that the mirror does not have yet is recognized by these.
CREATE TABLE erased_people (
    store      TEXT NOT NULL,
    -- SHA-256 of the key and the identifier, in hex.
    identifier TEXT NOT NULL,
    at         TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (store, identifier)
);
-- The random key of the fingerprints: one row.
CREATE TABLE erasure_keys (
    id     BIGINT PRIMARY KEY,
    secret TEXT NOT NULL
);
