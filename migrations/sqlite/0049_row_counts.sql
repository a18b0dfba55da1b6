-- The last counts of a large mirror: a page shows them with their age, while the rows are counted again.
CREATE TABLE row_counts (
    store         TEXT NOT NULL,
    table_name    TEXT NOT NULL,
    live          INTEGER NOT NULL,
    gone          INTEGER NOT NULL,
    last_mirrored TEXT,
    counted_at    TEXT NOT NULL,
    PRIMARY KEY (store, table_name)
) WITHOUT ROWID;
