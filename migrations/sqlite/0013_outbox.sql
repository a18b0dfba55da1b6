-- What the ERP wants: levels of stock, prices, commands. The ERP writes the columns of the contract; the rest is espelho's answer.
-- A row that the ERP writes anew is looked at anew: the triggers say so, and nothing else has to be told.

CREATE TABLE erp_stock (
    store       TEXT NOT NULL,
    sku         TEXT NOT NULL,
    location_id TEXT NOT NULL,
    quantity    TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'new',
    error_code  TEXT,
    error       TEXT,
    hint        TEXT,
    -- What `quantity` was compared with when it was pushed: physical or available.
    basis       TEXT,
    updated_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'),
    pushed_at   TEXT,
    PRIMARY KEY (store, sku, location_id)
);
CREATE INDEX erp_stock_open ON erp_stock (store, sku) WHERE state IN ('new', 'waiting', 'sending');
CREATE INDEX erp_stock_new ON erp_stock (store) WHERE state = 'new';

CREATE TRIGGER erp_stock_changed AFTER UPDATE OF quantity ON erp_stock
WHEN NEW.quantity IS NOT OLD.quantity OR OLD.state IN ('done', 'superseded')
    -- What these say is: look again, and write it again.
    OR OLD.error_code IN ('stock_conflict', 'unknown_location')
BEGIN
    UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = NULL,
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE store = NEW.store AND sku = NEW.sku AND location_id = NEW.location_id;
END;

CREATE TABLE erp_prices (
    store            TEXT NOT NULL,
    sku              TEXT NOT NULL,
    min_quantity     INTEGER NOT NULL DEFAULT 1,
    price            TEXT,
    discount_percent TEXT,
    package_weight   TEXT,
    package_height   TEXT,
    package_width    TEXT,
    package_length   TEXT,
    state            TEXT NOT NULL DEFAULT 'new',
    error_code       TEXT,
    error            TEXT,
    hint             TEXT,
    updated_at       TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'),
    pushed_at        TEXT,
    PRIMARY KEY (store, sku, min_quantity)
);
CREATE INDEX erp_prices_open ON erp_prices (store, sku) WHERE state IN ('new', 'waiting', 'sending');
CREATE INDEX erp_prices_new ON erp_prices (store) WHERE state = 'new';

CREATE TRIGGER erp_prices_changed
AFTER UPDATE OF price, discount_percent, package_weight, package_height, package_width, package_length ON erp_prices
WHEN OLD.state IN ('done', 'superseded') OR NEW.price IS NOT OLD.price OR NEW.discount_percent IS NOT OLD.discount_percent
    OR NEW.package_weight IS NOT OLD.package_weight OR NEW.package_height IS NOT OLD.package_height
    OR NEW.package_width IS NOT OLD.package_width OR NEW.package_length IS NOT OLD.package_length
BEGIN
    UPDATE erp_prices SET state = 'new', error_code = NULL, error = NULL, hint = NULL,
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE store = NEW.store AND sku = NEW.sku AND min_quantity = NEW.min_quantity;
END;

CREATE TABLE commands (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    store      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    key        TEXT NOT NULL DEFAULT '',
    data       TEXT,
    state      TEXT NOT NULL DEFAULT 'new',
    error_code TEXT,
    error      TEXT,
    hint       TEXT,
    -- What came of it, as JSON: the id of what was created, the files of labels …
    result     TEXT,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'),
    updated_at TEXT,
    done_at    TEXT
);
CREATE INDEX commands_open ON commands (store, id) WHERE state IN ('new', 'waiting', 'sending');
CREATE INDEX commands_new ON commands (store) WHERE state = 'new';
-- Which orders hold a SKU: evidence of what left the shelf.
CREATE INDEX order_items_by_sku ON order_items (store, sku);

-- Guards that a person has lifted, once: the next look at the row passes.
CREATE TABLE releases (
    store TEXT NOT NULL,
    -- stock, prices or command
    what  TEXT NOT NULL,
    -- sku/location_id, sku/min_quantity, or the command's id
    key   TEXT NOT NULL,
    -- What stood in the row when it was released: another value is not.
    value TEXT NOT NULL,
    at    TEXT NOT NULL,
    PRIMARY KEY (store, what, key)
);

CREATE INDEX erp_stock_in_trouble ON erp_stock (store) WHERE error_code IS NOT NULL;
CREATE INDEX erp_prices_in_trouble ON erp_prices (store) WHERE error_code IS NOT NULL;
CREATE INDEX commands_in_trouble ON commands (store) WHERE error_code IS NOT NULL;

-- Where what the ERP wants is not what the marketplace has.
CREATE VIEW v_drift AS
SELECT e.store, 'stock' AS entity, e.sku || '/' || e.location_id AS key, e.quantity AS wanted,
       CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END AS mirrored, e.state, e.updated_at
FROM erp_stock e
LEFT JOIN product_stock s ON s.store = e.store AND s.sku = e.sku AND s.location_id = e.location_id AND s.gone_at IS NULL
WHERE s.sku IS NULL
   OR CAST(e.quantity AS NUMERIC) <> CAST(CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END AS NUMERIC)
   OR (CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END) IS NULL
UNION ALL
SELECT e.store, 'price', e.sku || '/' || e.min_quantity, COALESCE(e.price, e.discount_percent || ' %'),
       CASE WHEN e.price IS NULL THEN t.discount_percent || ' %' ELSE t.value END, e.state, e.updated_at
FROM erp_prices e
LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL
LEFT JOIN product_prices t ON t.store = e.store AND t.product_id = p.id AND t.min_quantity = e.min_quantity AND t.gone_at IS NULL
WHERE t.product_id IS NULL
   OR (e.price IS NOT NULL AND (t.value IS NULL OR CAST(e.price AS NUMERIC) <> CAST(t.value AS NUMERIC)))
   OR (e.price IS NULL AND (t.discount_percent IS NULL
       OR CAST(e.discount_percent AS NUMERIC) <> CAST(t.discount_percent AS NUMERIC)));

-- A frozen price of a campaign that no longer fits what the product costs now: the platform does not compute it anew.
CREATE TABLE campaign_prices (
    store       TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    item_id     TEXT NOT NULL,
    -- What the listing cost, and what the campaign was to make of it, when it joined.
    price       TEXT,
    preview     TEXT,
    joined_at   TEXT NOT NULL,
    PRIMARY KEY (store, campaign_id, item_id)
);

-- Enrolled listings whose frozen price no longer fits what they cost now. What a listing costs now is told where it could still join
-- another campaign; else it is what it cost when it joined through here.
CREATE VIEW v_campaign_drift AS
SELECT store, campaign_id, item_id, title, authorized_discount_price, price_now, price_joined, expected, ends_at, mirrored_at
FROM (
    SELECT l.store, l.campaign_id, l.item_id, l.title, c.ends_at, l.mirrored_at,
           CAST(l.authorized_discount_price AS NUMERIC) AS authorized_discount_price,
           COALESCE(CAST((SELECT o.price FROM campaign_listings o WHERE o.store = l.store AND o.item_id = l.item_id AND o.price IS NOT NULL
                          AND o.gone_at IS NULL ORDER BY o.mirrored_at DESC LIMIT 1) AS NUMERIC), CAST(j.price AS NUMERIC)) AS price_now, CAST(j.price AS NUMERIC) AS price_joined,
           ROUND(CASE c.discount_type WHEN 'percentage' THEN COALESCE(CAST((SELECT o.price FROM campaign_listings o WHERE o.store = l.store AND o.item_id = l.item_id AND o.price IS NOT NULL
                          AND o.gone_at IS NULL ORDER BY o.mirrored_at DESC LIMIT 1) AS NUMERIC), CAST(j.price AS NUMERIC)) * (100 - CAST(c.discount_value AS NUMERIC)) / 100
                                      WHEN 'fixed' THEN COALESCE(CAST((SELECT o.price FROM campaign_listings o WHERE o.store = l.store AND o.item_id = l.item_id AND o.price IS NOT NULL
                          AND o.gone_at IS NULL ORDER BY o.mirrored_at DESC LIMIT 1) AS NUMERIC), CAST(j.price AS NUMERIC)) - CAST(c.discount_value AS NUMERIC) END, 2) AS expected
    FROM campaign_listings l
    JOIN campaigns c ON c.store = l.store AND c.id = l.campaign_id AND c.gone_at IS NULL
    LEFT JOIN campaign_prices j ON j.store = l.store AND j.campaign_id = l.campaign_id AND j.item_id = l.item_id
    WHERE l.enrolled = 1 AND l.gone_at IS NULL AND COALESCE(c.status, '') NOT IN ('finished', 'cancelled')
) enrolled
WHERE authorized_discount_price IS NOT NULL
  AND (authorized_discount_price >= price_now OR ABS(authorized_discount_price - expected) > 0.01);

DROP VIEW v_errors;
-- Everything that failed and is not mended, or that somebody should look at: what could not be mirrored under the names of the change feed, what the ERP wanted under
-- stock, price and command.
CREATE VIEW v_errors AS
SELECT store,
       CASE resource WHEN 'orders' THEN 'order' WHEN 'products' THEN 'product' ELSE resource END AS entity,
       key, code, error, hint, at
FROM sync_failures
UNION ALL
SELECT store, 'stock', sku || '/' || location_id, error_code, error, hint, updated_at
FROM erp_stock WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'price', sku || '/' || min_quantity, error_code, error, hint, updated_at
FROM erp_prices WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'command', CAST(id AS TEXT), error_code, error, hint, updated_at
FROM commands WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'campaign_listing', campaign_id || '/' || item_id, 'campaign_price',
       'o preço congelado na campanha já não combina com o preço atual / the price frozen in the campaign no longer fits the price of today',
       'veja v_campaign_drift; fale com o marketplace pelo portal ou volte o preço / see v_campaign_drift; ask the marketplace in the portal, or put the price back',
       mirrored_at
FROM v_campaign_drift;
