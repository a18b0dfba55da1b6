-- The columns alone: on PostgreSQL nobody reads the tables while they are added, which takes a moment. 0036 fills them.

-- Since when sub-resources of the order are to be read; NULL when all of them were read after its last change.
ALTER TABLE orders ADD COLUMN unread_since TIMESTAMPTZ;

-- When the order is read again, with everything: on the row of its shipments, which are read together with all else.
-- NULL: never, because it is gone. While `is_young` is NULL the time is not decided yet, and `due_at` is since when.
ALTER TABLE order_parts ADD COLUMN due_at TIMESTAMPTZ;
ALTER TABLE order_parts ADD COLUMN is_young BOOLEAN;

-- A service of the version before may own stores on the same database for a while. What it writes is due as well.
ALTER TABLE orders ALTER COLUMN unread_since SET DEFAULT now();
CREATE FUNCTION espelho_order_unread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.unread_since := NEW.mirrored_at;
    RETURN NEW;
END $$;
CREATE TRIGGER orders_unread_by_older BEFORE UPDATE ON orders FOR EACH ROW
    WHEN (NEW.mirrored_at <> OLD.mirrored_at AND NEW.unread_since IS NOT DISTINCT FROM OLD.unread_since)
    EXECUTE FUNCTION espelho_order_unread();
CREATE FUNCTION espelho_part_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.due_at := NEW.read_at;
    RETURN NEW;
END $$;
CREATE TRIGGER parts_due_by_older BEFORE INSERT ON order_parts FOR EACH ROW
    WHEN (NEW.part = 'shipments' AND NEW.due_at IS NULL) EXECUTE FUNCTION espelho_part_due();
CREATE FUNCTION espelho_product_first_read() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO product_reads (store, id, read_at) VALUES (NEW.store, NEW.id, NEW.mirrored_at)
        ON CONFLICT (store, id) DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER products_first_read AFTER INSERT ON products FOR EACH ROW EXECUTE FUNCTION espelho_product_first_read();
