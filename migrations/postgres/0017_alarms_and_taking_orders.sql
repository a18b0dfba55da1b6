-- What is wrong, told where everybody can read it; and what an ERP needs to take orders.

-- The processes that run the service. `beat_at` is by the database's clock, which is the one that all who look here share.
CREATE TABLE services (
    instance   TEXT NOT NULL PRIMARY KEY,
    process    BIGINT NOT NULL,
    version    TEXT NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    beat_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    -- ok, warning, failing or unknown
    state      TEXT NOT NULL
);

-- What each of them finds wrong.
CREATE TABLE alarms (
    instance TEXT NOT NULL,
    -- '' where it concerns all.
    store    TEXT NOT NULL,
    code     TEXT NOT NULL,
    -- Tells two alarms of one code apart.
    cause    TEXT NOT NULL,
    -- warning or failing
    severity TEXT NOT NULL,
    count    BIGINT NOT NULL,
    since    TIMESTAMPTZ,
    text     TEXT NOT NULL,
    next     TEXT NOT NULL,
    PRIMARY KEY (instance, store, code, cause)
);

-- Sentences that views say where no service can, in the installation's language: the service writes them at its start.
CREATE TABLE service_words (
    code TEXT NOT NULL PRIMARY KEY,
    text TEXT NOT NULL,
    next TEXT NOT NULL
);

-- One row for each cause, however many instances tell it; where no instance has given a sign of life for a minute, that.
CREATE VIEW v_alarms AS
SELECT store, code, severity, count, since, text, next
FROM (SELECT NULLIF(a.store, '') AS store, a.code, a.severity, max(a.count) OVER same AS count,
             min(a.since) OVER same AS since, a.text, a.next,
             row_number() OVER (PARTITION BY a.store, a.code, a.cause ORDER BY a.severity, a.since, a.instance) AS nth
      FROM alarms a
      JOIN services s ON s.instance = a.instance
      WHERE s.beat_at BETWEEN now() - interval '60 seconds' AND now() + interval '60 seconds'
      WINDOW same AS (PARTITION BY a.store, a.code, a.cause)) AS told
WHERE nth = 1
UNION ALL
SELECT NULL, 'service_stopped', 'failing', 1, (SELECT max(s.beat_at) FROM services s),
       COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'service_stopped'), 'service_stopped'),
       COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'service_stopped'), '')
WHERE NOT EXISTS (SELECT 1 FROM services s WHERE s.beat_at BETWEEN now() - interval '60 seconds' AND now() + interval '60 seconds');

-- The orders that the ERP has taken: it writes a row for each.
CREATE TABLE erp_orders (
    store        TEXT NOT NULL,
    order_number TEXT NOT NULL,
    -- The order's number in the ERP.
    erp_id       TEXT,
    note         TEXT,
    taken_at     TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (store, order_number)
);

-- Orders that the ERP has not taken: paid, and not over. What is to be paid, waits for its campaign or ends without a sale is none of
-- these. The inner question is answered from an index alone, however many orders there are.
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
      AND NOT EXISTS (SELECT 1 FROM erp_orders e WHERE e.store = i.store AND e.order_number = i.order_number));

-- What the ERP wants and what it waits for.
CREATE VIEW v_waiting AS
SELECT store, 'stock' AS entity, sku || '/' || location_id AS key, error_code AS code, error, hint, updated_at AS since
FROM erp_stock WHERE state IN ('new', 'waiting', 'sending') AND state = 'waiting'
UNION ALL
SELECT store, 'price', sku || '/' || min_quantity, error_code, error, hint, updated_at
FROM erp_prices WHERE state IN ('new', 'waiting', 'sending') AND state = 'waiting'
UNION ALL
SELECT store, 'command', CAST(id AS TEXT), error_code, error, hint, COALESCE(updated_at, created_at)
FROM commands WHERE state IN ('new', 'waiting', 'sending') AND state = 'waiting';

-- Orders that still want something, with their age and the next moment at which something happens to them by itself.
CREATE OR REPLACE VIEW v_orders_open AS
SELECT store, order_number, status, workflow_type, channel, delivery_method, customer_name, total_order, payment_status,
       created_at,
       CAST(floor(extract(epoch FROM now())) - floor(extract(epoch FROM created_at)) AS BIGINT) AS age_seconds,
       LEAST(payment_expires_at, release_due, ship_due) AS next_deadline,
       status_label, customer_city, customer_state, ship_by
FROM (SELECT o.*,
             -- Once an order is being prepared its release is behind it, and once it has left so is its dispatch.
             CASE WHEN o.status IN ('waiting_payment', 'paid', 'awaiting_campaign_conclusion') THEN o.release_at END
             AS release_due,
             CASE WHEN COALESCE(o.status, '') NOT IN ('waiting_payment', 'shipped', 'ready_for_pickup', 'picked_up', 'pickup_expired')
                  THEN o.ship_by END AS ship_due
      FROM orders o
      WHERE o.gone_at IS NULL
        AND COALESCE(o.status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')) AS waiting;

-- One row for each moment that passes by itself. Those that have passed stay until what they are about has moved on.
CREATE OR REPLACE VIEW v_deadlines AS
SELECT store, 'order' AS entity, order_number AS key, 'payment_expires_at' AS kind, payment_expires_at AS at, status
FROM orders
WHERE gone_at IS NULL AND payment_expires_at IS NOT NULL
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
UNION ALL
SELECT store, 'order', order_number, 'release_at', release_at, status
FROM orders
WHERE gone_at IS NULL AND release_at IS NOT NULL
  AND status IN ('waiting_payment', 'paid', 'awaiting_campaign_conclusion')
UNION ALL
-- Dispatch, until the goods have left.
SELECT store, 'order', order_number, 'ship_by', ship_by, status
FROM orders
WHERE gone_at IS NULL AND ship_by IS NOT NULL
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
  AND COALESCE(status, '') NOT IN ('waiting_payment', 'shipped', 'ready_for_pickup', 'picked_up', 'pickup_expired')
UNION ALL
-- Fiscal, until a document is there or the goods have left.
SELECT store, 'order', order_number, 'invoice_by', invoice_by, status
FROM orders
WHERE gone_at IS NULL AND invoice_by IS NOT NULL
  AND COALESCE(status, '') NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired')
  AND COALESCE(status, '') NOT IN ('waiting_payment', 'shipped', 'ready_for_pickup', 'picked_up', 'pickup_expired')
  AND NOT EXISTS (SELECT 1 FROM order_invoices i WHERE i.store = orders.store AND i.order_number = orders.order_number
                  AND i.is_current AND i.gone_at IS NULL)
UNION ALL
-- Picking, until everything is ready.
SELECT store, 'order', order_number, 'pick_by', pick_by, status
FROM orders
WHERE gone_at IS NULL AND pick_by IS NOT NULL
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

-- Everything that failed and is not mended, or that somebody should look at: what could not be mirrored under the names of the change feed, what the ERP wanted under
-- stock, price and command.
CREATE OR REPLACE VIEW v_errors AS
SELECT store,
       CASE resource WHEN 'orders' THEN 'order' WHEN 'products' THEN 'product' ELSE resource END AS entity,
       key, code, error, hint, at
FROM sync_failures
UNION ALL
SELECT store, 'stock', sku || '/' || location_id, error_code, error, hint, updated_at
FROM erp_stock WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'price', sku || '/' || min_quantity, error_code, error, hint, updated_at
FROM erp_prices WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'command', CAST(id AS TEXT), error_code, error, hint, updated_at
FROM commands WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'campaign_listing', campaign_id || '/' || item_id, 'campaign_price',
       COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'campaign_price'), 'campaign_price'),
       COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'campaign_price'), ''),
       mirrored_at
FROM v_campaign_drift
UNION ALL
-- A price of zero sells for nothing, whoever made it so.
SELECT t.store, 'price', p.sku || '/' || t.min_quantity, 'price_zero',
       COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'price_zero'), 'price_zero'),
       COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'price_zero'), ''),
       t.mirrored_at
FROM product_prices t
JOIN products p ON p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL
JOIN erp_prices e ON e.store = t.store AND e.sku = p.sku AND e.min_quantity = t.min_quantity
WHERE t.gone_at IS NULL AND t.value = 0 AND e.error_code IS NULL;
