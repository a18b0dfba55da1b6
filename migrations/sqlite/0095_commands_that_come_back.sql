-- A new command has no outcome either: what it is inserted with is not what came of it.
-- Two kinds of rows are no new commands, and stay as they are inserted. One was written by espelho before and comes back, from a
-- backup of the data alone: it was made a while ago, and espelho has answered it since. If it began anew, it would be sent again.
-- The other is held by the policy for campaigns, in a service of the version before 0094 beside this one.
DROP TRIGGER commands_inserted;
CREATE TRIGGER commands_inserted AFTER INSERT ON commands
WHEN (NEW.state IS NOT 'new' OR NEW.error_code IS NOT NULL OR NEW.error IS NOT NULL OR NEW.hint IS NOT NULL
        OR NEW.said IS NOT NULL OR NEW.result IS NOT NULL OR NEW.done_at IS NOT NULL)
    AND (NEW.updated_at IS NOT NULL AND (
        julianday(NEW.created_at) < julianday('now', '-1 minute')
            AND NEW.state IN ('waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded')
        OR NEW.kind = 'campaign.opt_in' AND NEW.state = 'held' AND NEW.error_code = 'policy_dry'
    )) IS NOT TRUE
BEGIN
    UPDATE commands SET state = 'new', error_code = NULL, error = NULL, hint = NULL, said = NULL, result = NULL,
        done_at = NULL
    WHERE id = NEW.id;
END;
