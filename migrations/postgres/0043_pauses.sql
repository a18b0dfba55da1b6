-- What operators have stopped for a while. A pause always has an end; one that is over stays for a day, because what it
-- kept waiting is not late.
CREATE TABLE pauses (
    store     TEXT NOT NULL,
    -- all, push, pull, webhooks, stock, prices, commands
    scope     TEXT NOT NULL,
    since     TIMESTAMPTZ NOT NULL,
    until     TIMESTAMPTZ NOT NULL,
    paused_by TEXT NOT NULL,
    PRIMARY KEY (store, scope)
);
