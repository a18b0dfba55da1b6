-- Whether a store's last owner gave it back by itself. Whoever follows one that did not waits until that one has
-- certainly noticed.
ALTER TABLE leases ADD COLUMN released_at TIMESTAMPTZ;
