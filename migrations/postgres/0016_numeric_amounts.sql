-- Amounts and quantities are NUMERIC here already; these are the columns that came with them on SQLite.
ALTER TABLE orders ADD COLUMN status_label TEXT;
ALTER TABLE orders ADD COLUMN customer_city TEXT;
ALTER TABLE orders ADD COLUMN customer_state TEXT;
ALTER TABLE orders ADD COLUMN ship_by TIMESTAMPTZ;
ALTER TABLE orders ADD COLUMN invoice_by TIMESTAMPTZ;
ALTER TABLE orders ADD COLUMN pick_by TIMESTAMPTZ;
ALTER TABLE order_items ADD COLUMN name TEXT;

-- The error of a row as a text of the catalogue, so that every surface can say it in its own language. Internal.
ALTER TABLE erp_stock ADD COLUMN said TEXT;
ALTER TABLE erp_prices ADD COLUMN said TEXT;
ALTER TABLE commands ADD COLUMN said TEXT;
ALTER TABLE sync_failures ADD COLUMN said TEXT;

-- A text as a time; NULL where it is none. It is gone with the session.
CREATE FUNCTION pg_temp.moment(said text) RETURNS timestamptz LANGUAGE plpgsql SET timezone = 'UTC' AS $$
BEGIN
    IF said !~ '^\d{4}-\d{2}-\d{2}' THEN
        RETURN NULL;
    END IF;
    RETURN said::timestamptz + CASE length(said) WHEN 10 THEN interval '86399 seconds' ELSE interval '0' END;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;

-- What is mirrored already is filled from `raw`: rows that stay the same are not written again. The places are those that the reader of
-- orders tries (docs/ASSUMPTIONS.md); a time without an offset is taken for UTC, a day alone for its end.
UPDATE orders SET
    status_label = (SELECT raw #>> path FROM (VALUES
        (1, '{status_label}'::text[])) AS places (nth, path)
        WHERE jsonb_typeof(raw #> path) = 'string' AND raw #>> path <> '' ORDER BY nth LIMIT 1),
    customer_city = (SELECT raw #>> path FROM (VALUES
        (1, '{customer,city}'::text[]), (2, '{customer,address,city}'::text[]),
        (3, '{customer,shipping_address,city}'::text[]), (4, '{customer,delivery_address,city}'::text[]),
        (5, '{shipping_address,city}'::text[]), (6, '{delivery_address,city}'::text[]),
        (7, '{shipping,address,city}'::text[]), (8, '{shipping,city}'::text[])) AS places (nth, path)
        WHERE jsonb_typeof(raw #> path) = 'string' AND raw #>> path <> '' ORDER BY nth LIMIT 1),
    customer_state = (SELECT raw #>> path FROM (VALUES
        (1, '{customer,state}'::text[]), (2, '{customer,uf}'::text[]), (3, '{customer,state_code}'::text[]),
        (4, '{customer,address,state}'::text[]), (5, '{customer,address,uf}'::text[]),
        (6, '{customer,address,state_code}'::text[]), (7, '{customer,shipping_address,state}'::text[]),
        (8, '{customer,shipping_address,uf}'::text[]), (9, '{customer,shipping_address,state_code}'::text[]),
        (10, '{customer,delivery_address,state}'::text[]), (11, '{customer,delivery_address,uf}'::text[]),
        (12, '{customer,delivery_address,state_code}'::text[]), (13, '{shipping_address,state}'::text[]),
        (14, '{shipping_address,uf}'::text[]), (15, '{shipping_address,state_code}'::text[]),
        (16, '{delivery_address,state}'::text[]), (17, '{delivery_address,uf}'::text[]),
        (18, '{delivery_address,state_code}'::text[]), (19, '{shipping,address,state}'::text[]),
        (20, '{shipping,address,uf}'::text[]), (21, '{shipping,address,state_code}'::text[]),
        (22, '{shipping,state}'::text[]), (23, '{shipping,uf}'::text[]), (24, '{shipping,state_code}'::text[])) AS places (nth, path)
        WHERE jsonb_typeof(raw #> path) = 'string' AND raw #>> path <> '' ORDER BY nth LIMIT 1),
    ship_by = (SELECT pg_temp.moment(raw #>> path) FROM (VALUES
        (1, '{shipping,ship_by}'::text[]), (2, '{shipping,dispatch_by}'::text[]),
        (3, '{shipping,dispatch_deadline}'::text[]), (4, '{shipping,dispatch_deadline_at}'::text[]),
        (5, '{shipping,deadline_at}'::text[]), (6, '{shipping,deadline}'::text[]),
        (7, '{shipping,deadline,dispatch}'::text[]), (8, '{shipping,deadline,at}'::text[]),
        (9, '{shipping,deadline,date}'::text[]), (10, '{ship_by}'::text[]), (11, '{dispatch_deadline}'::text[]),
        (12, '{dispatch_deadline_at}'::text[])) AS places (nth, path)
        WHERE jsonb_typeof(raw #> path) = 'string' AND pg_temp.moment(raw #>> path) IS NOT NULL ORDER BY nth LIMIT 1),
    invoice_by = (SELECT pg_temp.moment(raw #>> path) FROM (VALUES
        (1, '{shipping,nfe_requirements,deadline_at}'::text[]), (2, '{shipping,nfe_requirements,deadline}'::text[]),
        (3, '{invoice_by}'::text[]), (4, '{fiscal_deadline}'::text[]), (5, '{fiscal_deadline_at}'::text[]),
        (6, '{nfe_deadline}'::text[]), (7, '{nfe_deadline_at}'::text[])) AS places (nth, path)
        WHERE jsonb_typeof(raw #> path) = 'string' AND pg_temp.moment(raw #>> path) IS NOT NULL ORDER BY nth LIMIT 1),
    pick_by = (SELECT pg_temp.moment(raw #>> path) FROM (VALUES
        (1, '{pick_by}'::text[]), (2, '{picking_deadline}'::text[]), (3, '{picking_deadline_at}'::text[])) AS places (nth, path)
        WHERE jsonb_typeof(raw #> path) = 'string' AND pg_temp.moment(raw #>> path) IS NOT NULL ORDER BY nth LIMIT 1);
UPDATE order_items SET
    name = (SELECT raw #>> path FROM (VALUES
        (1, '{name}'::text[]), (2, '{product_name}'::text[]), (3, '{title}'::text[]), (4, '{product,name}'::text[])) AS places (nth, path)
        WHERE jsonb_typeof(raw #> path) = 'string' AND raw #>> path <> '' ORDER BY nth LIMIT 1);

-- What is wanted anew has no error any more, in no language.
CREATE OR REPLACE FUNCTION espelho_wanted_anew() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR OLD.state IN ('done', 'superseded', 'sending', 'failed')
        OR (to_jsonb(NEW) - '{state,error_code,error,hint,said,basis,updated_at,pushed_at,revision}'::text[])
           <> (to_jsonb(OLD) - '{state,error_code,error,hint,said,basis,updated_at,pushed_at,revision}'::text[]) THEN
        NEW.state := 'new';
        NEW.error_code := NULL;
        NEW.error := NULL;
        NEW.hint := NULL;
        NEW.said := NULL;
        NEW.updated_at := clock_timestamp();
        NEW.revision := floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;
        IF TG_OP = 'UPDATE' THEN
            NEW.revision := greatest(NEW.revision, OLD.revision + 1);
        END IF;
        PERFORM pg_notify('espelho_outbox', NEW.store);
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION espelho_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state IN ('failed', 'held') AND (NEW.kind, NEW.key, NEW.data) IS DISTINCT FROM (OLD.kind, OLD.key, OLD.data) THEN
        NEW.state := 'new';
        NEW.error_code := NULL;
        NEW.error := NULL;
        NEW.hint := NULL;
        NEW.said := NULL;
        NEW.done_at := NULL;
        NEW.updated_at := clock_timestamp();
        PERFORM pg_notify('espelho_outbox', NEW.store);
    END IF;
    RETURN NEW;
END $$;
