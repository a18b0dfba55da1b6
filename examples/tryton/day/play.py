"""The day itself: buyers order, the platform cancels, people in the shop pick, pack, ship, count and change prices."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from day.marketplace import Marketplace
from day.setup import count_stock
from tryton import Tryton

HOURS = 12
# How long an hour of the day takes.
HOUR_SECONDS = 10
LATE = "shipped before its NF-e"
# How the orders of a day are made up, out of 40.
WORKFLOWS = (["standard"] * 25 + ["in_store_pickup"] * 4 + ["production"] * 3 + ["pre_order"] * 3
             + ["backorder"] * 3 + ["collective"] * 2)
# What becomes of them, out of 40.
FATES = (["shipped"] * 25 + [LATE] * 5 + ["left open"] * 3 + ["cancelled at once"] * 2
         + ["cancelled in preparation"] * 3 + ["paid late"] * 1 + ["never paid"] * 1)
SHIPPED = {"shipped", LATE, "paid late"}
# The statuses in which the evening finds them.
SENT = ("shipped", "picked_up", "delivered")
ENDS = {"shipped": SENT, LATE: SENT, "paid late": SENT, "left open": ("preparing",), "never paid": ("cancelled",),
        "cancelled at once": ("cancelled",), "cancelled in preparation": ("cancelled",)}


@dataclass
class Day:
    """What happened, and what must be true of it."""

    fates: dict[str, str] = field(default_factory=dict)
    workflows: dict[str, str] = field(default_factory=dict)
    invoiced: set[str] = field(default_factory=set)
    # Parcels that left while their NF-e was missing: those that waited, and those that were dispatched nevertheless.
    waited: set[str] = field(default_factory=set)
    dispatched_without: set[str] = field(default_factory=set)
    cancelled: int = 0
    prices_changed: int = 0
    # The product that was sold out, and the seconds until the marketplace showed it so.
    sold_out: str = ""
    sold_out_seconds: float = 0.0


class Shop:
    """Everybody who does something on this day."""

    def __init__(self, market: Marketplace, tryton: Tryton, skus: list[str], seed: int) -> None:
        """Opens the shop."""
        self.market, self.tryton, self.skus = market, tryton, skus
        self.random = random.Random(seed)
        self.day = Day()
        self.is_evening = False

    def play(self, orders: int, each_hour: Callable[[int], None]) -> Day:
        """Plays the day; `each_hour` may make it a bad one."""
        for hour in range(HOURS):
            ends = time.monotonic() + HOUR_SECONDS
            self.buyers(orders * (hour + 1) // HOURS - len(self.day.fates))
            each_hour(hour)
            self.change_prices()
            while time.monotonic() < ends:
                self.work()
                time.sleep(1)
            if hour == 1:
                self.sell_out()
            if hour in (5, 9):
                self.restock()
            print(f"{8 + hour:02}:00  {len(self.day.fates)} orders, {self.day.cancelled} cancelled, "
                  f"{len(self.day.invoiced)} NF-e", flush=True)
        return self.day

    def work(self) -> None:
        """Does once what is to be done with orders that are there."""
        statuses = self.market.statuses()
        self.pay_late(statuses)
        self.cancel(statuses)
        self.issue_invoices(statuses)
        self.warehouse(statuses)

    def unfinished(self) -> list[str]:
        """Returns the orders that have not come to where the day wants them."""
        statuses = self.market.statuses()
        return [f"{number} ({fate}): {statuses.get(number)}" for number, fate in self.day.fates.items()
                if statuses.get(number) not in ENDS[fate]]

    def summary(self) -> str:
        """Returns how many orders had which fate."""
        return ", ".join(f"{count} {fate}" for fate, count in Counter(self.day.fates.values()).most_common())

    # Buyers and the platform

    def buyers(self, count: int) -> None:
        """Places orders, each with a workflow and a fate."""
        for _ in range(count):
            serial = len(self.day.fates)
            workflow = WORKFLOWS[serial * 7 % len(WORKFLOWS)]
            fate = FATES[serial * 11 % len(FATES)]
            carrier = self.random.choice(["seller", "platform", "none"])
            number = self.market.place(workflow=workflow, carrier=carrier,
                                       is_paid=fate not in ("paid late", "never paid"), release_after=20)
            self.day.fates[number], self.day.workflows[number] = fate, workflow
            if fate == "cancelled at once":
                self.cancel_one(number)

    def cancel_one(self, number: str) -> None:
        """Has the platform cancel an order."""
        self.market.act(number, "cancel", reason="O comprador desistiu da compra")
        self.day.cancelled += 1

    def pay_late(self, statuses: dict[str, str]) -> None:
        """Confirms late payments."""
        for number in self.having("paid late"):
            if statuses.get(number) == "waiting_payment":
                self.market.act(number, "pay")

    def cancel(self, statuses: dict[str, str]) -> None:
        """Has the platform cancel orders in preparation, and those that nobody pays."""
        for number in self.having("cancelled in preparation", "never paid"):
            if statuses.get(number) in ("preparing", "waiting_payment"):
                self.cancel_one(number)

    def having(self, *fates: str) -> list[str]:
        """Returns the orders with these fates."""
        return [number for number, fate in self.day.fates.items() if fate in fates]

    # The shop

    def issue_invoices(self, statuses: dict[str, str]) -> None:
        """Issues the NF-e of orders in preparation; some only when all else is done, long after their parcel left."""
        gone = self.gone_parcels()
        for number in self.having(*SHIPPED):
            status = statuses.get(number, "")
            if number in self.day.invoiced or status not in ("preparing", "ready_to_ship", "ready_for_pickup", *SENT):
                continue
            if self.day.fates[number] == LATE:
                self.check_gate(number, status, number in gone)
                if not self.is_evening:
                    continue
            self.market.act(number, "invoices", type=self.random.choice(["nfe", "nfe", "content_declaration"]))
            self.day.invoiced.add(number)

    def check_gate(self, number: str, status: str, is_gone: bool) -> None:
        """Notes what an order without its NF-e does: it waits, or was dispatched. A pickup needs none."""
        if self.day.workflows[number] == "in_store_pickup":
            return
        if status != "preparing":
            self.day.dispatched_without.add(number)
        elif is_gone:
            self.day.waited.add(number)

    def gone_parcels(self) -> set[str]:
        """Returns the orders whose goods have left Tryton's warehouse."""
        parcels = self.tryton.parcels(list(self.day.fates))
        return {number for number, parcel in parcels.items() if parcel.stage == "sent"}

    def warehouse(self, statuses: dict[str, str]) -> None:
        """Takes every shipment one step further: picked and packed, sent off, or put aside."""
        wanted = {number for number in self.having(*SHIPPED) if statuses.get(number) != "cancelled"}
        steps: dict[str, list[tuple[int, str]]] = {"assigned": [], "packed": [], "waiting": []}
        for row in self.tryton.read("sale.sale", [("reference", "in", list(self.day.fates))],
                                    ["reference", "shipments.state"]):
            for shipment in row["shipments."]:
                if shipment["state"] in steps and (row["reference"] in wanted or shipment["state"] == "waiting"):
                    steps[shipment["state"]].append((shipment["id"], row["reference"]))
        self.ship(steps["packed"])
        self.pack(steps["assigned"])
        self.press("assign_try", [shipment for shipment, _ in steps["waiting"]])

    def pack(self, shipments: list[tuple[int, str]]) -> None:
        """Picks and packs, and writes down the tracking code, or the buyer's code."""
        ids = [shipment for shipment, _ in shipments]
        self.press("pick", ids)
        self.press("pack", ids)
        for shipment, number in shipments:
            self.tryton.call("stock.shipment.out", "write", [shipment], {"reference": f"BR{number[-9:]}"})

    def ship(self, shipments: list[tuple[int, str]]) -> None:
        """Hands the parcels over."""
        self.press("do", [shipment for shipment, _ in shipments])

    def press(self, button: str, shipments: list[int]) -> None:
        """Presses a button of customer shipments."""
        if shipments:
            self.tryton.call("stock.shipment.out", button, shipments)

    def change_prices(self) -> None:
        """Raises the list prices of three products by up to a tenth."""
        for sku in self.random.sample(self.skus, 3):
            product = self.tryton.read("product.product", [("code", "=", sku)], ["template", "list_price_used"])[0]
            factor = Decimal(self.random.randint(101, 110)) / 100
            price = (product["list_price_used"] * factor).quantize(Decimal("0.01"))
            self.tryton.call("product.template", "write", [product["template"]], {"list_price": price})
            self.day.prices_changed += 1

    def sell_out(self) -> None:
        """Counts a product that nobody has ordered as gone, and waits until the marketplace has it so."""
        free = [p["sku"] for p in self.market.products() if p["reserved_quantity"] == 0 and p["quantity"] > 0
                and not p["allow_sale_without_stock"]]
        self.day.sold_out = free[0]
        started = time.monotonic()
        count_stock(self.tryton, {free[0]: 0})
        while self.quantity_of(free[0]) != 0 and time.monotonic() - started < 120:
            time.sleep(0.2)
        self.day.sold_out_seconds = time.monotonic() - started

    def quantity_of(self, sku: str) -> float:
        """Returns the quantity that the marketplace has of a product."""
        return float(next(p["quantity"] for p in self.market.products() if p["sku"] == sku))

    def restock(self) -> None:
        """Receives what sales wait for, and a little more."""
        rows = self.tryton.read("product.product", [("code", "in", self.skus)], ["code", "forecast_quantity"],
                                locations=[self.tryton.warehouse], stock_date_end=date.today())
        in_storage = {row["code"]: row["quantity"] for row in self.tryton.read(
            "product.product", [("code", "in", self.skus)], ["code", "quantity"],
            locations=[self.tryton.storage])}
        missing = {row["code"]: row["forecast_quantity"] for row in rows if row["forecast_quantity"] < 0}
        if missing:
            count_stock(self.tryton, {sku: int(in_storage[sku] - short + 10) for sku, short in missing.items()})
