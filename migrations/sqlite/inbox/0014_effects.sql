-- The journal of what espelho asks the marketplace to do: written down before the first byte leaves, and settled by what can be proved.
-- Beside the inbox, because nobody can be asked for it either: it survives when the mirror is thrown away.
CREATE TABLE effects (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    store       TEXT NOT NULL,
    -- What it changes; never two under way for one.
    key         TEXT NOT NULL,
    kind        TEXT NOT NULL,
    -- The command that wanted it, and its fingerprint: numbers of commands may come again with a database that was put back.
    command_id  INTEGER,
    fingerprint TEXT,
    -- Method, path and body.
    request     TEXT NOT NULL,
    -- What was read before, as JSON.
    evidence    TEXT,
    -- planned, sent, confirmed, refuted or doubtful
    state       TEXT NOT NULL,
    planned_at  TEXT NOT NULL,
    sent_at     TEXT,
    settled_at  TEXT,
    code        TEXT,
    note        TEXT,
    -- What the marketplace answered.
    answer      TEXT
);
CREATE INDEX effects_open ON effects (store, id) WHERE state IN ('planned', 'sent');
CREATE INDEX effects_by_key ON effects (store, key, id);
CREATE INDEX effects_by_command ON effects (store, command_id, id);
