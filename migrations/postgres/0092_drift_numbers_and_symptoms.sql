-- The numbers of v_drift beside its words: `wanted` and `mirrored` are texts, because a row may be about a price or about a discount
-- in percent, and as texts they compare letter by letter. The texts stay as they are.
CREATE OR REPLACE VIEW v_drift AS
SELECT e.store, 'stock' AS entity, e.sku || '/' || e.location_id AS key, CAST(e.quantity AS TEXT) AS wanted,
       CAST(CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END AS TEXT) AS mirrored, e.state, e.updated_at,
       e.quantity AS wanted_number,
       CAST(CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END AS NUMERIC) AS mirrored_number
FROM erp_stock e
LEFT JOIN product_stock s ON s.store = e.store AND s.sku = e.sku AND s.location_id = e.location_id AND s.gone_at IS NULL
WHERE s.sku IS NULL
   OR e.quantity <> CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END
   OR (CASE e.basis WHEN 'available' THEN s.available_quantity ELSE s.quantity END) IS NULL
UNION ALL
SELECT e.store, 'price', e.sku || '/' || e.min_quantity, CAST(e.price AS TEXT), CAST(t.value AS TEXT), e.state, e.updated_at,
       e.price, t.value
FROM erp_prices e
LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL
LEFT JOIN product_prices t ON t.store = e.store AND t.product_id = p.id AND t.min_quantity = e.min_quantity AND t.gone_at IS NULL
WHERE e.price IS NOT NULL AND (t.value IS NULL OR e.price <> t.value)
UNION ALL
SELECT e.store, 'price', e.sku || '/' || e.min_quantity, e.discount_percent || ' %', t.discount_percent || ' %', e.state, e.updated_at,
       e.discount_percent, t.discount_percent
FROM erp_prices e
LEFT JOIN products p ON p.store = e.store AND p.sku = e.sku AND p.gone_at IS NULL
LEFT JOIN product_prices t ON t.store = e.store AND t.product_id = p.id AND t.min_quantity = e.min_quantity AND t.gone_at IS NULL
WHERE e.price IS NULL
  AND (t.product_id IS NULL OR t.discount_percent IS NULL OR e.discount_percent <> t.discount_percent);

-- How nothing goes out by a channel, beside the words of a library: a symptom as JSON.
ALTER TABLE notice_channels ADD COLUMN symptom TEXT;
