-- A new command has no outcome either: what it is inserted with is not what came of it.
-- Two kinds of rows are no new commands, and stay as they are inserted. One was written by espelho before and comes back, from a
-- backup of the data alone: it was made a while ago, and espelho has answered it since. If it began anew, it would be sent again.
-- The other is held by the policy for campaigns, in a service of the version before 0094 beside this one.
CREATE OR REPLACE FUNCTION espelho_begins_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.updated_at IS NOT NULL AND (
        NEW.created_at < now() - interval '1 minute'
            AND NEW.state IN ('waiting', 'sending', 'done', 'failed', 'held', 'doubtful', 'ignored', 'superseded')
        OR NEW.kind = 'campaign.opt_in' AND NEW.state = 'held' AND NEW.error_code = 'policy_dry'
    ) THEN
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
