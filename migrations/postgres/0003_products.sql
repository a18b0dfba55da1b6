-- Products with their tiers, and stock with its locations (API document, "Product").

CREATE TABLE products (
    store                  TEXT NOT NULL,
    id                     TEXT NOT NULL,
    listing_hash           BIGINT NOT NULL,
    content_hash           BIGINT NOT NULL,
    gone_at                TIMESTAMPTZ,
    mirrored_at            TIMESTAMPTZ NOT NULL,
    sku                    TEXT,
    name                   TEXT,
    base_unit              TEXT,
    price_type             TEXT,
    is_available_for_sale  BOOLEAN,
    auto_wholesale_pricing BOOLEAN,
    height                 NUMERIC,
    width                  NUMERIC,
    length                 NUMERIC,
    weight                 NUMERIC,
    price                  NUMERIC,
    quantity               NUMERIC,
    reserved_quantity      NUMERIC,
    available_quantity     NUMERIC,
    raw                    JSONB NOT NULL,
    PRIMARY KEY (store, id)
);
CREATE INDEX products_by_sku ON products (store, sku);

CREATE TABLE product_prices (
    store            TEXT NOT NULL,
    product_id       TEXT NOT NULL,
    min_quantity     BIGINT NOT NULL,
    gone_at          TIMESTAMPTZ,
    mirrored_at      TIMESTAMPTZ NOT NULL,
    value            NUMERIC,
    discount_percent NUMERIC,
    package_weight   NUMERIC,
    package_height   NUMERIC,
    package_width    NUMERIC,
    package_length   NUMERIC,
    raw              JSONB NOT NULL,
    PRIMARY KEY (store, product_id, min_quantity)
);

CREATE TABLE product_stock (
    store              TEXT NOT NULL,
    sku                TEXT NOT NULL,
    location_id        TEXT NOT NULL,
    product_id         TEXT NOT NULL,
    gone_at            TIMESTAMPTZ,
    mirrored_at        TIMESTAMPTZ NOT NULL,
    quantity           NUMERIC,
    reserved_quantity  NUMERIC,
    available_quantity NUMERIC,
    raw                JSONB NOT NULL,
    PRIMARY KEY (store, sku, location_id)
);
CREATE INDEX product_stock_by_product ON product_stock (store, product_id);

CREATE TABLE stock_locations (
    store             TEXT NOT NULL,
    location_id       TEXT NOT NULL,
    gone_at           TIMESTAMPTZ,
    mirrored_at       TIMESTAMPTZ NOT NULL,
    name              TEXT,
    status            TEXT,
    location_type     TEXT,
    allows_pickup     BOOLEAN,
    allows_production BOOLEAN,
    raw               JSONB NOT NULL,
    PRIMARY KEY (store, location_id)
);
