-- The orders that the ERP has taken: it writes one row for each.
CREATE TABLE erp_orders (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    erp_id       TEXT,
    note         TEXT,
    taken_at     TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (store, order_number)
);
