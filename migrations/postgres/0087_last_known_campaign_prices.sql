-- Enrolled listings whose frozen price no longer fits what they cost. What a listing costs is told where it could still join a campaign.
-- Today's price is that of an offer that lasts; else the last one told since the listing joined; else that of its joining here.
CREATE OR REPLACE VIEW v_campaign_drift AS
SELECT store, campaign_id, item_id, title, authorized_discount_price, price_now, price_joined, expected, ends_at, mirrored_at
FROM (
    SELECT store, campaign_id, item_id, title, ends_at, mirrored_at, authorized_discount_price, price_now, price_joined,
           ROUND(CASE discount_type WHEN 'percentage' THEN price_now * (100 - discount_value) / 100
                                    WHEN 'fixed' THEN price_now - discount_value END, 2) AS expected
    FROM (
        SELECT l.store, l.campaign_id, l.item_id, l.title, c.ends_at, l.mirrored_at, c.discount_type,
               c.discount_value AS discount_value,
               l.authorized_discount_price AS authorized_discount_price,
               j.price AS price_joined,
               COALESCE((SELECT o.price FROM campaign_listings AS o WHERE o.store = l.store AND o.item_id = l.item_id
                              AND o.price IS NOT NULL AND o.gone_at IS NULL ORDER BY o.mirrored_at DESC LIMIT 1),
                        (SELECT o.price FROM campaign_listings AS o WHERE o.store = l.store AND o.item_id = l.item_id
                              AND o.price IS NOT NULL AND o.gone_at > COALESCE(j.joined_at, l.mirrored_at)
                              ORDER BY o.gone_at DESC LIMIT 1),
                        j.price) AS price_now
        FROM campaign_listings AS l
        JOIN campaigns AS c ON c.store = l.store AND c.id = l.campaign_id AND c.gone_at IS NULL
        LEFT JOIN campaign_prices AS j ON j.store = l.store AND j.campaign_id = l.campaign_id AND j.item_id = l.item_id
        WHERE l.enrolled AND l.gone_at IS NULL AND COALESCE(c.status, '') NOT IN ('finished', 'cancelled')
    ) AS priced
) AS enrolled
WHERE authorized_discount_price IS NOT NULL
  AND (authorized_discount_price >= price_now OR ABS(authorized_discount_price - expected) > 0.01);

-- Once more, as it is: a schema that is mended is made in the order of its migrations, and this view reads the one above.
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
