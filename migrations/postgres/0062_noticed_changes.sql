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

CREATE OR REPLACE FUNCTION espelho_wanted_anew() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR OLD.state IN ('done', 'superseded', 'sending', 'failed')
        OR (to_jsonb(NEW) - '{state,error_code,error,hint,said,basis,answered,updated_at,pushed_at,revision}'::text[])
           <> (to_jsonb(OLD) - '{state,error_code,error,hint,said,basis,answered,updated_at,pushed_at,revision}'::text[]) THEN
        NEW.state := 'new';
        NEW.error_code := NULL;
        NEW.error := NULL;
        NEW.hint := NULL;
        NEW.said := NULL;
        NEW.answered := NULL;
        NEW.updated_at := clock_timestamp();
        NEW.revision := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
        IF TG_OP = 'UPDATE' AND OLD.revision < 4611686018427387904 THEN
            NEW.revision := greatest(NEW.revision, OLD.revision + 1);
        END IF;
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER erp_stock_changed ON erp_stock;
CREATE TRIGGER erp_stock_changed BEFORE UPDATE OF store, sku, location_id, quantity ON erp_stock
FOR EACH ROW EXECUTE FUNCTION espelho_wanted_anew();
DROP TRIGGER erp_prices_changed ON erp_prices;
CREATE TRIGGER erp_prices_changed
BEFORE UPDATE OF store, sku, min_quantity, price, discount_percent, package_weight, package_height, package_width,
    package_length ON erp_prices
FOR EACH ROW EXECUTE FUNCTION espelho_wanted_anew();

-- A command whose request is out stays as it was sent: a change would be a second request. A failed or held one that is
-- corrected is looked at anew.
CREATE OR REPLACE FUNCTION espelho_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (NEW.store, NEW.kind, NEW.key, NEW.data) IS DISTINCT FROM (OLD.store, OLD.kind, OLD.key, OLD.data) THEN
        IF OLD.state = 'sending' THEN
            RAISE EXCEPTION 'espelho: command % is being sent and cannot change any more', OLD.id
                USING HINT = 'Insert another command.', ERRCODE = 'object_in_use';
        END IF;
        IF OLD.state IN ('failed', 'held') THEN
            NEW.state := 'new';
            NEW.error_code := NULL;
            NEW.error := NULL;
            NEW.hint := NULL;
            NEW.said := NULL;
            NEW.done_at := NULL;
            NEW.updated_at := clock_timestamp();
        END IF;
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER commands_corrected ON commands;
CREATE TRIGGER commands_corrected BEFORE UPDATE OF store, kind, key, data ON commands
FOR EACH ROW EXECUTE FUNCTION espelho_corrected();
