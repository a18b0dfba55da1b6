-- Enrolled listings whose frozen price no longer fits what they cost. What a listing costs is told where it could still join a campaign.
-- Today's price is that of an offer that lasts; else the last one told since the listing joined; else that of its joining here.
DROP VIEW v_campaign_drift;
CREATE VIEW v_campaign_drift AS
SELECT store, campaign_id, item_id, title, authorized_discount_price, price_now, price_joined, expected, ends_at, mirrored_at
FROM (
    SELECT store, campaign_id, item_id, title, ends_at, mirrored_at, authorized_discount_price, price_now, price_joined,
           ROUND(CASE discount_type WHEN 'percentage' THEN price_now * (100 - discount_value) / 100
                                    WHEN 'fixed' THEN price_now - discount_value END, 2) AS expected
    FROM (
        SELECT l.store, l.campaign_id, l.item_id, l.title, c.ends_at, l.mirrored_at, c.discount_type,
               CAST(c.discount_value AS NUMERIC) AS discount_value,
               CAST(l.authorized_discount_price AS NUMERIC) AS authorized_discount_price,
               CAST(j.price AS NUMERIC) AS price_joined,
               COALESCE(CAST((SELECT o.price FROM campaign_listings AS o WHERE o.store = l.store AND o.item_id = l.item_id
                              AND o.price IS NOT NULL AND o.gone_at IS NULL ORDER BY o.mirrored_at DESC LIMIT 1) AS NUMERIC),
                        CAST((SELECT o.price FROM campaign_listings AS o WHERE o.store = l.store AND o.item_id = l.item_id
                              AND o.price IS NOT NULL AND o.gone_at > COALESCE(j.joined_at, l.mirrored_at)
                              ORDER BY o.gone_at DESC LIMIT 1) AS NUMERIC),
                        CAST(j.price AS NUMERIC)) AS price_now
        FROM campaign_listings AS l
        JOIN campaigns AS c ON c.store = l.store AND c.id = l.campaign_id AND c.gone_at IS NULL
        LEFT JOIN campaign_prices AS j ON j.store = l.store AND j.campaign_id = l.campaign_id AND j.item_id = l.item_id
        WHERE l.enrolled = 1 AND l.gone_at IS NULL AND COALESCE(c.status, '') NOT IN ('finished', 'cancelled')
    ) AS priced
) AS enrolled
WHERE authorized_discount_price IS NOT NULL
  AND (authorized_discount_price >= price_now OR ABS(authorized_discount_price - expected) > 0.01);
