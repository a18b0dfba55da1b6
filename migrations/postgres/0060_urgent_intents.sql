-- What is urgent among the ERP's open rows has small indexes of its own, so that finding it costs nothing for the others.

-- Levels that go to zero.
CREATE INDEX erp_stock_zeroes ON erp_stock (store, quantity, sku, location_id)
    WHERE state IN ('new', 'waiting', 'sending') AND quantity = 0;
-- Open levels in the order in which they are read, so that no plan reads the others.
CREATE INDEX erp_stock_open_in_order ON erp_stock (store, sku, location_id) WHERE state IN ('new', 'waiting', 'sending');
-- Statuses of orders that do not wait for anything.
CREATE INDEX commands_statuses ON commands (store, id) WHERE kind = 'order.status' AND state IN ('new', 'sending');
-- Whether another command on the same key is open. A key may be longer than an index takes.
CREATE INDEX commands_open_by_key ON commands (store, substr(key, 1, 100)) WHERE state IN ('new', 'waiting', 'sending');
-- Rows that may have a key or quantity of more than 800 bytes.
CREATE INDEX erp_stock_long ON erp_stock (store) WHERE state IN ('new', 'waiting', 'sending')
    AND (length(sku) > 200 OR length(location_id) > 200 OR length(CAST(quantity AS TEXT)) > 200);
CREATE INDEX erp_prices_long ON erp_prices (store) WHERE state IN ('new', 'waiting', 'sending') AND length(sku) > 200;

-- New indexes come first: from the first DROP INDEX on nobody reads the table until the end.
DROP INDEX erp_stock_open;
ALTER INDEX erp_stock_open_in_order RENAME TO erp_stock_open;
