"""Tryton as the connector uses it: remote calls of its server, the same that Tryton's own client makes."""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from proteus import config

CENT = Decimal("0.01")
# Services that carry what an order has beside goods.
FREIGHT, DISCOUNT, ROUNDING = "FRETE", "DESCONTO", "ARREDONDAMENTO"


class Refused(Exception):
    """An order cannot become a sale; the message says why."""


@dataclass(frozen=True)
class Line:
    """One line of a sale."""

    sku: str
    quantity: Decimal
    unit_price: Decimal

    @property
    def amount(self) -> Decimal:
        """The amount as Tryton rounds it."""
        return (self.quantity * self.unit_price).quantize(CENT, ROUND_HALF_EVEN)


@dataclass(frozen=True)
class Parcel:
    """How far the goods of a sale have come: `waiting`, `assigned`, `packed` or `sent`."""

    stage: str
    # The tracking code, or the code with which the buyer picks the goods up.
    reference: str


# The stages, by the state of Tryton's customer shipment.
STAGES = {"draft": "waiting", "waiting": "waiting", "assigned": "assigned", "picked": "assigned",
          "packed": "packed", "shipped": "packed", "done": "sent"}
ORDER_OF_STAGES = ("waiting", "assigned", "packed", "sent")


class Tryton:
    """A session at a Tryton server."""

    def __init__(self, url: str, user: str, password: str) -> None:
        """Logs in; `url` is that of the database, such as `http://127.0.0.1:8000/tryton/`."""
        self.url = url
        self._login = config.set_xmlrpc_session(url + "rpc/", user, password)
        self._server = self._login.__enter__().server
        self._products: dict[str, tuple[int, int]] = {}
        self.refresh()
        warehouse = self.read("stock.location", [("type", "=", "warehouse")], ["storage_location"])[0]
        self.warehouse: int = warehouse["id"]
        self.storage: int = warehouse["storage_location"]

    def refresh(self) -> None:
        """Reads the user's company and language, which go with every call."""
        self._context = self._server.model.res.user.get_preferences(True, {})

    def call(self, model: str, method: str, *values: Any, **context: Any) -> Any:
        """Calls a method of a model, such as `sale.sale`, `create`."""
        return getattr(self._server, f"model.{model}.{method}")(*values, {**self._context, **context})

    def search(self, model: str, domain: list[Any]) -> list[int]:
        """Returns the ids of records."""
        return list(self.call(model, "search", domain, 0, None, [("id", "ASC")]))

    def read(self, model: str, domain: list[Any], fields: list[str], **context: Any) -> list[dict[str, Any]]:
        """Returns fields of records."""
        return list(self.call(model, "search_read", domain, 0, None, [("id", "ASC")], fields, **context))

    # Sales

    def sale_of(self, number: str) -> dict[str, Any] | None:
        """Returns the sale of an order."""
        found = self.read("sale.sale", [("reference", "=", number)], ["number", "state", "total_amount"])
        return found[0] if found else None

    def make_sale(self, order: dict[str, Any], lines: list[Line]) -> str:
        """Makes the sale of an order, unless it is there, and confirms it; returns its number."""
        sale = self.sale_of(order["order_number"])
        if sale is None:
            self._create_sale(order, lines)
            sale = self.sale_of(order["order_number"])
            assert sale is not None
        for state, button in (("draft", "quote"), ("quotation", "confirm")):
            if sale["state"] == state:
                self.call("sale.sale", button, [sale["id"]])
                sale = self.sale_of(order["order_number"])
                assert sale is not None
        return str(sale["number"])

    def _create_sale(self, order: dict[str, Any], lines: list[Line]) -> None:
        party, address = self._party(order)
        self.call("sale.sale", "create", [{
            "reference": order["order_number"],
            "party": party,
            "invoice_address": address,
            "shipment_address": address,
            "lines": [("create", [self._line(line) for line in lines])],
        }])

    def _line(self, line: Line) -> dict[str, Any]:
        product, unit = self._product(line.sku)
        return {"product": product, "unit": unit, "quantity": float(line.quantity), "unit_price": line.unit_price}

    def _product(self, sku: str) -> tuple[int, int]:
        if sku not in self._products:
            found = self.read("product.product", [("code", "=", sku)], ["default_uom"])
            if not found:
                raise Refused(f"Tryton has no product with the code {sku}")
            self._products[sku] = (found[0]["id"], found[0]["default_uom"])
        return self._products[sku]

    def _party(self, order: dict[str, Any]) -> tuple[int, int]:
        """Returns party and address of a buyer, and makes them where they are missing."""
        code = f"MP-{order['customer_id']}"
        name = order["customer_name"] or f"Comprador {order['customer_id']}"
        found = self.search("party.party", [("code", "=", code)])
        party = found[0] if found else self.call(
            "party.party", "create", [{"code": code, "name": name, "addresses": []}])[0]
        state = self.search("country.subdivision", [("code", "=", f"BR-{order['customer_state']}")])
        place = {"party": party, "city": order["customer_city"], "subdivision": state[0] if state else None}
        found = self.search("party.address", [(field, "=", value) for field, value in place.items()])
        if found:
            return party, found[0]
        country = self.search("country.country", [("code", "=", "BR")])
        return party, self.call("party.address", "create", [{**place, "country": country[0] if country else None}])[0]

    def cancel_sale(self, number: str) -> bool:
        """Closes the sale of a cancelled order; False where its goods have left.

        Tryton does not cancel a sale that is being processed. Its shipments are cancelled, and nothing is left to ship.
        """
        sale = self.sale_of(number)
        if sale is None:
            return True
        shipments = self.read("stock.shipment.out", [("moves.sale.reference", "=", number)], ["state"])
        if any(shipment["state"] == "done" for shipment in shipments):
            return False
        if sale["state"] in ("draft", "quotation"):
            self.call("sale.sale", "cancel", [sale["id"]])
            return True
        self.call("stock.shipment.out", "cancel", [s["id"] for s in shipments if s["state"] != "cancelled"])
        lines = self.read("sale.line", [("sale", "=", sale["id"])], ["moves"])
        for line in lines:
            self.call("sale.line", "write", [line["id"]], {"moves_ignored": [("add", list(line["moves"]))]})
        self.call("sale.sale", "process", [sale["id"]])
        return True

    def parcels(self, numbers: list[str]) -> dict[str, Parcel]:
        """Returns how far the goods of these orders have come."""
        rows = self.read("sale.sale", [("reference", "in", numbers)],
                         ["reference", "shipments.state", "shipments.reference"])
        parcels = {}
        for row in rows:
            open_ones = [s for s in row["shipments."] if s["state"] != "cancelled"]
            if open_ones:
                least = min(open_ones, key=lambda s: ORDER_OF_STAGES.index(STAGES[s["state"]]))
                parcels[row["reference"]] = Parcel(STAGES[least["state"]], least["reference"] or "")
        return parcels

    # Products

    def products(self) -> list[dict[str, Any]]:
        """Returns code, physical quantity and list price of everything that is sold and kept in the warehouse."""
        return self.read(
            "product.product", [("salable", "=", True), ("type", "=", "goods"), ("code", "!=", None)],
            ["code", "quantity", "list_price_used"], locations=[self.warehouse])
