-- Products with their tiers, and stock with its locations (API document, "Product").

CREATE TABLE products (
    store                  TEXT NOT NULL,
    id                     TEXT NOT NULL,
    listing_hash           INTEGER NOT NULL,
    content_hash           INTEGER NOT NULL,
    gone_at                TEXT,
    mirrored_at            TEXT NOT NULL,
    sku                    TEXT,
    name                   TEXT,
    base_unit              TEXT,
    price_type             TEXT,
    is_available_for_sale  INTEGER,
    auto_wholesale_pricing INTEGER,
    height                 TEXT,
    width                  TEXT,
    length                 TEXT,
    weight                 TEXT,
    price                  TEXT,
    quantity               TEXT,
    reserved_quantity      TEXT,
    available_quantity     TEXT,
    raw                    TEXT NOT NULL,
    PRIMARY KEY (store, id)
);
CREATE INDEX products_by_sku ON products (store, sku);

CREATE TABLE product_prices (
    store            TEXT NOT NULL,
    product_id       TEXT NOT NULL,
    min_quantity     INTEGER NOT NULL,
    gone_at          TEXT,
    mirrored_at      TEXT NOT NULL,
    value            TEXT,
    discount_percent TEXT,
    package_weight   TEXT,
    package_height   TEXT,
    package_width    TEXT,
    package_length   TEXT,
    raw              TEXT NOT NULL,
    PRIMARY KEY (store, product_id, min_quantity)
);

CREATE TABLE product_stock (
    store              TEXT NOT NULL,
    sku                TEXT NOT NULL,
    location_id        TEXT NOT NULL,
    product_id         TEXT NOT NULL,
    gone_at            TEXT,
    mirrored_at        TEXT NOT NULL,
    quantity           TEXT,
    reserved_quantity  TEXT,
    available_quantity TEXT,
    raw                TEXT NOT NULL,
    PRIMARY KEY (store, sku, location_id)
);
CREATE INDEX product_stock_by_product ON product_stock (store, product_id);

CREATE TABLE stock_locations (
    store             TEXT NOT NULL,
    location_id       TEXT NOT NULL,
    gone_at           TEXT,
    mirrored_at       TEXT NOT NULL,
    name              TEXT,
    status            TEXT,
    location_type     TEXT,
    allows_pickup     INTEGER,
    allows_production INTEGER,
    raw               TEXT NOT NULL,
    PRIMARY KEY (store, location_id)
);
