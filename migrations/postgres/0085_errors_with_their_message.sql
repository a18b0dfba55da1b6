-- The errors, with the message of each, which can be put into another language than the installation's.
CREATE OR REPLACE VIEW v_errors AS
SELECT store,
       CASE resource WHEN 'orders' THEN 'order' WHEN 'products' THEN 'product' ELSE resource END AS entity,
       key, code, error, hint, at, CAST(said AS TEXT) AS said
FROM sync_failures
UNION ALL
SELECT store, 'stock', sku || '/' || location_id, error_code, error, hint, updated_at, CAST(said AS TEXT)
FROM erp_stock WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'price', sku || '/' || min_quantity, error_code, error, hint, updated_at, CAST(said AS TEXT)
FROM erp_prices WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'command', CAST(id AS TEXT), error_code, error, hint, updated_at, CAST(said AS TEXT)
FROM commands WHERE error_code IS NOT NULL AND state IN ('done', 'failed', 'held', 'doubtful')
UNION ALL
SELECT store, 'campaign_listing', campaign_id || '/' || item_id, 'campaign_price',
       COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'campaign_price'), 'campaign_price'),
       COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'campaign_price'), ''),
       mirrored_at, '{"id":"store-campaign-price"}'
FROM v_campaign_drift
UNION ALL
-- A price of zero sells for nothing, whoever made it so.
SELECT t.store, 'price', p.sku || '/' || t.min_quantity, 'price_zero',
       COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'price_zero'), 'price_zero'),
       COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'price_zero'), ''),
       t.mirrored_at, '{"id":"store-price-zero"}'
FROM product_prices t
JOIN products p ON p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL
JOIN erp_prices e ON e.store = t.store AND e.sku = p.sku AND e.min_quantity = t.min_quantity
WHERE t.gone_at IS NULL AND t.value = 0 AND e.error_code IS NULL;
