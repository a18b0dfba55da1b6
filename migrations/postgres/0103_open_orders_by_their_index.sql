-- Releases are read from the index of open orders: all the statuses that wait for one are open. PostgreSQL knows from its
-- statistics which index is small, so it needs no more of what SQLite needs here.
CREATE OR REPLACE VIEW v_deadlines AS
SELECT store, 'order' AS entity, order_number AS key, 'payment_expires_at' AS kind, payment_expires_at AS at, status
FROM orders
WHERE gone_at IS NULL AND payment_expires_at IS NOT NULL
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
UNION ALL
SELECT store, 'order', order_number, 'release_at', release_at, status
FROM orders
WHERE gone_at IS NULL AND release_at IS NOT NULL
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
  AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = orders.store AND r.order_number = orders.order_number)
  AND status IN ('waiting_payment', 'paid', 'awaiting_campaign_conclusion')
UNION ALL
-- Dispatch, until the goods have left.
SELECT store, 'order', order_number, 'ship_by', ship_by, status
FROM orders
WHERE gone_at IS NULL AND ship_by IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = orders.store AND r.order_number = orders.order_number)
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
  AND COALESCE(status, '') NOT IN ('waiting_payment', 'shipped', 'ready_for_pickup', 'picked_up', 'pickup_expired')
UNION ALL
-- Fiscal, until a document is there or the goods have left.
SELECT store, 'order', order_number, 'invoice_by', invoice_by, status
FROM orders
WHERE gone_at IS NULL AND invoice_by IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = orders.store AND r.order_number = orders.order_number)
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
  AND COALESCE(status, '') NOT IN ('waiting_payment', 'shipped', 'ready_for_pickup', 'picked_up', 'pickup_expired')
  AND NOT EXISTS (SELECT 1 FROM order_invoices i WHERE i.store = orders.store AND i.order_number = orders.order_number
                  AND i.is_current AND i.gone_at IS NULL)
UNION ALL
-- Picking, until everything is ready.
SELECT store, 'order', order_number, 'pick_by', pick_by, status
FROM orders
WHERE gone_at IS NULL AND pick_by IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = orders.store AND r.order_number = orders.order_number)
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
  AND COALESCE(status, '') NOT IN ('waiting_payment', 'ready_to_ship', 'shipped', 'ready_for_pickup', 'picked_up', 'pickup_expired')
UNION ALL
SELECT store, 'campaign', id, 'opt_in_deadline', opt_in_deadline, status
FROM campaigns
WHERE gone_at IS NULL AND opt_in_deadline IS NOT NULL AND COALESCE(status, '') NOT IN ('finished', 'cancelled')
UNION ALL
SELECT store, 'campaign', id, 'ends_at', ends_at, status
FROM campaigns
WHERE gone_at IS NULL AND ends_at IS NOT NULL AND COALESCE(status, '') NOT IN ('finished', 'cancelled')
UNION ALL
-- The marketplace clears loose images away about 72 hours after they came (API document, "Media image").
SELECT store, 'media_image', id, 'cleanup_at', created_at + interval '72 hours', 'loose'
FROM media_images
WHERE gone_at IS NULL AND NOT in_use AND created_at IS NOT NULL;
