-- The whole mirror: every thing of the API document that an ERP may want to read, each in a table of its own.

-- Sides of an order that have routes of their own (API document, "Orders").
CREATE TABLE order_invoices (
    store          TEXT NOT NULL,
    order_number   TEXT NOT NULL,
    id             TEXT NOT NULL,
    content_hash   BIGINT NOT NULL,
    gone_at        TIMESTAMPTZ,
    mirrored_at    TIMESTAMPTZ NOT NULL,
    type           TEXT,
    status         TEXT,
    invoice_number TEXT,
    access_key     TEXT,
    pdf_url        TEXT,
    issued_at      TIMESTAMPTZ,
    replaced_at    TIMESTAMPTZ,
    is_current     BOOLEAN,
    raw            JSONB NOT NULL,
    PRIMARY KEY (store, order_number, id)
);

CREATE TABLE order_events (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    id           TEXT NOT NULL,
    content_hash BIGINT NOT NULL,
    gone_at      TIMESTAMPTZ,
    mirrored_at  TIMESTAMPTZ NOT NULL,
    type         TEXT,
    description  TEXT,
    old_status   TEXT,
    new_status   TEXT,
    author_type  TEXT,
    author_name  TEXT,
    metadata     JSONB,
    created_at   TIMESTAMPTZ,
    raw          JSONB NOT NULL,
    PRIMARY KEY (store, order_number, id)
);

CREATE TABLE order_benefits (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    id           TEXT NOT NULL,
    content_hash BIGINT NOT NULL,
    gone_at      TIMESTAMPTZ,
    mirrored_at  TIMESTAMPTZ NOT NULL,
    type         TEXT,
    code         TEXT,
    name         TEXT,
    amount       NUMERIC,
    raw          JSONB NOT NULL,
    PRIMARY KEY (store, order_number, id)
);

CREATE TABLE order_splits (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    id           TEXT NOT NULL,
    content_hash BIGINT NOT NULL,
    gone_at      TIMESTAMPTZ,
    mirrored_at  TIMESTAMPTZ NOT NULL,
    party        TEXT,
    name         TEXT,
    amount       NUMERIC,
    percent      NUMERIC,
    status       TEXT,
    raw          JSONB NOT NULL,
    PRIMARY KEY (store, order_number, id)
);

CREATE TABLE order_commissions (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    line_id      TEXT NOT NULL,
    content_hash BIGINT NOT NULL,
    gone_at      TIMESTAMPTZ,
    mirrored_at  TIMESTAMPTZ NOT NULL,
    product_id   TEXT,
    base         NUMERIC,
    percent      NUMERIC,
    amount       NUMERIC,
    raw          JSONB NOT NULL,
    PRIMARY KEY (store, order_number, line_id)
);

-- Shipments and labels (API document, "Shipment").
CREATE TABLE shipments (
    store                      TEXT NOT NULL,
    id                         TEXT NOT NULL,
    content_hash               BIGINT NOT NULL,
    gone_at                    TIMESTAMPTZ,
    mirrored_at                TIMESTAMPTZ NOT NULL,
    order_number               TEXT NOT NULL,
    type                       TEXT,
    status                     TEXT,
    tracking_code              TEXT,
    carrier_id                 TEXT,
    carrier_name               TEXT,
    is_pickup                  BOOLEAN,
    label_generation_blocked   BOOLEAN,
    allows_manual_confirmation BOOLEAN,
    labels_ready               BIGINT,
    labels_total               BIGINT,
    -- These come by a route of their own, and stay as they are when the shipment is written.
    tracking_url               TEXT,
    estimated_delivery_at      TIMESTAMPTZ,
    tracking                   JSONB,
    raw                        JSONB NOT NULL,
    PRIMARY KEY (store, id)
);
CREATE INDEX shipments_by_order ON shipments (store, order_number);

CREATE TABLE shipment_labels (
    store        TEXT NOT NULL,
    id           TEXT NOT NULL,
    content_hash BIGINT NOT NULL,
    gone_at      TIMESTAMPTZ,
    mirrored_at  TIMESTAMPTZ NOT NULL,
    order_number TEXT NOT NULL,
    shipment_id  TEXT,
    format       TEXT,
    status       TEXT,
    is_ready     BOOLEAN,
    completed_at TIMESTAMPTZ,
    source       TEXT,
    -- Where the label's file was put; lost when the label changes.
    file         TEXT,
    raw          JSONB NOT NULL,
    PRIMARY KEY (store, id)
);
CREATE INDEX shipment_labels_by_order ON shipment_labels (store, order_number);
CREATE INDEX shipment_labels_to_fetch ON shipment_labels (store, id) WHERE gone_at IS NULL AND is_ready AND file IS NULL;

-- Campaigns and the listings that are or could be in them (API document, "Campaign").
CREATE TABLE campaigns (
    store             TEXT NOT NULL,
    id                TEXT NOT NULL,
    content_hash      BIGINT NOT NULL,
    gone_at           TIMESTAMPTZ,
    mirrored_at       TIMESTAMPTZ NOT NULL,
    uid               TEXT,
    name              TEXT,
    slug              TEXT,
    type              TEXT,
    status            TEXT,
    starts_at         TIMESTAMPTZ,
    ends_at           TIMESTAMPTZ,
    opt_in_deadline   TIMESTAMPTZ,
    primary_color     TEXT,
    secondary_color   TEXT,
    has_landing_page  BOOLEAN,
    landing_page_slug TEXT,
    show_in_menu      BOOLEAN,
    discount_type     TEXT,
    discount_value    NUMERIC,
    rules             JSONB,
    created_at        TIMESTAMPTZ,
    updated_at        TIMESTAMPTZ,
    raw               JSONB NOT NULL,
    PRIMARY KEY (store, id)
);

CREATE TABLE campaign_listings (
    store                     TEXT NOT NULL,
    campaign_id               TEXT NOT NULL,
    item_id                   TEXT NOT NULL,
    content_hash              BIGINT NOT NULL,
    gone_at                   TIMESTAMPTZ,
    mirrored_at               TIMESTAMPTZ NOT NULL,
    title                     TEXT,
    image                     TEXT,
    price                     NUMERIC,
    discount_preview          NUMERIC,
    enrolled                  BOOLEAN,
    authorized_discount_price NUMERIC,
    status                    TEXT,
    raw                       JSONB NOT NULL,
    PRIMARY KEY (store, campaign_id, item_id)
);

-- The rest of the catalogue (API document, "Price list", "Media image", "Listing (item)").
CREATE TABLE price_lists (
    store        TEXT NOT NULL,
    id           TEXT NOT NULL,
    content_hash BIGINT NOT NULL,
    gone_at      TIMESTAMPTZ,
    mirrored_at  TIMESTAMPTZ NOT NULL,
    name         TEXT,
    mode         TEXT,
    position     BIGINT,
    is_active    BOOLEAN,
    raw          JSONB NOT NULL,
    PRIMARY KEY (store, id)
);

CREATE TABLE media_images (
    store           TEXT NOT NULL,
    id              TEXT NOT NULL,
    content_hash    BIGINT NOT NULL,
    gone_at         TIMESTAMPTZ,
    mirrored_at     TIMESTAMPTZ NOT NULL,
    original_source TEXT,
    in_use          BOOLEAN,
    reference_id    TEXT,
    reference_model TEXT,
    created_at      TIMESTAMPTZ,
    updated_at      TIMESTAMPTZ,
    raw             JSONB NOT NULL,
    PRIMARY KEY (store, id)
);
CREATE INDEX media_images_by_reference ON media_images (store, reference_id);

CREATE TABLE listings (
    store             TEXT NOT NULL,
    id                TEXT NOT NULL,
    content_hash      BIGINT NOT NULL,
    gone_at           TIMESTAMPTZ,
    mirrored_at       TIMESTAMPTZ NOT NULL,
    title             TEXT,
    type              TEXT,
    type_label        TEXT,
    status            TEXT,
    status_label      TEXT,
    gtin_type         TEXT,
    gtin              TEXT,
    department_id     TEXT,
    department_name   TEXT,
    category_id       TEXT,
    category_name     TEXT,
    score             NUMERIC,
    rejection_reason  TEXT,
    slug              TEXT,
    short_description TEXT,
    price_range       JSONB,
    updated_at        TIMESTAMPTZ NOT NULL,
    raw               JSONB NOT NULL,
    PRIMARY KEY (store, id)
);

-- What only webhooks tell (API document, "Events"); updated_at is when the newest delivery that counts was built.
CREATE TABLE occurrences (
    store        TEXT NOT NULL,
    id           TEXT NOT NULL,
    content_hash BIGINT NOT NULL,
    gone_at      TIMESTAMPTZ,
    mirrored_at  TIMESTAMPTZ NOT NULL,
    title        TEXT,
    severity     TEXT,
    status       TEXT,
    trigger_key  TEXT,
    updated_at   TIMESTAMPTZ NOT NULL,
    raw          JSONB NOT NULL,
    PRIMARY KEY (store, id)
);

CREATE TABLE conversations (
    store        TEXT NOT NULL,
    id           TEXT NOT NULL,
    content_hash BIGINT NOT NULL,
    gone_at      TIMESTAMPTZ,
    mirrored_at  TIMESTAMPTZ NOT NULL,
    order_number TEXT,
    type         TEXT,
    status       TEXT,
    reason       TEXT,
    opened_at    TIMESTAMPTZ,
    closed_at    TIMESTAMPTZ,
    updated_at   TIMESTAMPTZ NOT NULL,
    raw          JSONB NOT NULL,
    PRIMARY KEY (store, id)
);

CREATE TABLE conversation_messages (
    store           TEXT NOT NULL,
    id              TEXT NOT NULL,
    content_hash    BIGINT NOT NULL,
    gone_at         TIMESTAMPTZ,
    mirrored_at     TIMESTAMPTZ NOT NULL,
    conversation_id TEXT NOT NULL,
    sender_type     TEXT,
    body            TEXT,
    created_at      TIMESTAMPTZ,
    raw             JSONB NOT NULL,
    PRIMARY KEY (store, id)
);
CREATE INDEX conversation_messages_by_conversation ON conversation_messages (store, conversation_id);

-- The store itself (API document, "Authentication and session", "Store page").
CREATE TABLE store_profiles (
    store             TEXT NOT NULL,
    id                TEXT NOT NULL,
    content_hash      BIGINT NOT NULL,
    gone_at           TIMESTAMPTZ,
    mirrored_at       TIMESTAMPTZ NOT NULL,
    name              TEXT,
    code              TEXT,
    status            TEXT,
    type              TEXT,
    auth_type         TEXT,
    features          TEXT,
    limits            JSONB,
    tax_id            TEXT,
    legal_name        TEXT,
    tax_regime        TEXT,
    short_description TEXT,
    description       TEXT,
    full_description  TEXT,
    foundation_date   TEXT,
    logo_url          TEXT,
    background_url    TEXT,
    page              JSONB,
    raw               JSONB NOT NULL,
    PRIMARY KEY (store, id)
);

-- When a side of an order was last read, and what it was: its rows keep their time when nothing changed.
CREATE TABLE order_parts (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    part         TEXT NOT NULL,
    read_at      TIMESTAMPTZ NOT NULL,
    content_hash BIGINT NOT NULL,
    PRIMARY KEY (store, part, order_number)
);

CREATE TABLE product_reads (
    store   TEXT NOT NULL,
    id      TEXT NOT NULL,
    read_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (store, id)
);

-- How far each reader of the change feed has come.
CREATE TABLE consumers (
    name       TEXT NOT NULL PRIMARY KEY,
    seq        BIGINT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- Open orders are few among all, and asked for by number.
CREATE INDEX orders_open ON orders (store, order_number)
    WHERE gone_at IS NULL AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired');

-- Orders that still want something, with their age and the next moment at which something happens to them by itself.
CREATE VIEW v_orders_open AS
SELECT store, order_number, status, workflow_type, channel, delivery_method, customer_name, total_order, payment_status,
       created_at,
       CAST(floor(extract(epoch FROM now())) - floor(extract(epoch FROM created_at)) AS BIGINT) AS age_seconds,
       LEAST(payment_expires_at, release_due) AS next_deadline
FROM (SELECT o.*,
             -- Once an order is being prepared its release is behind it.
             CASE WHEN o.status IN ('waiting_payment', 'paid', 'awaiting_campaign_conclusion') THEN o.release_at END
             AS release_due
      FROM orders o
      WHERE o.gone_at IS NULL
        AND COALESCE(o.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')) AS waiting;

-- One row for each moment that passes by itself. Those that have passed stay until what they are about has moved on.
CREATE VIEW v_deadlines AS
SELECT store, 'order' AS entity, order_number AS key, 'payment_expires_at' AS kind, payment_expires_at AS at, status
FROM orders
WHERE gone_at IS NULL AND payment_expires_at IS NOT NULL
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
UNION ALL
SELECT store, 'order', order_number, 'release_at', release_at, status
FROM orders
WHERE gone_at IS NULL AND release_at IS NOT NULL
  AND status IN ('waiting_payment', 'paid', 'awaiting_campaign_conclusion')
UNION ALL
SELECT store, 'campaign', id, 'opt_in_deadline', opt_in_deadline, status
FROM campaigns
WHERE gone_at IS NULL AND opt_in_deadline IS NOT NULL AND COALESCE(status, '') NOT IN ('finished', 'cancelled')
UNION ALL
SELECT store, 'campaign', id, 'ends_at', ends_at, status
FROM campaigns
WHERE gone_at IS NULL AND ends_at IS NOT NULL AND COALESCE(status, '') NOT IN ('finished', 'cancelled');

-- The fiscal documents that count: neither replaced nor gone.
CREATE VIEW v_invoice_current AS
SELECT store, order_number, id, type, status, invoice_number, access_key, pdf_url, issued_at, mirrored_at
FROM order_invoices
WHERE is_current AND gone_at IS NULL;

-- Everything that failed and is not mended, under the names of the change feed.
CREATE VIEW v_errors AS
SELECT store,
       CASE resource WHEN 'orders' THEN 'order' WHEN 'products' THEN 'product' ELSE resource END AS entity,
       key, code, error, hint, at
FROM sync_failures;
