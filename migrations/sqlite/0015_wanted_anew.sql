-- Which wish a row is: when the ERP wrote it, in milliseconds, and more with each time. The same number again is the same wish.
ALTER TABLE erp_stock ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE erp_prices ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER erp_stock_inserted AFTER INSERT ON erp_stock
BEGIN
    UPDATE erp_stock SET state = 'new', revision = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
    WHERE store = NEW.store AND sku = NEW.sku AND location_id = NEW.location_id;
END;
CREATE TRIGGER erp_prices_inserted AFTER INSERT ON erp_prices
BEGIN
    UPDATE erp_prices SET state = 'new', revision = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
    WHERE store = NEW.store AND sku = NEW.sku AND min_quantity = NEW.min_quantity;
END;

-- What is written anew is looked at anew, also where it is the same: what failed may go by now, and what is being sent may have been
-- counted anew since.
DROP TRIGGER erp_stock_changed;
CREATE TRIGGER erp_stock_changed AFTER UPDATE OF quantity ON erp_stock
WHEN NEW.quantity IS NOT OLD.quantity OR OLD.state IN ('done', 'superseded', 'sending', 'failed')
BEGIN
    UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = NULL,
        revision = max(OLD.revision + 1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE store = NEW.store AND sku = NEW.sku AND location_id = NEW.location_id;
END;

DROP TRIGGER erp_prices_changed;
CREATE TRIGGER erp_prices_changed
AFTER UPDATE OF price, discount_percent, package_weight, package_height, package_width, package_length ON erp_prices
WHEN OLD.state IN ('done', 'superseded', 'sending', 'failed') OR NEW.price IS NOT OLD.price
    OR NEW.discount_percent IS NOT OLD.discount_percent OR NEW.package_weight IS NOT OLD.package_weight
    OR NEW.package_height IS NOT OLD.package_height OR NEW.package_width IS NOT OLD.package_width
    OR NEW.package_length IS NOT OLD.package_length
BEGIN
    UPDATE erp_prices SET state = 'new', error_code = NULL, error = NULL, hint = NULL,
        revision = max(OLD.revision + 1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE store = NEW.store AND sku = NEW.sku AND min_quantity = NEW.min_quantity;
END;

-- A command that was corrected asks for something else, and is looked at by itself.
CREATE TRIGGER commands_corrected AFTER UPDATE OF kind, key, data ON commands
WHEN OLD.state IN ('failed', 'held')
    AND (NEW.kind IS NOT OLD.kind OR NEW.key IS NOT OLD.key OR NEW.data IS NOT OLD.data)
BEGIN
    UPDATE commands SET state = 'new', error_code = NULL, error = NULL, hint = NULL, done_at = NULL,
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE id = NEW.id;
END;

CREATE INDEX product_prices_of_zero ON product_prices (store, product_id) WHERE CAST(value AS NUMERIC) = 0;

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
FROM v_campaign_drift
UNION ALL
-- A price of zero sells for nothing, whoever made it so.
SELECT t.store, 'price', p.sku || '/' || t.min_quantity, 'price_zero',
       'o marketplace mostra preço zero / the marketplace shows a price of zero',
       'grave o preço em erp_prices ou corrija no portal / write the price to erp_prices, or correct it in the portal', t.mirrored_at
FROM product_prices t
JOIN products p ON p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL
JOIN erp_prices e ON e.store = t.store AND e.sku = p.sku AND e.min_quantity = t.min_quantity
WHERE t.gone_at IS NULL AND CAST(t.value AS NUMERIC) = 0 AND e.error_code IS NULL;
