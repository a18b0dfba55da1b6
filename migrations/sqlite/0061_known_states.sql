-- The ERP may write any word as a state. A command that is written with an unknown one is new, as each row of erp_stock and
-- erp_prices is; afterwards a row keeps the state that it has.
CREATE TRIGGER commands_inserted AFTER INSERT ON commands
WHEN NEW.state IS NULL
    OR NEW.state NOT IN ('new', 'waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded')
BEGIN
    UPDATE commands SET state = 'new' WHERE id = NEW.id;
END;
CREATE TRIGGER commands_state AFTER UPDATE OF state ON commands
WHEN NEW.state IS NULL
    OR NEW.state NOT IN ('new', 'waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded')
BEGIN
    UPDATE commands SET state = OLD.state WHERE id = NEW.id;
END;
CREATE TRIGGER erp_stock_state AFTER UPDATE OF state ON erp_stock
WHEN NEW.state IS NULL
    OR NEW.state NOT IN ('new', 'waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded')
BEGIN
    UPDATE erp_stock SET state = OLD.state
    WHERE store = NEW.store AND sku = NEW.sku AND location_id = NEW.location_id;
END;
CREATE TRIGGER erp_prices_state AFTER UPDATE OF state ON erp_prices
WHEN NEW.state IS NULL
    OR NEW.state NOT IN ('new', 'waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded')
BEGIN
    UPDATE erp_prices SET state = OLD.state
    WHERE store = NEW.store AND sku = NEW.sku AND min_quantity = NEW.min_quantity;
END;
