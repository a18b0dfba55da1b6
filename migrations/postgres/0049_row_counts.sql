-- The last counts of a large mirror: a page shows them with their age, while the rows are counted again.
CREATE TABLE row_counts (
    store         text NOT NULL,
    table_name    text NOT NULL,
    live          bigint NOT NULL,
    gone          bigint NOT NULL,
    last_mirrored timestamptz,
    counted_at    timestamptz NOT NULL,
    PRIMARY KEY (store, table_name)
);
