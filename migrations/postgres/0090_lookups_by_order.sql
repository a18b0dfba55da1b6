-- An erasure asks for the conversations and the commands of a few orders at a time, and must not read all of them each time.
CREATE INDEX conversations_by_order ON conversations (store, order_number);
CREATE INDEX commands_on_orders ON commands (store, key) WHERE kind IN ('order.status', 'order.notes');
