-- Indexes on what arrives in random order cost most of what a page of orders writes: each of its rows changes another
-- page of such an index. What stays is in the order of arrival, or holds open rows only.
--
-- New indexes come first, because from the first DROP INDEX on nobody reads the tables until the end.

-- Orders that changed in the mirror since a time.
CREATE INDEX orders_by_mirroring ON orders (store, mirrored_at);
-- Lines of a SKU that are still to be dispatched; those of dispatched orders are found by when the order changed.
CREATE INDEX order_items_undispatched ON order_items (store, sku)
    WHERE gone_at IS NULL AND COALESCE(stock_status, '') NOT IN ('committed', 'released');
-- Open orders with all that is counted and shown of them, so that nobody reads their rows.
CREATE INDEX orders_open_covering ON orders (store, order_number, status, mirrored_at, gone_at)
    WHERE gone_at IS NULL AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired');
-- The orders of a status, the latest first, and how many are live. Those of one status come in the order of arrival.
CREATE INDEX orders_by_status_and_age ON orders (store, status, created_at, gone_at, order_number);

-- The age of an order comes from `order_parts` (0034).
DROP INDEX orders_by_age;
DROP INDEX order_items_by_sku;
DROP INDEX orders_open;
ALTER INDEX orders_open_covering RENAME TO orders_open;
DROP INDEX orders_by_status;
ALTER INDEX orders_by_status_and_age RENAME TO orders_by_status;
