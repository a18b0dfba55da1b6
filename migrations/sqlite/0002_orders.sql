-- Orders and their lines (API document, "Order").

CREATE TABLE orders (
    store                TEXT NOT NULL,
    order_number         TEXT NOT NULL,
    listing_hash         INTEGER NOT NULL,
    content_hash         INTEGER NOT NULL,
    gone_at              TEXT,
    mirrored_at          TEXT NOT NULL,
    status               TEXT,
    workflow_type        TEXT,
    type                 TEXT,
    channel              TEXT,
    delivery_method      TEXT,
    checkout_group_id    TEXT,
    customer_id          TEXT,
    customer_name        TEXT,
    total_products       TEXT,
    total_shipping       TEXT,
    total_discounts      TEXT,
    total_order          TEXT,
    items_count          INTEGER,
    lines_count          INTEGER,
    payment_method       TEXT,
    payment_status       TEXT,
    payment_expires_at   TEXT,
    is_collective        INTEGER,
    is_awaiting_campaign INTEGER,
    release_at           TEXT,
    picked_up_at         TEXT,
    notes                TEXT,
    created_at           TEXT,
    updated_at           TEXT,
    raw                  TEXT NOT NULL,
    PRIMARY KEY (store, order_number)
);
CREATE INDEX orders_by_status ON orders (store, status);
CREATE INDEX orders_by_creation ON orders (store, created_at);

CREATE TABLE order_items (
    store             TEXT NOT NULL,
    order_number      TEXT NOT NULL,
    id                TEXT NOT NULL,
    gone_at           TEXT,
    mirrored_at       TEXT NOT NULL,
    product_id        TEXT,
    sku               TEXT,
    quantity          TEXT,
    unit_price        TEXT,
    net_value         TEXT,
    price_scale       INTEGER,
    stock_status      TEXT,
    is_blocking_stock INTEGER,
    raw               TEXT NOT NULL,
    PRIMARY KEY (store, order_number, id)
);
