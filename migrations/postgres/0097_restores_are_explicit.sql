-- What the ERP inserts is new, whatever times and state it has: a command that is copied as done, with both times, would never be
-- sent. Only a restore of rows keeps them, and its session says so: SET espelho.restoring = 'on'.
-- Beside this one, a service of the version before 0094 inserts commands that the policy for campaigns holds. They stay held.
CREATE OR REPLACE FUNCTION espelho_begins_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('espelho.restoring', true) = 'on'
        OR NEW.kind = 'campaign.opt_in' AND NEW.state = 'held' AND NEW.error_code = 'policy_dry' AND NEW.updated_at IS NOT NULL
    THEN
        RETURN NEW;
    END IF;
    NEW.state := 'new';
    NEW.error_code := NULL;
    NEW.error := NULL;
    NEW.hint := NULL;
    NEW.said := NULL;
    NEW.result := NULL;
    NEW.done_at := NULL;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION espelho_wanted_anew() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND current_setting('espelho.restoring', true) = 'on' THEN
        RETURN NEW;
    END IF;
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
