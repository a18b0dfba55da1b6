-- Whatever the ERP changes is noticed: a key that is corrected, and a row that is written while its trigger is off.

-- What the row asked for when it was answered, as text: another text now is a change that no trigger has noticed.
ALTER TABLE erp_stock ADD COLUMN answered TEXT;
ALTER TABLE erp_prices ADD COLUMN answered TEXT;
UPDATE erp_stock SET answered = sku || '/' || location_id || '=' || CAST(quantity AS TEXT)
WHERE state NOT IN ('new', 'waiting', 'sending');
UPDATE erp_prices SET answered = sku || '/' || CAST(min_quantity AS TEXT) || '=' || COALESCE(CAST(price AS TEXT), '') || '|' ||
    COALESCE(CAST(discount_percent AS TEXT), '') || '|' || COALESCE(CAST(package_weight AS TEXT), '') || '|' ||
    COALESCE(CAST(package_height AS TEXT), '') || '|' || COALESCE(CAST(package_width AS TEXT), '') || '|' ||
    COALESCE(CAST(package_length AS TEXT), '')
WHERE state NOT IN ('new', 'waiting', 'sending');
CREATE INDEX erp_stock_unnoticed ON erp_stock (store)
    WHERE answered <> sku || '/' || location_id || '=' || CAST(quantity AS TEXT);
CREATE INDEX erp_prices_unnoticed ON erp_prices (store)
    WHERE answered <> sku || '/' || CAST(min_quantity AS TEXT) || '=' || COALESCE(CAST(price AS TEXT), '') || '|' ||
        COALESCE(CAST(discount_percent AS TEXT), '') || '|' || COALESCE(CAST(package_weight AS TEXT), '') || '|' ||
        COALESCE(CAST(package_height AS TEXT), '') || '|' || COALESCE(CAST(package_width AS TEXT), '') || '|' ||
        COALESCE(CAST(package_length AS TEXT), '');

DROP TRIGGER erp_stock_changed;
CREATE TRIGGER erp_stock_changed AFTER UPDATE OF store, sku, location_id, quantity ON erp_stock
WHEN NEW.quantity IS NOT OLD.quantity OR OLD.state IN ('done', 'superseded', 'sending', 'failed')
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
WHEN OLD.state IN ('done', 'superseded', 'sending', 'failed') OR NEW.price IS NOT OLD.price
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

-- A command whose request is out stays as it was sent: a change would be a second request.
CREATE TRIGGER commands_sent BEFORE UPDATE OF store, kind, key, data ON commands
WHEN OLD.state = 'sending' AND (NEW.store IS NOT OLD.store OR NEW.kind IS NOT OLD.kind OR NEW.key IS NOT OLD.key
    OR NEW.data IS NOT OLD.data)
BEGIN
    SELECT RAISE(ABORT, 'espelho: this command is being sent and cannot change any more; insert another command');
END;
-- A failed or held command that gets another store is looked at anew there.
DROP TRIGGER commands_corrected;
CREATE TRIGGER commands_corrected AFTER UPDATE OF store, kind, key, data ON commands
WHEN OLD.state IN ('failed', 'held') AND (NEW.store IS NOT OLD.store OR NEW.kind IS NOT OLD.kind
    OR NEW.key IS NOT OLD.key OR NEW.data IS NOT OLD.data)
BEGIN
    UPDATE commands SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, done_at = NULL,
        updated_at = strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
    WHERE id = NEW.id;
END;
