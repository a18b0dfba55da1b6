-- What the ERP inserts is new, whatever times and state it has: a command that is copied as done, with both times, would never be
-- sent. No row is put back by an INSERT here: a backup is a whole file.
-- Beside this one, a service of the version before 0094 inserts commands that the policy for campaigns holds. They stay held.
DROP TRIGGER commands_inserted;
CREATE TRIGGER commands_inserted AFTER INSERT ON commands
WHEN (NEW.state IS NOT 'new' OR NEW.error_code IS NOT NULL OR NEW.error IS NOT NULL OR NEW.hint IS NOT NULL
        OR NEW.said IS NOT NULL OR NEW.result IS NOT NULL OR NEW.done_at IS NOT NULL)
    AND (NEW.kind = 'campaign.opt_in' AND NEW.state = 'held' AND NEW.error_code = 'policy_dry' AND NEW.updated_at IS NOT NULL)
        IS NOT TRUE
BEGIN
    UPDATE commands SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, result = NULL,
        done_at = NULL
    WHERE id = NEW.id;
END;
