#!/usr/bin/env python3
"""Keeps Tryton and a marketplace in step, through espelho's tables.

Orders become sales, cancellations close them, shipments move the orders on, stock and prices go up. Every pass compares
what Tryton has with what the tables have, and writes the difference: a connector that was killed goes on with the next
pass, and several of them work side by side.
"""

import argparse
import logging
import os
import time
import xmlrpc.client
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from tables import Tables, decimal
from tryton import CENT, DISCOUNT, FREIGHT, ROUNDING, Line, Parcel, Refused, Tryton

log = logging.getLogger("connector")

# The statuses that the marketplace is asked for, by workflow, when the goods of a sale have reached a stage.
# A command waits for the one before it, and for the NF-e where the marketplace wants one.
STATUSES: dict[str, dict[str, tuple[str, ...]]] = {
    "standard": {"waiting": ("preparing",), "packed": ("ready_to_ship",), "sent": ("shipped",)},
    "collective": {"packed": ("ready_to_ship",), "sent": ("shipped",)},
    "in_store_pickup": {"waiting": ("preparing",), "packed": ("ready_for_pickup",), "sent": ("picked_up",)},
    "pre_order": {"assigned": ("available", "preparing"), "packed": ("ready_to_ship",), "sent": ("shipped",)},
    "backorder": {"assigned": ("restocked", "preparing"), "packed": ("ready_to_ship",), "sent": ("shipped",)},
    "production": {"waiting": ("production_started",),
                   "assigned": ("production_in_progress", "production_finished", "preparing"),
                   "packed": ("ready_to_ship",), "sent": ("shipped",)},
}
STAGES = ("waiting", "assigned", "packed", "sent")


def sale_lines(order: dict[str, Any], items: list[dict[str, Any]]) -> list[Line]:
    """Returns the lines of a sale whose total is the order's, to the cent.

    The marketplace rounds each line up, Tryton to the nearest cent: a line of its own carries the difference.
    """
    if len(items) != order["lines_count"]:
        raise Refused(f"{len(items)} of {order['lines_count']} lines are mirrored")
    lines = [Line(item["sku"], decimal(item["quantity"]), decimal(item["unit_price"])) for item in items]
    if order["total_shipping"]:
        lines.append(Line(FREIGHT, Decimal(1), decimal(order["total_shipping"])))
    if order["total_discounts"]:
        lines.append(Line(DISCOUNT, Decimal(1), -decimal(order["total_discounts"])))
    rest = decimal(order["total_order"]) - sum(line.amount for line in lines)
    if abs(rest) > CENT * len(items):
        raise Refused(f"the lines differ from the total by {rest}")
    return lines + ([Line(ROUNDING, Decimal(1), rest)] if rest else [])


def statuses_for(workflow: str, stage: str) -> Iterator[tuple[str, str]]:
    """Yields stage and status of everything that an order must have gone through."""
    for reached in STAGES[:STAGES.index(stage) + 1]:
        for status in STATUSES.get(workflow, STATUSES["standard"]).get(reached, ()):
            yield reached, status


def data_for(status: str, parcel: Parcel) -> dict[str, str]:
    """Returns what goes with a status."""
    if status == "picked_up":
        return {"confirmation_code": parcel.reference}
    return {"tracking_code": parcel.reference} if status == "shipped" and parcel.reference else {}


def pieces(quantity: float) -> Decimal:
    """Returns a quantity without what a sum of floats leaves behind."""
    return decimal(round(quantity, 3))


class Connector:
    """One connector; `name` stands in its claims, for people to read."""

    def __init__(self, tables: Tables, tryton: Tryton, location: str, name: str) -> None:
        """Joins the two sides."""
        self.tables, self.tryton, self.location, self.name = tables, tryton, location, name
        self.reported: set[str] = set()

    def one_pass(self) -> None:
        """Carries everything that is new from one side to the other."""
        self.take_orders()
        self.follow_cancellations()
        # The levels are read before the shipments: goods that leave in between are then counted as still here, and the
        # next pass corrects it. The other way round, the marketplace would take them off twice.
        products = self.tryton.products()
        sent = self.follow_shipments()
        self.send_levels(products, sent)
        self.send_prices(products)
        self.report_errors()

    def take_orders(self) -> None:
        """Makes sales of new orders, and of those that a connector claimed and never finished."""
        for claim in self.tables.abandoned_claims():
            if self.tables.take_over(claim, self.name):
                self.make_sale(claim["order_number"])
        # A few at a time: behind a rush of orders, the level of a sold-out product would wait too long.
        for order in self.tables.new_orders(limit=5):
            if self.tables.claim(order["order_number"], self.name):
                self.make_sale(order["order_number"])

    def make_sale(self, number: str) -> None:
        """Makes the sale of a claimed order; one that Tryton refuses stays claimed, and is tried again later."""
        try:
            order = self.tables.order(number)
            sale = self.tryton.make_sale(order, sale_lines(order, self.tables.lines(number)))
        except (Refused, xmlrpc.client.Fault) as error:
            log.error("order %s is no sale yet: %s", number, error)
            return
        self.tables.taken(number, sale)
        log.info("order %s is sale %s", number, sale)

    def follow_cancellations(self) -> None:
        """Closes the sales of orders that the marketplace cancelled."""
        for number in self.tables.cancellations():
            try:
                is_closed = self.tryton.cancel_sale(number)
            except xmlrpc.client.Fault as error:
                log.error("sale of order %s is not closed yet: %s", number, error)
                continue
            if is_closed:
                self.tables.cancelled(number)
                log.info("order %s is cancelled", number)
            else:
                self.report(f"order {number} was cancelled after its goods had left: somebody must fetch them back")

    def follow_shipments(self) -> list[str]:
        """Asks for the statuses that shipments have earned; returns the orders that left Tryton's warehouse."""
        orders = self.tables.orders_under_way()
        parcels = self.tryton.parcels([order["order_number"] for order in orders])
        asked = self.tables.statuses_asked()
        for order in orders:
            number = order["order_number"]
            if number in parcels:
                self.ask(number, order["workflow_type"], parcels[number], asked)
        return [number for number, parcel in parcels.items() if parcel.stage == "sent"]

    def ask(self, number: str, workflow: str, parcel: Parcel, asked: set[tuple[str, str]]) -> None:
        """Asks for what an order has not been asked for yet, in order."""
        for _, status in statuses_for(workflow, parcel.stage):
            if (number, status) not in asked and self.tables.ask_status(number, status, data_for(status, parcel)):
                log.info("order %s shall be %s", number, status)

    def send_levels(self, products: list[dict[str, Any]], sent: list[str]) -> None:
        """Sends physical stock.

        What left Tryton's warehouse and waits for its NF-e is still on the marketplace's shelf. It counts until the
        marketplace takes it off by itself, else it would be taken off twice.
        """
        on_its_way = self.tables.goods_not_dispatched(sent)
        levels = {product["code"]: pieces(product["quantity"]) + on_its_way.get(product["code"], Decimal(0))
                  for product in products}
        if count := self.tables.send_levels(levels, self.location):
            log.info("%d levels written", count)

    def send_prices(self, products: list[dict[str, Any]]) -> None:
        """Sends list prices."""
        prices = {product["code"]: product["list_price_used"] for product in products}
        if count := self.tables.send_prices(prices):
            log.info("%d prices written", count)

    def report_errors(self) -> None:
        """Says once what espelho could not do, with the next step."""
        for row in self.tables.errors():
            self.report(f"{row['entity']} {row['key']}: {row['code']}: {row['error']} {row['hint']}")

    def report(self, text: str) -> None:
        """Says something once."""
        if text not in self.reported:
            self.reported.add(text)
            log.warning("%s", text)


def arguments() -> argparse.Namespace:
    """Reads the command line; Tryton's password comes from the environment, where `ps` does not show it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", required=True, help="espelho's database: sqlite:PATH or postgres://…")
    parser.add_argument("--store", required=True, help="the store's name in espelho")
    parser.add_argument("--location", required=True, help="the location_id that Tryton's warehouse is")
    parser.add_argument("--tryton", required=True, help="such as http://127.0.0.1:8000/DATABASE/")
    parser.add_argument("--user", default="admin", help="Tryton's user; its password is in $TRYTON_PASSWORD")
    parser.add_argument("--name", default=f"connector {os.getpid()}", help="stands in erp_orders.note while it works")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two passes")
    return parser.parse_args()


def main() -> None:
    """Works until it is ended; what is down is tried again."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    options = arguments()
    connector: Connector | None = None
    while True:
        try:
            if connector is None:
                tryton = Tryton(options.tryton, options.user, os.environ["TRYTON_PASSWORD"])
                connector = Connector(Tables(options.tables, options.store), tryton, options.location, options.name)
            connector.one_pass()
        except Exception:  # Tryton or a database is down, or said what nobody foresaw: the next pass begins anew.
            log.exception("trying again")
            connector = None
        time.sleep(options.every)


if __name__ == "__main__":
    main()
