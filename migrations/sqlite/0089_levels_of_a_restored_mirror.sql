-- A level or price that a restore has doubted is sent once the ERP writes it, even with the value that it has.
DROP TRIGGER erp_stock_changed;
CREATE TRIGGER erp_stock_changed AFTER UPDATE OF store, sku, location_id, quantity ON erp_stock
WHEN NEW.quantity IS NOT OLD.quantity OR OLD.state IN ('done', 'superseded', 'sending', 'failed')
    OR OLD.error_code = 'restored'
    OR NEW.store <> OLD.store OR NEW.sku <> OLD.sku OR NEW.location_id <> OLD.location_id
BEGIN
    UPDATE erp_stock SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, answered = NULL,
        revision = max(CASE WHEN typeof(OLD.revision) = 'integer' AND OLD.revision < 4611686018427387904
            THEN OLD.revision + 1 ELSE 0 END, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE store = NEW.store AND sku = NEW.sku AND location_id = NEW.location_id;
END;
DROP TRIGGER erp_prices_changed;
CREATE TRIGGER erp_prices_changed
AFTER UPDATE OF store, sku, min_quantity, price, discount_percent, package_weight, package_height, package_width,
    package_length ON erp_prices
WHEN OLD.state IN ('done', 'superseded', 'sending', 'failed') OR OLD.error_code = 'restored'
    OR NEW.price IS NOT OLD.price
    OR NEW.discount_percent IS NOT OLD.discount_percent OR NEW.package_weight IS NOT OLD.package_weight
    OR NEW.package_height IS NOT OLD.package_height OR NEW.package_width IS NOT OLD.package_width
    OR NEW.package_length IS NOT OLD.package_length
    OR NEW.store <> OLD.store OR NEW.sku <> OLD.sku OR NEW.min_quantity <> OLD.min_quantity
BEGIN
    UPDATE erp_prices SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, answered = NULL,
        revision = max(CASE WHEN typeof(OLD.revision) = 'integer' AND OLD.revision < 4611686018427387904
            THEN OLD.revision + 1 ELSE 0 END, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE store = NEW.store AND sku = NEW.sku AND min_quantity = NEW.min_quantity;
END;
