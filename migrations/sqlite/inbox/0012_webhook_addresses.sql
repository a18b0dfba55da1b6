-- The address that a login of ours registered last: a credential has one webhook, whose address each login moves in place.
-- Beside the secrets, because both are of the same webhook and nobody can be asked for either.
CREATE TABLE webhook_addresses (
    store         TEXT NOT NULL,
    -- Whose webhook it is.
    username      TEXT NOT NULL,
    base_url      TEXT NOT NULL,
    url           TEXT NOT NULL,
    registered_at TEXT NOT NULL,
    PRIMARY KEY (store, username, base_url)
) WITHOUT ROWID;
