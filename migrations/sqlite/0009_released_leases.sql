-- When a store's last owner gave it back by itself. Only PostgreSQL asks: a lock file ends with its process, at once.
ALTER TABLE leases ADD COLUMN released_at TEXT;
