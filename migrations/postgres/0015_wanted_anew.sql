-- Which wish a row is: when the ERP wrote it, in milliseconds, and more with each time. The same number again is the same wish.
ALTER TABLE erp_stock ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;
ALTER TABLE erp_prices ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;

-- What is written anew is looked at anew, also where it is the same: what failed may go by now, and what is being sent may have been
-- counted anew since.
CREATE OR REPLACE FUNCTION espelho_wanted_anew() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR OLD.state IN ('done', 'superseded', 'sending', 'failed')
        OR (to_jsonb(NEW) - '{state,error_code,error,hint,basis,updated_at,pushed_at,revision}'::text[])
           <> (to_jsonb(OLD) - '{state,error_code,error,hint,basis,updated_at,pushed_at,revision}'::text[]) THEN
        NEW.state := 'new';
        NEW.error_code := NULL;
        NEW.error := NULL;
        NEW.hint := NULL;
        NEW.updated_at := clock_timestamp();
        NEW.revision := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
        IF TG_OP = 'UPDATE' THEN
            NEW.revision := greatest(NEW.revision, OLD.revision + 1);
        END IF;
        PERFORM pg_notify('espelho_outbox', NEW.store);
    END IF;
    RETURN NEW;
END $$;

-- A command that was corrected asks for something else, and is looked at by itself.
CREATE FUNCTION espelho_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state IN ('failed', 'held') AND (NEW.kind, NEW.key, NEW.data) IS DISTINCT FROM (OLD.kind, OLD.key, OLD.data) THEN
        NEW.state := 'new';
        NEW.error_code := NULL;
        NEW.error := NULL;
        NEW.hint := NULL;
        NEW.done_at := NULL;
        NEW.updated_at := clock_timestamp();
        PERFORM pg_notify('espelho_outbox', NEW.store);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER commands_corrected BEFORE UPDATE OF kind, key, data ON commands FOR EACH ROW EXECUTE FUNCTION espelho_corrected();

-- Numbers that the ERP gives itself are not given again: else its next command without a number, or one of ours, would meet them. The
-- sequence is named with its schema: what runs with the owner's rights looks for nothing in a caller's path.
CREATE FUNCTION espelho_numbered() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    numbers text := format('%I.commands_id_seq', TG_TABLE_SCHEMA);
    look text := 'SELECT $1 > last_value OR $1 = last_value AND NOT is_called FROM ' || numbers;
    is_ahead boolean;
BEGIN
    EXECUTE look INTO is_ahead USING NEW.id;
    IF is_ahead THEN
        -- One at a time, and looked at once more: never back.
        PERFORM pg_advisory_xact_lock(hashtextextended(numbers, 0));
        EXECUTE look INTO is_ahead USING NEW.id;
        IF is_ahead THEN
            PERFORM setval(numbers::regclass, NEW.id);
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER commands_numbered AFTER INSERT ON commands FOR EACH ROW EXECUTE FUNCTION espelho_numbered();

CREATE INDEX product_prices_of_zero ON product_prices (store, product_id) WHERE value = 0;

-- Everything that failed and is not mended, or that somebody should look at: what could not be mirrored under the names of the change feed, what the ERP wanted under
-- stock, price and command.
CREATE OR REPLACE VIEW v_errors AS
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
WHERE t.gone_at IS NULL AND t.value = 0 AND e.error_code IS NULL;
