-- Amounts and quantities become NUMERIC, so that `total_order > 100`, ORDER BY, max and sum mean what everybody thinks they mean: as
-- TEXT they compared letter by letter. 15 significant digits stay exact; `raw` has what was sent.
--
-- Only the declared type of the columns changes, so the tables stay where they are, with every index, trigger and view that anybody has
-- put on them (SQLite documentation, "Making Other Kinds Of Table Schema Changes"). Each row is then written once: SQLite turns text
-- into numbers as it writes. All of it is one transaction: for that time its log grows to about the size of the mirror.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(sql,
    'total_products       TEXT', 'total_products       NUMERIC'),
    'total_shipping       TEXT', 'total_shipping       NUMERIC'),
    'total_discounts      TEXT', 'total_discounts      NUMERIC'),
    'total_order          TEXT', 'total_order          NUMERIC'),
    'items_count          INTEGER', 'items_count          NUMERIC')
WHERE type = 'table' AND name = 'orders';
UPDATE sqlite_schema SET sql = replace(replace(replace(sql,
    'quantity          TEXT', 'quantity          NUMERIC'),
    'unit_price        TEXT', 'unit_price        NUMERIC'),
    'net_value         TEXT', 'net_value         NUMERIC')
WHERE type = 'table' AND name = 'order_items';
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(replace(replace(replace(sql,
    'height                 TEXT', 'height                 NUMERIC'),
    'width                  TEXT', 'width                  NUMERIC'),
    'length                 TEXT', 'length                 NUMERIC'),
    'weight                 TEXT', 'weight                 NUMERIC'),
    'price                  TEXT', 'price                  NUMERIC'),
    'quantity               TEXT', 'quantity               NUMERIC'),
    'reserved_quantity      TEXT', 'reserved_quantity      NUMERIC'),
    'available_quantity     TEXT', 'available_quantity     NUMERIC')
WHERE type = 'table' AND name = 'products';
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(replace(sql,
    'value            TEXT', 'value            NUMERIC'),
    'discount_percent TEXT', 'discount_percent NUMERIC'),
    'package_weight   TEXT', 'package_weight   NUMERIC'),
    'package_height   TEXT', 'package_height   NUMERIC'),
    'package_width    TEXT', 'package_width    NUMERIC'),
    'package_length   TEXT', 'package_length   NUMERIC')
WHERE type = 'table' AND name = 'product_prices';
UPDATE sqlite_schema SET sql = replace(replace(replace(sql,
    'quantity           TEXT', 'quantity           NUMERIC'),
    'reserved_quantity  TEXT', 'reserved_quantity  NUMERIC'),
    'available_quantity TEXT', 'available_quantity NUMERIC')
WHERE type = 'table' AND name = 'product_stock';
UPDATE sqlite_schema SET sql = replace(sql,
    'amount       TEXT', 'amount       NUMERIC')
WHERE type = 'table' AND name = 'order_benefits';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'amount       TEXT', 'amount       NUMERIC'),
    'percent      TEXT', 'percent      NUMERIC')
WHERE type = 'table' AND name = 'order_splits';
UPDATE sqlite_schema SET sql = replace(replace(replace(sql,
    'base         TEXT', 'base         NUMERIC'),
    'percent      TEXT', 'percent      NUMERIC'),
    'amount       TEXT', 'amount       NUMERIC')
WHERE type = 'table' AND name = 'order_commissions';
UPDATE sqlite_schema SET sql = replace(sql,
    'discount_value    TEXT', 'discount_value    NUMERIC')
WHERE type = 'table' AND name = 'campaigns';
UPDATE sqlite_schema SET sql = replace(replace(replace(sql,
    'price                     TEXT', 'price                     NUMERIC'),
    'discount_preview          TEXT', 'discount_preview          NUMERIC'),
    'authorized_discount_price TEXT', 'authorized_discount_price NUMERIC')
WHERE type = 'table' AND name = 'campaign_listings';
UPDATE sqlite_schema SET sql = replace(sql,
    'score             TEXT', 'score             NUMERIC')
WHERE type = 'table' AND name = 'listings';
UPDATE sqlite_schema SET sql = replace(sql,
    'quantity    TEXT', 'quantity    NUMERIC')
WHERE type = 'table' AND name = 'erp_stock';
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(replace(replace(sql,
    'price            TEXT', 'price            NUMERIC'),
    'discount_percent TEXT', 'discount_percent NUMERIC'),
    'package_weight   TEXT', 'package_weight   NUMERIC'),
    'package_height   TEXT', 'package_height   NUMERIC'),
    'package_width    TEXT', 'package_width    NUMERIC'),
    'package_length   TEXT', 'package_length   NUMERIC')
WHERE type = 'table' AND name = 'erp_prices';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'price       TEXT', 'price       NUMERIC'),
    'preview     TEXT', 'preview     NUMERIC')
WHERE type = 'table' AND name = 'campaign_prices';
-- The schema is read anew.
PRAGMA writable_schema = RESET;

-- What the rows ask for stays the same.
DROP TRIGGER erp_stock_changed;
DROP TRIGGER erp_prices_changed;

ALTER TABLE orders ADD COLUMN status_label TEXT;
ALTER TABLE orders ADD COLUMN customer_city TEXT;
ALTER TABLE orders ADD COLUMN customer_state TEXT;
ALTER TABLE orders ADD COLUMN ship_by TEXT;
ALTER TABLE orders ADD COLUMN invoice_by TEXT;
ALTER TABLE orders ADD COLUMN pick_by TEXT;
ALTER TABLE order_items ADD COLUMN name TEXT;

-- The error of a row as a text of the catalogue, so that every surface can say it in its own language. Internal.
ALTER TABLE erp_stock ADD COLUMN said TEXT;
ALTER TABLE erp_prices ADD COLUMN said TEXT;
ALTER TABLE commands ADD COLUMN said TEXT;
ALTER TABLE sync_failures ADD COLUMN said TEXT;

-- What is mirrored already is filled from `raw`: rows that stay the same are not written again. The places are those that the reader of
-- orders tries (docs/ASSUMPTIONS.md); a time without an offset is taken for UTC, a day alone for its end.
UPDATE orders SET
    total_products = total_products, total_shipping = total_shipping, total_discounts = total_discounts,
    total_order = total_order, items_count = items_count,
    status_label = CASE WHEN json_valid(raw) THEN (SELECT json_extract(raw, column2) FROM (VALUES
        (1, '$.status_label'))
        WHERE json_type(raw, column2) = 'text' AND json_extract(raw, column2) <> '' ORDER BY column1 LIMIT 1) END,
    customer_city = CASE WHEN json_valid(raw) THEN (SELECT json_extract(raw, column2) FROM (VALUES
        (1, '$.customer.city'), (2, '$.customer.address.city'), (3, '$.customer.shipping_address.city'),
        (4, '$.customer.delivery_address.city'), (5, '$.shipping_address.city'), (6, '$.delivery_address.city'),
        (7, '$.shipping.address.city'), (8, '$.shipping.city'))
        WHERE json_type(raw, column2) = 'text' AND json_extract(raw, column2) <> '' ORDER BY column1 LIMIT 1) END,
    customer_state = CASE WHEN json_valid(raw) THEN (SELECT json_extract(raw, column2) FROM (VALUES
        (1, '$.customer.state'), (2, '$.customer.uf'), (3, '$.customer.state_code'), (4, '$.customer.address.state'),
        (5, '$.customer.address.uf'), (6, '$.customer.address.state_code'), (7, '$.customer.shipping_address.state'),
        (8, '$.customer.shipping_address.uf'), (9, '$.customer.shipping_address.state_code'),
        (10, '$.customer.delivery_address.state'), (11, '$.customer.delivery_address.uf'),
        (12, '$.customer.delivery_address.state_code'), (13, '$.shipping_address.state'),
        (14, '$.shipping_address.uf'), (15, '$.shipping_address.state_code'), (16, '$.delivery_address.state'),
        (17, '$.delivery_address.uf'), (18, '$.delivery_address.state_code'), (19, '$.shipping.address.state'),
        (20, '$.shipping.address.uf'), (21, '$.shipping.address.state_code'), (22, '$.shipping.state'),
        (23, '$.shipping.uf'), (24, '$.shipping.state_code'))
        WHERE json_type(raw, column2) = 'text' AND json_extract(raw, column2) <> '' ORDER BY column1 LIMIT 1) END,
    ship_by = CASE WHEN json_valid(raw) THEN (SELECT strftime('%Y-%m-%dT%H:%M:%f', at,
        CASE length(at) WHEN 10 THEN '+86399 seconds' ELSE '+0 seconds' END) || '000Z'
        FROM (SELECT column1 AS nth, json_extract(raw, column2) AS at FROM (VALUES
        (1, '$.shipping.ship_by'), (2, '$.shipping.dispatch_by'), (3, '$.shipping.dispatch_deadline'),
        (4, '$.shipping.dispatch_deadline_at'), (5, '$.shipping.deadline_at'), (6, '$.shipping.deadline'),
        (7, '$.shipping.deadline.dispatch'), (8, '$.shipping.deadline.at'), (9, '$.shipping.deadline.date'),
        (10, '$.ship_by'), (11, '$.dispatch_deadline'), (12, '$.dispatch_deadline_at'))
        WHERE json_type(raw, column2) = 'text')
        WHERE at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND unixepoch(at) IS NOT NULL ORDER BY nth LIMIT 1) END,
    invoice_by = CASE WHEN json_valid(raw) THEN (SELECT strftime('%Y-%m-%dT%H:%M:%f', at,
        CASE length(at) WHEN 10 THEN '+86399 seconds' ELSE '+0 seconds' END) || '000Z'
        FROM (SELECT column1 AS nth, json_extract(raw, column2) AS at FROM (VALUES
        (1, '$.shipping.nfe_requirements.deadline_at'), (2, '$.shipping.nfe_requirements.deadline'),
        (3, '$.invoice_by'), (4, '$.fiscal_deadline'), (5, '$.fiscal_deadline_at'), (6, '$.nfe_deadline'),
        (7, '$.nfe_deadline_at'))
        WHERE json_type(raw, column2) = 'text')
        WHERE at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND unixepoch(at) IS NOT NULL ORDER BY nth LIMIT 1) END,
    pick_by = CASE WHEN json_valid(raw) THEN (SELECT strftime('%Y-%m-%dT%H:%M:%f', at,
        CASE length(at) WHEN 10 THEN '+86399 seconds' ELSE '+0 seconds' END) || '000Z'
        FROM (SELECT column1 AS nth, json_extract(raw, column2) AS at FROM (VALUES
        (1, '$.pick_by'), (2, '$.picking_deadline'), (3, '$.picking_deadline_at'))
        WHERE json_type(raw, column2) = 'text')
        WHERE at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND unixepoch(at) IS NOT NULL ORDER BY nth LIMIT 1) END;
UPDATE order_items SET
    quantity = quantity, unit_price = unit_price, net_value = net_value,
    name = CASE WHEN json_valid(raw) THEN (SELECT json_extract(raw, column2) FROM (VALUES
        (1, '$.name'), (2, '$.product_name'), (3, '$.title'), (4, '$.product.name'))
        WHERE json_type(raw, column2) = 'text' AND json_extract(raw, column2) <> '' ORDER BY column1 LIMIT 1) END;

-- Whatever is written takes its column's type.
UPDATE products SET height = height, width = width, length = length, weight = weight, price = price,
    quantity = quantity, reserved_quantity = reserved_quantity, available_quantity = available_quantity;
UPDATE product_prices SET value = value, discount_percent = discount_percent, package_weight = package_weight,
    package_height = package_height, package_width = package_width, package_length = package_length;
UPDATE product_stock SET quantity = quantity, reserved_quantity = reserved_quantity,
    available_quantity = available_quantity;
UPDATE order_benefits SET amount = amount;
UPDATE order_splits SET amount = amount, percent = percent;
UPDATE order_commissions SET base = base, percent = percent, amount = amount;
UPDATE campaigns SET discount_value = discount_value;
UPDATE campaign_listings SET price = price, discount_preview = discount_preview,
    authorized_discount_price = authorized_discount_price;
UPDATE listings SET score = score;
UPDATE erp_stock SET quantity = quantity;
UPDATE erp_prices SET price = price, discount_percent = discount_percent, package_weight = package_weight,
    package_height = package_height, package_width = package_width, package_length = package_length;
UPDATE campaign_prices SET price = price, preview = preview;

-- What a release remembers is what its row asked for, as it reads now.
UPDATE releases SET value = (SELECT CAST(e.quantity AS TEXT) FROM erp_stock e
                             WHERE e.store = releases.store AND e.sku || '/' || e.location_id = releases.key)
WHERE what = 'stock' AND EXISTS (SELECT 1 FROM erp_stock e WHERE e.store = releases.store
    AND e.sku || '/' || e.location_id = releases.key AND typeof(e.quantity) <> 'text' AND e.quantity = CAST(value AS NUMERIC));
UPDATE releases SET value = (SELECT COALESCE(CAST(e.price AS TEXT), '-' || CAST(e.discount_percent AS TEXT) || ' %') FROM erp_prices e
                             WHERE e.store = releases.store AND e.sku || '/' || e.min_quantity = releases.key)
WHERE what = 'price' AND EXISTS (SELECT 1 FROM erp_prices e WHERE e.store = releases.store
    AND e.sku || '/' || e.min_quantity = releases.key
    AND typeof(COALESCE(e.price, e.discount_percent)) <> 'text' AND COALESCE(e.price, -e.discount_percent) = CAST(value AS NUMERIC));

DROP INDEX product_prices_of_zero;
CREATE INDEX product_prices_of_zero ON product_prices (store, product_id) WHERE value = 0;
DROP VIEW v_drift;
-- Where what the ERP wants is not what the marketplace has.
CREATE VIEW v_drift AS
SELECT e.store, 'stock' AS entity, e.sku || '/' || e.location_id AS key, CAST(e.quantity AS TEXT) AS wanted,
       CAST(CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END AS TEXT) AS mirrored, e.state, e.updated_at
FROM erp_stock e
LEFT JOIN product_stock s ON s.store = e.store AND s.sku = e.sku AND s.location_id = e.location_id AND s.gone_at IS NULL
WHERE s.sku IS NULL
   OR e.quantity <> CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END
   OR (CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END) IS NULL
UNION ALL
SELECT e.store, 'price', e.sku || '/' || e.min_quantity, COALESCE(CAST(e.price AS TEXT), e.discount_percent || ' %'),
       CASE WHEN e.price IS NULL THEN t.discount_percent || ' %' ELSE CAST(t.value AS TEXT) END, e.state, e.updated_at
FROM erp_prices e
LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL
LEFT JOIN product_prices t ON t.store = e.store AND t.product_id = p.id AND t.min_quantity = e.min_quantity AND t.gone_at IS NULL
WHERE t.product_id IS NULL
   OR (e.price IS NOT NULL AND (t.value IS NULL OR e.price <> t.value))
   OR (e.price IS NULL AND (t.discount_percent IS NULL OR e.discount_percent <> t.discount_percent));

-- What is wanted anew has no error any more, in no language.
CREATE TRIGGER erp_stock_changed AFTER UPDATE OF quantity ON erp_stock
WHEN NEW.quantity IS NOT OLD.quantity OR OLD.state IN ('done', 'superseded', 'sending', 'failed')
BEGIN
    UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL,
        revision = max(OLD.revision + 1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE store = NEW.store AND sku = NEW.sku AND location_id = NEW.location_id;
END;
CREATE TRIGGER erp_prices_changed
AFTER UPDATE OF price, discount_percent, package_weight, package_height, package_width, package_length ON erp_prices
WHEN OLD.state IN ('done', 'superseded', 'sending', 'failed') OR NEW.price IS NOT OLD.price
    OR NEW.discount_percent IS NOT OLD.discount_percent OR NEW.package_weight IS NOT OLD.package_weight
    OR NEW.package_height IS NOT OLD.package_height OR NEW.package_width IS NOT OLD.package_width
    OR NEW.package_length IS NOT OLD.package_length
BEGIN
    UPDATE erp_prices SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL,
        revision = max(OLD.revision + 1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE store = NEW.store AND sku = NEW.sku AND min_quantity = NEW.min_quantity;
END;
DROP TRIGGER commands_corrected;
CREATE TRIGGER commands_corrected AFTER UPDATE OF kind, key, data ON commands
WHEN OLD.state IN ('failed', 'held')
    AND (NEW.kind IS NOT OLD.kind OR NEW.key IS NOT OLD.key OR NEW.data IS NOT OLD.data)
BEGIN
    UPDATE commands SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, done_at = NULL,
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE id = NEW.id;
END;
