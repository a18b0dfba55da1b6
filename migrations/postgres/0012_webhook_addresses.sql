-- The address that a login of ours registered last: a credential has one webhook, whose address each login moves in place,
-- and nobody can be asked for it.
CREATE TABLE webhook_addresses (
    store         TEXT NOT NULL,
    -- Whose webhook it is.
    username      TEXT NOT NULL,
    base_url      TEXT NOT NULL,
    url           TEXT NOT NULL,
    registered_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (store, username, base_url)
);
