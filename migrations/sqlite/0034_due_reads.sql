-- The columns alone: on PostgreSQL nobody reads the tables while they are added, which takes a moment. 0036 fills them.

-- Since when sub-resources of the order are to be read; NULL when all of them were read after its last change.
ALTER TABLE orders ADD COLUMN unread_since TEXT;

-- When the order is read again, with everything: on the row of its shipments, which are read together with all else.
-- NULL: never, because it is gone. While `is_young` is NULL the time is not decided yet, and `due_at` is since when.
ALTER TABLE order_parts ADD COLUMN due_at TEXT;
ALTER TABLE order_parts ADD COLUMN is_young INTEGER;
