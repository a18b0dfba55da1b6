-- Indexes on what arrives in random order cost most of what a page of orders writes: each of its rows changes another
-- page of such an index. What stays is in the order of arrival, or holds open rows only.

-- The age of an order comes from `order_parts`.
DROP INDEX orders_by_age;
-- Orders that changed in the mirror since a time.
CREATE INDEX orders_by_mirroring ON orders (store, mirrored_at);
-- Lines of a SKU that are still to be dispatched; those of dispatched orders are found by when the order changed.
DROP INDEX order_items_by_sku;
CREATE INDEX order_items_undispatched ON order_items (store, sku)
    WHERE gone_at IS NULL AND COALESCE(stock_status, '') NOT IN ('committed', 'released');

-- Open orders with all that is counted and shown of them, so that nobody reads their rows.
DROP INDEX orders_open;
CREATE INDEX orders_open ON orders (store, order_number, status, mirrored_at, gone_at)
    WHERE gone_at IS NULL AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired');
-- The orders of a status, the latest first, and how many are live. Those of one status come in the order of arrival.
DROP INDEX orders_by_status;
CREATE INDEX orders_by_status ON orders (store, status, created_at, gone_at, order_number);
