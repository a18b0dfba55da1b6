-- Orders whose money went back before their goods left: there is nothing to ship, nothing to invoice and nothing to take. Only the
-- marketplace's exact word counts, and only where the document says that the goods are still here: what is uncertain stays visible.
CREATE INDEX orders_refunded ON orders (store, order_number, gone_at, payment_status, status)
    WHERE gone_at IS NULL AND payment_status = 'refunded'
      AND status IN ('paid', 'preparing', 'ready_to_ship', 'ready_for_pickup', 'awaiting_availability', 'awaiting_restock',
                 'production_started', 'awaiting_materials', 'production_in_progress', 'production_finished');

-- Documents that were mirrored as current although they are not issued. Their fingerprint has the column as it was: the next
-- reading by this version writes them, and tells the feed once, and the version before finds them unchanged.
UPDATE order_invoices SET is_current = FALSE
WHERE is_current AND lower(status) IN (
    'rejected', 'denied', 'refused', 'cancelled', 'canceled', 'void', 'voided', 'processing', 'in_progress', 'pending',
    'queued', 'waiting', 'draft', 'error', 'failed', 'invalid', 'not_issued', 'rejeitada', 'rejeitado', 'denegada',
    'denegado', 'recusada', 'recusado', 'cancelada', 'cancelado', 'inutilizada', 'inutilizado', 'processando',
    'em_processamento', 'em_andamento', 'em_digitacao', 'pendente', 'na_fila', 'aguardando', 'rascunho', 'erro',
    'falha', 'invalida', 'nao_emitida', 'nao_emitido', 'em processamento', 'em andamento', 'na fila', 'not issued',
    'in progress');

-- Those orders. They are looked up in their own index: rows of orders are wide. Others ask for them by NOT EXISTS, because NOT IN
-- compares each order with all of them.
CREATE VIEW v_orders_refunded AS
SELECT store, order_number, status
FROM orders INDEXED BY orders_refunded
WHERE gone_at IS NULL AND payment_status = 'refunded'
  AND status IN ('paid', 'preparing', 'ready_to_ship', 'ready_for_pickup', 'awaiting_availability', 'awaiting_restock',
                 'production_started', 'awaiting_materials', 'production_in_progress', 'production_finished');

-- Orders that the ERP has not taken: paid, not over, and not refunded. The inner questions are answered from indexes alone.
DROP VIEW v_orders_new;
CREATE VIEW v_orders_new AS
SELECT o.store, o.order_number, o.status, o.status_label, o.workflow_type, o.type, o.channel, o.delivery_method,
       o.customer_id, o.customer_name, o.customer_city, o.customer_state, o.total_products, o.total_shipping,
       o.total_discounts, o.total_order, o.items_count, o.lines_count, o.payment_method, o.payment_status, o.notes,
       o.ship_by, o.created_at, o.updated_at, o.mirrored_at
FROM orders o
WHERE (o.store, o.order_number) IN (
    SELECT i.store, i.order_number FROM orders i
    WHERE i.gone_at IS NULL AND COALESCE(i.status, '') NOT IN
          ('', 'waiting_payment', 'awaiting_campaign_conclusion', 'cancelled', 'payment_expired', 'pickup_expired')
      AND NOT EXISTS (SELECT 1 FROM erp_orders e WHERE e.store = i.store AND e.order_number = i.order_number)
      AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = i.store AND r.order_number = i.order_number));

-- Orders that still want something. A refunded one wants its cancellation, and no dispatch.
DROP VIEW v_orders_open;
CREATE VIEW v_orders_open AS
SELECT store, order_number, status, workflow_type, channel, delivery_method, customer_name, total_order, payment_status,
       created_at,
       unixepoch('now') - unixepoch(created_at) AS age_seconds,
       min(COALESCE(payment_expires_at, release_due, ship_due), COALESCE(release_due, ship_due, payment_expires_at),
           COALESCE(ship_due, payment_expires_at, release_due)) AS next_deadline,
       status_label, customer_city, customer_state, ship_by
FROM (SELECT o.*,
             -- Once an order is being prepared its release is behind it, and once it has left so is its dispatch.
             CASE WHEN o.status IN ('waiting_payment', 'paid', 'awaiting_campaign_conclusion')
                   AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = o.store AND r.order_number = o.order_number)
                  THEN o.release_at END AS release_due,
             CASE WHEN COALESCE(o.status, '') NOT IN ('waiting_payment', 'shipped', 'ready_for_pickup', 'picked_up', 'pickup_expired')
                   AND NOT EXISTS (SELECT 1 FROM v_orders_refunded r WHERE r.store = o.store AND r.order_number = o.order_number)
                  THEN o.ship_by END AS ship_due
      FROM orders o
      WHERE o.gone_at IS NULL
        AND COALESCE(o.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')) AS waiting;

-- One row for each moment that passes by itself. Those that have passed stay until what they are about has moved on.
DROP VIEW v_deadlines;
CREATE VIEW v_deadlines AS
SELECT store, 'order' AS entity, order_number AS key, 'payment_expires_at' AS kind, payment_expires_at AS at, status
FROM orders
WHERE gone_at IS NULL AND payment_expires_at IS NOT NULL
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
UNION ALL
SELECT store, 'order', order_number, 'release_at', release_at, status
FROM orders
WHERE gone_at IS NULL AND release_at IS NOT NULL
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
SELECT store, 'media_image', id, 'cleanup_at', strftime('%Y-%m-%dT%H:%M:%S', created_at, '+72 hours') || substr(created_at, 20), 'loose'
FROM media_images
WHERE gone_at IS NULL AND NOT in_use AND created_at IS NOT NULL;

-- A superseded row is wanted no more: the ERP had its tier deleted.
DROP VIEW v_drift;
CREATE VIEW v_drift AS
SELECT e.store, 'stock' AS entity, e.sku || '/' || e.location_id AS key, CAST(e.quantity AS TEXT) AS wanted,
       CAST(CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END AS TEXT) AS mirrored, e.state, e.updated_at,
       e.quantity AS wanted_number,
       CAST(CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END AS NUMERIC) AS mirrored_number
FROM erp_stock e
LEFT JOIN product_stock s ON s.store = e.store AND s.sku = e.sku AND s.location_id = e.location_id AND s.gone_at IS NULL
WHERE e.state <> 'superseded'
  AND (s.sku IS NULL
       OR e.quantity <> CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END
       OR (CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END) IS NULL)
UNION ALL
SELECT e.store, 'price', e.sku || '/' || e.min_quantity, CAST(e.price AS TEXT), CAST(t.value AS TEXT), e.state, e.updated_at,
       e.price, t.value
FROM erp_prices e
LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL
LEFT JOIN product_prices t ON t.store = e.store AND t.product_id = p.id AND t.min_quantity = e.min_quantity AND t.gone_at IS NULL
WHERE e.state <> 'superseded' AND e.price IS NOT NULL AND (t.value IS NULL OR e.price <> t.value)
UNION ALL
SELECT e.store, 'price', e.sku || '/' || e.min_quantity, e.discount_percent || ' %', t.discount_percent || ' %', e.state, e.updated_at,
       e.discount_percent, t.discount_percent
FROM erp_prices e
LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL
LEFT JOIN product_prices t ON t.store = e.store AND t.product_id = p.id AND t.min_quantity = e.min_quantity AND t.gone_at IS NULL
WHERE e.state <> 'superseded' AND e.price IS NULL
  AND (t.product_id IS NULL OR t.discount_percent IS NULL OR e.discount_percent <> t.discount_percent);
