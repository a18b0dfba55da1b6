-- The rows that an audit found to differ, as far as it names them: a difference is closed when the mirror has written or read
-- the row again since. `part` is the sub-resource of an order (the order itself: `order`), the item of a campaign's listing,
-- or empty.
CREATE TABLE audit_differences (
    store     TEXT NOT NULL,
    resource  TEXT NOT NULL,
    at        TEXT NOT NULL,
    key       TEXT NOT NULL,
    part      TEXT NOT NULL,
    is_edited INTEGER NOT NULL,
    PRIMARY KEY (store, resource, at, key, part)
) WITHOUT ROWID;

-- Audits of earlier builds name no row: nothing could tell which of their differences are corrected.
DELETE FROM audits WHERE differing > 0;

-- The errors, with the prices of zero that no row of the ERP is for.
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
-- A price of zero sells for nothing, whoever made it so: where the ERP has a row for it, and where the product is for sale.
-- A row that shows another error says it itself; one that was given up hides its zero only if that is what was given up.
-- Only the index of such prices is read, in a shop of a million too.
SELECT t.store, 'price', COALESCE(NULLIF(p.sku, ''), p.id) || '/' || t.min_quantity, 'price_zero',
       CAST(COALESCE((SELECT w.text FROM service_words w WHERE w.code = 'price_zero'), 'price_zero') AS TEXT),
       CAST(COALESCE((SELECT w.next FROM service_words w WHERE w.code = 'price_zero'), '') AS TEXT),
       t.mirrored_at, '{"id":"store-price-zero"}'
FROM product_prices t INDEXED BY product_prices_of_zero
CROSS JOIN products p ON p.store = t.store AND p.id = t.product_id AND p.gone_at IS NULL
LEFT JOIN erp_prices e ON e.store = t.store AND e.sku = p.sku AND e.min_quantity = t.min_quantity
WHERE t.gone_at IS NULL AND t.value = 0
  AND (e.error_code IS NULL OR (e.state NOT IN ('done', 'failed', 'held', 'doubtful') AND e.error_code <> 'price_zero'))
  AND (e.sku IS NOT NULL OR p.is_available_for_sale IS NOT FALSE)
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
    SELECT s.store, p.id, s.sku, s.one, CASE WHEN p.id = s.one THEN s.other ELSE p.id END AS other, s.at
    -- SQLite does not merge what is grouped into the outer question: the products of a SKU are read here once, and not
    -- for each of them.
    FROM (SELECT n.store, n.sku, min(o.id) AS one, max(o.id) AS other, max(o.mirrored_at) AS at
          FROM shared_skus n
          CROSS JOIN products o INDEXED BY products_live_by_sku
              ON o.store = n.store AND o.sku = n.sku AND o.sku <> '' AND o.gone_at IS NULL
          GROUP BY n.store, n.sku HAVING count(*) > 1) AS s
    CROSS JOIN products p INDEXED BY products_live_by_sku
        ON p.store = s.store AND p.sku = s.sku AND p.sku <> '' AND p.gone_at IS NULL
) AS shared;
