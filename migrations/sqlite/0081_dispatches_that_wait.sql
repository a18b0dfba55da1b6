-- Statuses of orders, waiting or not: a level looks for those that dispatch its goods.

CREATE INDEX commands_open_statuses ON commands (store, id)
    WHERE kind = 'order.status' AND state IN ('new', 'waiting', 'sending');
