-- Rows that the marketplace has denied when it was asked for them, until it shows them again or they count as gone.
CREATE TABLE missing (
    store         TEXT NOT NULL,
    resource      TEXT NOT NULL,
    key           TEXT NOT NULL,
    since         TIMESTAMPTZ NOT NULL,
    -- How many denials count: those that came long enough after the one before.
    confirmations BIGINT NOT NULL,
    last_at       TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (store, resource, key)
);
