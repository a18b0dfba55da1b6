-- The ERP may write any column of its rows. A time that is infinite, or of a year that the mirror's times do not have, is none:
-- a required time becomes that of the writing, an optional one is empty. A `created_at` that stands stays: it is part of what a
-- command is.

CREATE FUNCTION espelho_times_of_intents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT NEW.updated_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z' THEN
        NEW.updated_at := clock_timestamp();
    END IF;
    IF NOT NEW.pushed_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z' THEN
        NEW.pushed_at := NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER erp_stock_times BEFORE INSERT OR UPDATE OF updated_at, pushed_at ON erp_stock FOR EACH ROW
    WHEN (NOT NEW.updated_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z'
        OR NOT NEW.pushed_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z')
    EXECUTE FUNCTION espelho_times_of_intents();
CREATE TRIGGER erp_prices_times BEFORE INSERT OR UPDATE OF updated_at, pushed_at ON erp_prices FOR EACH ROW
    WHEN (NOT NEW.updated_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z'
        OR NOT NEW.pushed_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z')
    EXECUTE FUNCTION espelho_times_of_intents();

CREATE FUNCTION espelho_times_of_commands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT NEW.created_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z' THEN
        IF TG_OP = 'INSERT' THEN
            NEW.created_at := clock_timestamp();
        ELSE
            NEW.created_at := OLD.created_at;
        END IF;
    END IF;
    IF NOT NEW.updated_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z' THEN
        NEW.updated_at := NULL;
    END IF;
    IF NOT NEW.done_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z' THEN
        NEW.done_at := NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER commands_times BEFORE INSERT OR UPDATE OF created_at, updated_at, done_at ON commands FOR EACH ROW
    WHEN (NOT NEW.created_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z'
        OR NOT NEW.updated_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z'
        OR NOT NEW.done_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z')
    EXECUTE FUNCTION espelho_times_of_commands();

CREATE FUNCTION espelho_time_of_taking() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.taken_at := clock_timestamp();
    RETURN NEW;
END $$;
CREATE TRIGGER erp_orders_times BEFORE INSERT OR UPDATE OF taken_at ON erp_orders FOR EACH ROW
    WHEN (NOT NEW.taken_at BETWEEN '0001-01-01 00:00:00Z' AND '9999-12-31 23:59:59.999999Z') EXECUTE FUNCTION espelho_time_of_taking();

-- A revision that cannot rise begins again at the time of the writing.
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
        IF TG_OP = 'UPDATE' AND OLD.revision < 4611686018427387904 THEN
            NEW.revision := greatest(NEW.revision, OLD.revision + 1);
        END IF;
    END IF;
    RETURN NEW;
END $$;
