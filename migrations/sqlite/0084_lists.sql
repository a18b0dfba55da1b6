-- The lists and the search of the pages, however many stores and orders there are.

-- Open orders with all that sorts them.
DROP INDEX orders_open;
CREATE INDEX orders_open ON orders (store, order_number, status, mirrored_at, gone_at, ship_by, created_at)
    WHERE gone_at IS NULL AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired');
-- What a search finds by a name that is no key. A name may be longer than an index takes.
CREATE INDEX shipments_by_tracking ON shipments (substr(tracking_code, 1, 100));
CREATE INDEX erp_orders_by_erp_id ON erp_orders (substr(erp_id, 1, 100));
