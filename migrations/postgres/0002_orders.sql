-- Orders and their lines (API document, "Order").

CREATE TABLE orders (
    store                TEXT NOT NULL,
    order_number         TEXT NOT NULL,
    listing_hash         BIGINT NOT NULL,
    content_hash         BIGINT NOT NULL,
    gone_at              TIMESTAMPTZ,
    mirrored_at          TIMESTAMPTZ NOT NULL,
    status               TEXT,
    workflow_type        TEXT,
    type                 TEXT,
    channel              TEXT,
    delivery_method      TEXT,
    checkout_group_id    TEXT,
    customer_id          TEXT,
    customer_name        TEXT,
    total_products       NUMERIC,
    total_shipping       NUMERIC,
    total_discounts      NUMERIC,
    total_order          NUMERIC,
    items_count          NUMERIC,
    lines_count          BIGINT,
    payment_method       TEXT,
    payment_status       TEXT,
    payment_expires_at   TIMESTAMPTZ,
    is_collective        BOOLEAN,
    is_awaiting_campaign BOOLEAN,
    release_at           TIMESTAMPTZ,
    picked_up_at         TIMESTAMPTZ,
    notes                TEXT,
    created_at           TIMESTAMPTZ,
    updated_at           TIMESTAMPTZ,
    raw                  JSONB NOT NULL,
    PRIMARY KEY (store, order_number)
);
CREATE INDEX orders_by_status ON orders (store, status);
CREATE INDEX orders_by_creation ON orders (store, created_at);

CREATE TABLE order_items (
    store             TEXT NOT NULL,
    order_number      TEXT NOT NULL,
    id                TEXT NOT NULL,
    gone_at           TIMESTAMPTZ,
    mirrored_at       TIMESTAMPTZ NOT NULL,
    product_id        TEXT,
    sku               TEXT,
    quantity          NUMERIC,
    unit_price        NUMERIC,
    net_value         NUMERIC,
    price_scale       BIGINT,
    stock_status      TEXT,
    is_blocking_stock BOOLEAN,
    raw               JSONB NOT NULL,
    PRIMARY KEY (store, order_number, id)
);
