-- SKUs that two products share follow from the products: the index has all that the question reads of them.
CREATE INDEX products_live_by_sku ON products (store, sku, id) WHERE gone_at IS NULL AND sku <> '';
DELETE FROM sync_failures WHERE resource = 'products' AND code = 'shared_sku';

-- A product's turn in the rotation, where that is not its last reading: a reading that failed, or one that is to come at once.
ALTER TABLE product_reads ADD COLUMN turn_at TEXT;
DROP INDEX product_reads_by_age;
CREATE INDEX product_reads_by_turn ON product_reads (store, COALESCE(turn_at, read_at), id);

-- The errors, with the products that share a SKU.
DROP VIEW v_errors;
CREATE VIEW v_errors AS
SELECT store,
       CASE resource WHEN 'orders' THEN 'order' WHEN 'products' THEN 'product' ELSE resource END AS entity,
       key, code, error, hint, at, CAST(said AS TEXT) AS said
FROM sync_failures WHERE NOT (resource = 'products' AND code = 'shared_sku')
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
       CAST(COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'campaign_price'), 'campaign_price') AS TEXT),
       CAST(COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'campaign_price'), '') AS TEXT),
       mirrored_at, '{"id":"store-campaign-price"}'
FROM v_campaign_drift
UNION ALL
-- A price of zero sells for nothing, whoever made it so.
SELECT t.store, 'price', p.sku || '/' || t.min_quantity, 'price_zero',
       CAST(COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'price_zero'), 'price_zero') AS TEXT),
       CAST(COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'price_zero'), '') AS TEXT),
       t.mirrored_at, '{"id":"store-price-zero"}'
FROM product_prices t
JOIN products p ON p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL
JOIN erp_prices e ON e.store = t.store AND e.sku = p.sku AND e.min_quantity = t.min_quantity
WHERE t.gone_at IS NULL AND t.value = 0 AND e.error_code IS NULL
UNION ALL
-- Two products of one SKU: nobody knows which of them an intent means. Each row names its own product and another one.
SELECT store, 'product', id, 'shared_sku',
       CAST(replace(replace(replace(COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'shared_sku'), 'shared_sku'),
           '{one}', one), '{other}', other), '{sku}', sku) AS TEXT),
       CAST(COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'shared_sku'), '') AS TEXT),
       CAST(at AS TEXT),
       CAST(json_object('id', 'run-shared-sku', 'args', json_object('sku', json_object('word', sku),
                        'one', json_object('word', one), 'other', json_object('word', other))) AS TEXT)
FROM (
    SELECT p.store, p.id, p.sku, s.one, CASE WHEN p.id = s.one THEN s.other ELSE p.id END AS other,
           (SELECT max(o.mirrored_at) FROM products o WHERE o.store = p.store AND o.sku = p.sku AND o.gone_at IS NULL) AS at
    FROM (SELECT store, sku, min(id) AS one, max(id) AS other FROM products INDEXED BY products_live_by_sku
          WHERE gone_at IS NULL AND sku <> '' GROUP BY store, sku HAVING count(*) > 1) AS s
    CROSS JOIN products p INDEXED BY products_live_by_sku
        ON p.store = s.store AND p.sku = s.sku AND p.sku <> '' AND p.gone_at IS NULL
) AS shared;
