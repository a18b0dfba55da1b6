-- The marketplace promises a line's product, not its SKU: lines without a SKU have that of their product. Whoever follows the
-- feed is told of their orders.
INSERT INTO changes (store, entity, key, op, at)
SELECT DISTINCT i.store, 'order', i.order_number, 'update', strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
FROM order_items AS i JOIN products AS p ON p.store = i.store AND p.id = i.product_id
WHERE i.sku IS NULL AND p.sku IS NOT NULL;
UPDATE order_items SET sku = (SELECT p.sku FROM products AS p WHERE p.store = order_items.store AND p.id = order_items.product_id)
WHERE sku IS NULL AND EXISTS (SELECT 1 FROM products AS p WHERE p.store = order_items.store AND p.id = order_items.product_id
    AND p.sku IS NOT NULL);
CREATE INDEX order_items_unnamed ON order_items (store, product_id) WHERE sku IS NULL;
