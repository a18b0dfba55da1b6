-- What operators have done on the page: who, when, and what was so before and after.
CREATE TABLE actions (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      TIMESTAMPTZ NOT NULL,
    actor   TEXT NOT NULL,
    -- retry, release, ignore, replay, pause, resume
    act     TEXT NOT NULL,
    -- '' where it concerns all.
    store   TEXT NOT NULL,
    -- The command line that does the same.
    command TEXT NOT NULL,
    -- The rows that it concerned, one a line, with their states.
    before  TEXT NOT NULL,
    -- What became of them; NULL while it is under way, and where it was cut short.
    after   TEXT,
    count   BIGINT
);
