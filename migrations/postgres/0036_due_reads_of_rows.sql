-- A sweep finds what is due by an index that holds nothing else: a look-up costs what is due, not what is mirrored.

-- `unread_since` is the time of a change, so its index grows at its end.
UPDATE orders SET unread_since = mirrored_at WHERE 5 > (SELECT count(*) FROM order_parts AS p
    WHERE p.store = orders.store AND p.order_number = orders.order_number
    AND p.part IN ('shipments', 'tracking', 'events', 'invoices', 'financial') AND p.read_at >= orders.mirrored_at);
CREATE INDEX orders_unread ON orders (store, unread_since, order_number, gone_at)
    WHERE unread_since IS NOT NULL AND gone_at IS NULL;

-- As the service decides: daily while the order is open or changed within a week, weekly within a month, then monthly.
UPDATE order_parts SET (is_young, due_at) = (
    SELECT days = 1, order_parts.read_at + days * INTERVAL '24 hours'
    FROM (SELECT CASE
        WHEN COALESCE(o.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') THEN 1
        WHEN COALESCE(o.updated_at, o.created_at, o.mirrored_at)
            >= order_parts.read_at - INTERVAL '168 hours' THEN 1
        WHEN COALESCE(o.updated_at, o.created_at, o.mirrored_at)
            >= order_parts.read_at - INTERVAL '720 hours' THEN 7
        ELSE 30 END AS days
        FROM orders AS o WHERE o.store = order_parts.store AND o.order_number = order_parts.order_number
        AND o.gone_at IS NULL) AS pace)
WHERE part = 'shipments';
CREATE INDEX order_parts_due ON order_parts (store, is_young, due_at, order_number) WHERE due_at IS NOT NULL;

-- Every live product has a last read, and no other: the rotation follows this index. A product that no refresh has read
-- yet was read when it was mirrored.
INSERT INTO product_reads (store, id, read_at) SELECT store, id, mirrored_at FROM products WHERE gone_at IS NULL
    ON CONFLICT (store, id) DO NOTHING;
DELETE FROM product_reads WHERE NOT EXISTS (SELECT 1 FROM products AS p
    WHERE p.store = product_reads.store AND p.id = product_reads.id AND p.gone_at IS NULL);
CREATE INDEX product_reads_by_age ON product_reads (store, read_at, id);
