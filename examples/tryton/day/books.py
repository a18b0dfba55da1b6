"""Compares both books, to the cent and to the piece: what the marketplace's API says, and what Tryton has."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from day.marketplace import Marketplace
from day.play import Day
from tables import decimal
from tryton import DISCOUNT, FREIGHT, ROUNDING, Tryton

# A day with fewer orders proves nothing.
FEWEST_ORDERS = 200
SOLD_OUT_WITHIN = 60
NO_SALE_YET = ("waiting_payment", "awaiting_campaign_conclusion", "payment_expired")
SENT = ("shipped", "picked_up", "delivered", "completed")


@dataclass
class Books:
    """How much was compared, and what differs."""

    compared: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[str, str]] = field(default_factory=list)

    def same(self, what: str, key: str, marketplace: Any, tryton: Any) -> None:
        """Compares one value of both sides."""
        self.compared[what] += 1
        if marketplace != tryton:
            self.differences.append((what, f"{key}: marketplace {marketplace}, Tryton {tryton}"))

    def true(self, what: str, key: str, is_so: bool) -> None:
        """Checks one statement."""
        self.compared[what] += 1
        if not is_so:
            self.differences.append((what, key))

    def table(self) -> str:
        """Returns what was compared, as text."""
        wrong = Counter(what for what, _ in self.differences)
        lines = [f"{'compared':44} {'count':>7} {'differences':>12}"]
        lines += [f"{what:44} {count:7} {wrong[what]:12}" for what, count in self.compared.items()]
        return "\n".join(lines)


@dataclass
class Sale:
    """A sale as Tryton has it."""

    number: str
    state: str
    total: Decimal
    party: str
    city: str
    goods: Counter[tuple[str, Decimal, Decimal]]
    services: dict[str, Decimal]
    moves: list[str]

    @property
    def outcome(self) -> str:
        """`sent`, `closed` (nothing left, nothing will), or `open`."""
        if self.moves and all(state == "done" for state in self.moves):
            return "sent"
        return "closed" if self.state == "cancelled" or set(self.moves) == {"cancelled"} else "open"


def sales_of(tryton: Tryton) -> dict[str, list[Sale]]:
    """Returns all sales, by the order that they are of."""
    sales: dict[str, list[Sale]] = {}
    lines = tryton.read("sale.line", [], ["sale", "product.code", "product.type", "quantity", "unit_price",
                                          "moves.state"])
    for row in tryton.read("sale.sale", [], ["number", "reference", "state", "total_amount", "party.name",
                                             "shipment_address.city"]):
        mine = [line for line in lines if line["sale"] == row["id"]]
        goods = [line for line in mine if line["product."]["type"] == "goods"]
        sales.setdefault(row["reference"], []).append(Sale(
            row["number"], row["state"], row["total_amount"], row["party."]["name"], row["shipment_address."]["city"],
            Counter((line["product."]["code"], decimal(line["quantity"]), line["unit_price"].normalize())
                    for line in goods),
            {line["product."]["code"]: line["unit_price"] for line in mine if line not in goods},
            [move["state"] for line in goods for move in line["moves."]]))
    return sales


def compare_orders(books: Books, market: Marketplace, sales: dict[str, list[Sale]]) -> None:
    """Compares every order of the marketplace with its sale, and finds sales without an order."""
    statuses = market.statuses()
    for number, status in statuses.items():
        mine = sales.get(number, [])
        if status in NO_SALE_YET:
            books.same("orders that are no sale", number, 0, len(mine))
        elif status == "cancelled":
            books.true("cancelled orders: no sale, or a closed one", f"{number}: {[sale.outcome for sale in mine]}",
                       len(mine) <= 1 and all(sale.outcome == "closed" for sale in mine))
        else:
            books.same("orders with one sale", number, 1, len(mine))
            books.same("dispatched orders are shipped sales" if status in SENT else "open orders are open sales",
                       f"{number} ({status})", "sent" if status in SENT else "open",
                       mine[0].outcome if mine else "missing")
        for sale in mine:
            compare_sale(books, market.order(number), sale)
    for number in sales.keys() - statuses.keys():
        books.true("sales without an order", str(number), False)


def compare_sale(books: Books, order: dict[str, Any], sale: Sale) -> None:
    """Compares an order with its sale: amounts, buyer, lines."""
    number, totals = order["order_number"], order["totals"]
    lines = Counter((item["sku"], decimal(item["quantity"]), decimal(item["unit_price"]).normalize())
                    for item in order["items"])
    books.same("totals, to the cent", number, decimal(totals["order"]).normalize(), sale.total.normalize())
    books.same("freight", number, decimal(totals["shipping"]).normalize(),
               sale.services.get(FREIGHT, Decimal(0)).normalize())
    books.same("discounts", number, decimal(totals["discounts"]).normalize(),
               -sale.services.get(DISCOUNT, Decimal(0)).normalize())
    books.true("roundings below a cent for each line", f"{number}: {sale.services.get(ROUNDING)}",
               abs(sale.services.get(ROUNDING, Decimal(0))) <= Decimal("0.01") * len(order["items"]))
    books.same("lines: SKU, quantity, unit price", number, sorted(lines.items()), sorted(sale.goods.items()))
    books.same("buyers: name and city", number, (order["customer"]["name"], order["customer"]["city"]),
               (sale.party, sale.city))


def compare_products(books: Books, market: Marketplace, tryton: Tryton) -> None:
    """Compares stock and prices of every product."""
    fields = ["code", "quantity", "forecast_quantity", "list_price_used"]
    ours = {row["code"]: row for row in tryton.read(
        "product.product", [("type", "=", "goods")], fields, locations=[tryton.warehouse],
        stock_date_end=date.today())}
    theirs = market.products()
    books.same("products", "SKUs", sorted(p["sku"] for p in theirs), sorted(ours))
    for product in theirs:
        mine = ours.get(product["sku"], {})
        for what, remote, local in (("stock on the shelf, to the piece", "quantity", "quantity"),
                                    ("stock that may be sold, to the piece", "available_quantity", "forecast_quantity"),
                                    ("prices, to the cent", "price", "list_price_used")):
            books.same(what, product["sku"], number_of(product[remote]), number_of(mine.get(local)))


def number_of(value: Any) -> Decimal | None:
    """Returns an amount or quantity without idle zeros."""
    return None if value is None else decimal(value).normalize() + 0


def compare_day(books: Books, day: Day) -> None:
    """Checks what must be true of the day itself."""
    books.true(f"at least {FEWEST_ORDERS} orders", f"{len(day.fates)} orders", len(day.fates) >= FEWEST_ORDERS)
    books.true("some parcels left before their NF-e", "none did", bool(day.waited))
    for number in day.waited | day.dispatched_without:
        books.true("and their orders waited for it", number, number not in day.dispatched_without)
    books.true("a sold-out product was at zero within a minute", f"{day.sold_out}: {day.sold_out_seconds:.1f} s",
               0 < day.sold_out_seconds <= SOLD_OUT_WITHIN)
    books.true("prices were changed, orders cancelled", f"{day.prices_changed}, {day.cancelled}",
               day.prices_changed > 0 and day.cancelled > 0)


def compare(market: Marketplace, tryton: Tryton, day: Day) -> Books:
    """Compares everything."""
    books = Books()
    compare_day(books, day)
    compare_orders(books, market, sales_of(tryton))
    compare_products(books, market, tryton)
    books.same("orders of the day are at the marketplace", "numbers", sorted(market.statuses()), sorted(day.fates))
    return books
