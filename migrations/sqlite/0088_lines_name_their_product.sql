-- The marketplace promises a line's product, not its SKU: lines without a SKU have that of their product.
CREATE INDEX order_items_unnamed ON order_items (store, product_id) WHERE sku IS NULL;
UPDATE order_items SET sku = (SELECT p.sku FROM products AS p WHERE p.store = order_items.store AND p.id = order_items.product_id)
WHERE sku IS NULL AND product_id IS NOT NULL;
