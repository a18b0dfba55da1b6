-- Every command begins as a new one, whatever state it is inserted with, as each row of erp_stock and erp_prices does: one that began
-- as done would never be sent, and one that began as held or failed would say nothing.
DROP TRIGGER commands_inserted;
CREATE TRIGGER commands_inserted AFTER INSERT ON commands
WHEN NEW.state IS NOT 'new' OR NEW.error_code IS NOT NULL OR NEW.error IS NOT NULL OR NEW.hint IS NOT NULL
BEGIN
    UPDATE commands SET state = 'new', error_code = NULL, error = NULL, hint = NULL WHERE id = NEW.id;
END;
