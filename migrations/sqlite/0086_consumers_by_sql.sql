-- An ERP that follows the feed by SQL says a name and a number.
ALTER TABLE consumers RENAME TO consumers_before;
CREATE TABLE consumers (
    name       TEXT NOT NULL PRIMARY KEY,
    seq        INTEGER NOT NULL,
    updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z')
);
INSERT INTO consumers (name, seq, updated_at) SELECT name, seq, updated_at FROM consumers_before;
DROP TABLE consumers_before;
