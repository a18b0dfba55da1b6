-- The orders that the ERP has taken: it writes one row for each.
CREATE TABLE erp_orders (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    erp_id       TEXT,
    note         TEXT,
    taken_at     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'),
    PRIMARY KEY (store, order_number)
);
