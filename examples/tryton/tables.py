"""espelho's tables as an ERP uses them: plain SQL on SQLite or PostgreSQL, and nothing else of espelho."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

Row = dict[str, Any]

# A claim without a sale that is older than this belongs to a connector that died.
CLAIM_TIMEOUT = timedelta(seconds=60)
# Orders in these statuses send no goods any more.
CANCELLED = ("cancelled", "payment_expired", "pickup_expired")
FINISHED = (*CANCELLED, "shipped", "picked_up", "delivered", "completed")


def decimal(value: Any) -> Decimal:
    """Reads an amount or a quantity: SQLite's driver gives a float, whose shortest text is the number."""
    return Decimal(str(value))


def written(at: datetime) -> str:
    """Writes a time as the tables have it: on SQLite text order is time order."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def marks(values: Iterable[Any]) -> str:
    """Returns one placeholder for each value of an IN list."""
    return ", ".join("?" for _ in values)


class Tables:
    """One store's rows in the database that espelho keeps."""

    def __init__(self, url: str, store: str) -> None:
        """Opens `sqlite:PATH` or `postgres://…`."""
        self.store = store
        self.is_sqlite = url.startswith("sqlite:")
        if self.is_sqlite:
            self.connection: Any = sqlite3.connect(url.removeprefix("sqlite:"), timeout=30, isolation_level=None)
            self.connection.row_factory = sqlite3.Row
        else:
            import psycopg
            from psycopg.rows import dict_row

            self.connection = psycopg.connect(url, autocommit=True, row_factory=dict_row)

    def execute(self, sql: str, *values: Any) -> Any:
        """Runs one statement; `?` stands for a value on both databases."""
        return self.connection.execute(sql if self.is_sqlite else sql.replace("?", "%s"), values)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """Returns the rows of a query."""
        return [dict(row) for row in self.execute(sql, *values)]

    def changes_one(self, sql: str, *values: Any) -> bool:
        """Runs a statement; True where it changed a row."""
        return bool(self.execute(sql, *values).rowcount == 1)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keeps all statements of a block, or none of them."""
        self.connection.execute("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    # Orders to take

    def new_orders(self, limit: int) -> list[Row]:
        """Returns paid orders that nobody has taken, the oldest first.

        A collective order that was paid a moment ago is about to wait for its campaign: it comes again when that ends.
        """
        return self.rows(
            "SELECT * FROM v_orders_new WHERE store = ? AND NOT (workflow_type = 'collective' AND status = 'paid') "
            "ORDER BY created_at, order_number LIMIT ?", self.store, limit)

    def order(self, number: str) -> Row:
        """Returns one order."""
        return self.rows("SELECT * FROM orders WHERE store = ? AND order_number = ?", self.store, number)[0]

    def lines(self, number: str) -> list[Row]:
        """Returns the lines of an order."""
        return self.rows(
            "SELECT sku, name, quantity, unit_price FROM order_items "
            "WHERE store = ? AND order_number = ? AND gone_at IS NULL ORDER BY id", self.store, number)

    def claim(self, number: str, connector: str) -> bool:
        """Takes an order for this connector; False where another one was faster."""
        return self.changes_one(
            "INSERT INTO erp_orders (store, order_number, note) VALUES (?, ?, ?) "
            "ON CONFLICT (store, order_number) DO NOTHING", self.store, number, connector)

    def abandoned_claims(self) -> list[Row]:
        """Returns claims of connectors that died before they made the sale."""
        before = written(datetime.now(UTC) - CLAIM_TIMEOUT)
        return self.rows(
            "SELECT order_number, taken_at FROM erp_orders WHERE store = ? AND erp_id IS NULL AND taken_at < ?",
            self.store, before)

    def take_over(self, claim: Row, connector: str) -> bool:
        """Takes an abandoned claim; False where another connector was faster."""
        return self.changes_one(
            "UPDATE erp_orders SET note = ?, taken_at = ? "
            "WHERE store = ? AND order_number = ? AND erp_id IS NULL AND taken_at = ?",
            connector, written(datetime.now(UTC)), self.store, claim["order_number"], claim["taken_at"])

    def taken(self, number: str, erp_id: str) -> None:
        """Writes the sale's number to the claim: the order is taken."""
        self.execute("UPDATE erp_orders SET erp_id = ? WHERE store = ? AND order_number = ?",
                     erp_id, self.store, number)

    # Orders that were taken

    def orders_under_way(self) -> list[Row]:
        """Returns taken orders whose goods have not left yet, as the marketplace has it."""
        return self.rows(
            "SELECT o.order_number, o.workflow_type FROM erp_orders e JOIN orders o USING (store, order_number) "
            f"WHERE e.store = ? AND e.erp_id IS NOT NULL AND o.status NOT IN ({marks(FINISHED)})",
            self.store, *FINISHED)

    def cancellations(self) -> list[str]:
        """Returns taken orders that the marketplace cancelled, and whose sale is still open."""
        rows = self.rows(
            "SELECT o.order_number FROM erp_orders e JOIN orders o USING (store, order_number) "
            f"WHERE e.store = ? AND e.erp_id IS NOT NULL AND o.status IN ({marks(CANCELLED)}) "
            "AND COALESCE(e.note, '') <> 'cancelled'", self.store, *CANCELLED)
        return [row["order_number"] for row in rows]

    def cancelled(self, number: str) -> None:
        """Notes that the sale of a cancelled order is closed."""
        self.execute("UPDATE erp_orders SET note = 'cancelled' WHERE store = ? AND order_number = ?",
                     self.store, number)

    def ask_status(self, number: str, status: str, data: dict[str, str]) -> bool:
        """Asks for a status of an order, once; a command that failed is corrected where `data` is another now."""
        wish = json.dumps({"status": status, "data": data})
        with self.transaction():
            # The row of the order is the lock: two connectors never ask for the same thing.
            self.execute("UPDATE erp_orders SET note = note WHERE store = ? AND order_number = ?", self.store, number)
            same = "store = ? AND kind = 'order.status' AND key = ? AND data ->> 'status' = ?"
            asked = self.rows(f"SELECT id, state, data FROM commands WHERE {same}", self.store, number, status)
            if not asked:
                self.execute("INSERT INTO commands (store, kind, key, data) VALUES (?, 'order.status', ?, ?)",
                             self.store, number, wish)
            elif asked[-1]["state"] == "failed" and parsed(asked[-1]["data"]) != parsed(wish):
                self.execute("UPDATE commands SET data = ? WHERE id = ?", wish, asked[-1]["id"])
            else:
                return False
        return True

    def statuses_asked(self) -> set[tuple[str, str]]:
        """Returns order and status of every command that is done or on its way."""
        rows = self.rows("SELECT key, data FROM commands WHERE store = ? AND kind = 'order.status' "
                         "AND state <> 'failed'", self.store)
        return {(row["key"], parsed(row["data"])["status"]) for row in rows}

    def goods_not_dispatched(self, numbers: list[str]) -> dict[str, Decimal]:
        """Returns by SKU what the marketplace still counts on the shelf for these orders."""
        total: dict[str, Decimal] = {}
        for number in numbers:
            rows = self.rows(
                "SELECT sku, quantity FROM order_items WHERE store = ? AND order_number = ? AND gone_at IS NULL "
                "AND stock_status NOT IN ('committed', 'released', 'not_applicable')", self.store, number)
            for row in rows:
                total[row["sku"]] = total.get(row["sku"], Decimal(0)) + decimal(row["quantity"])
        return total

    # Stock and prices

    def send_levels(self, levels: dict[str, Decimal], location: str) -> int:
        """Writes the levels that are not written yet, all in one transaction; returns how many."""
        rows = self.rows("SELECT sku, quantity FROM erp_stock WHERE store = ? AND location_id = ?",
                         self.store, location)
        return self._send(levels, {row["sku"]: decimal(row["quantity"]) for row in rows},
                          "INSERT INTO erp_stock (quantity, store, location_id, sku) VALUES (?, ?, ?, ?) "
                          "ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity", location)

    def send_prices(self, prices: dict[str, Decimal]) -> int:
        """Writes the base prices that are not written yet, all in one transaction; returns how many."""
        rows = self.rows("SELECT sku, price FROM erp_prices WHERE store = ? AND min_quantity = 1", self.store)
        return self._send(prices, {row["sku"]: decimal(row["price"]) for row in rows},
                          "INSERT INTO erp_prices (price, store, min_quantity, sku) VALUES (?, ?, ?, ?) "
                          "ON CONFLICT (store, sku, min_quantity) DO UPDATE SET price = excluded.price", 1)

    def _send(self, wanted: dict[str, Decimal], written: dict[str, Decimal], upsert: str, scope: str | int) -> int:
        changed = {sku: value for sku, value in wanted.items() if written.get(sku) != value}
        with self.transaction():
            for sku, value in sorted(changed.items()):
                self.execute(upsert, str(value), self.store, scope, sku)
        return len(changed)

    def errors(self) -> list[Row]:
        """Returns what espelho could not do, with the next step for a person."""
        return self.rows("SELECT entity, key, code, error, hint FROM v_errors WHERE store = ?", self.store)


def parsed(data: Any) -> Any:
    """Reads a JSON column: text on SQLite, an object on PostgreSQL."""
    return json.loads(data) if isinstance(data, str) else data
