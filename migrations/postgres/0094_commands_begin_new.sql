-- Every command begins as a new one, whatever state it is inserted with, as each row of erp_stock and erp_prices does: one that began
-- as done would never be sent, and one that began as held or failed would say nothing.
CREATE FUNCTION espelho_begins_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.state := 'new';
    NEW.error_code := NULL;
    NEW.error := NULL;
    NEW.hint := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER commands_inserted BEFORE INSERT ON commands FOR EACH ROW EXECUTE FUNCTION espelho_begins_new();
DROP TRIGGER commands_state ON commands;
CREATE TRIGGER commands_state BEFORE UPDATE OF state ON commands FOR EACH ROW
    WHEN (NEW.state IS NULL OR NEW.state
        NOT IN ('new', 'waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded'))
    EXECUTE FUNCTION espelho_known_state();
