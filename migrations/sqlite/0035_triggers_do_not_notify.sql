-- On PostgreSQL triggers notified; here none ever did.
DROP TRIGGER IF EXISTS commands_told;
