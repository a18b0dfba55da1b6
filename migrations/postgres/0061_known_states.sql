-- The ERP may write any word as a state. A command that is written with an unknown one is new, as each row of erp_stock and
-- erp_prices is; afterwards a row keeps the state that it has.
CREATE FUNCTION espelho_known_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.state := 'new';
    ELSE
        NEW.state := OLD.state;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER commands_state BEFORE INSERT OR UPDATE OF state ON commands FOR EACH ROW
    WHEN (NEW.state IS NULL OR NEW.state
        NOT IN ('new', 'waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded'))
    EXECUTE FUNCTION espelho_known_state();
CREATE TRIGGER erp_stock_state BEFORE UPDATE OF state ON erp_stock FOR EACH ROW
    WHEN (NEW.state IS NULL OR NEW.state
        NOT IN ('new', 'waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded'))
    EXECUTE FUNCTION espelho_known_state();
CREATE TRIGGER erp_prices_state BEFORE UPDATE OF state ON erp_prices FOR EACH ROW
    WHEN (NEW.state IS NULL OR NEW.state
        NOT IN ('new', 'waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded'))
    EXECUTE FUNCTION espelho_known_state();
