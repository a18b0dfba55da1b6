-- Requests of the HTTP API that carry an idempotency key, with their answers. A row is written in the transaction of the rows that
-- its request writes: whoever sends the request again gets the same answer, and nothing is written twice.
CREATE TABLE api_requests (
    -- The name of the token that sent it.
    token       TEXT NOT NULL,
    key         TEXT NOT NULL,
    -- SHA-256 of the route and the body, in hex.
    fingerprint TEXT NOT NULL,
    at          TIMESTAMPTZ NOT NULL,
    answer      TEXT,
    PRIMARY KEY (token, key)
);
CREATE INDEX api_requests_by_time ON api_requests (at);
