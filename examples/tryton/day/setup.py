"""The evening before: a shop in Tryton that sells what the marketplace lists."""

from decimal import Decimal
from typing import Any

from proteus import Model
from trytond.modules.company.tests.tools import create_company

from tables import Tables, decimal
from tryton import DISCOUNT, FREIGHT, ROUNDING, Tryton

STATES = "AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO".split()
# Tryton's units, by the marketplace's; everything else is counted in pieces.
UNITS = {"kg": "Kilogram", "lt": "Liter", "mt": "Meter", "m2": "Square meter", "m3": "Cubic meter"}


def open_company(tryton: Tryton) -> None:
    """Makes currency, country, company, and how sales work."""
    real = Model.get("currency.currency")(name="Real", code="BRL", symbol="R$", rounding=Decimal("0.01"))
    real.rates.new(rate=Decimal(1))
    real.save()
    brazil = Model.get("country.country")(name="Brasil", code="BR")
    for state in STATES:
        brazil.subdivisions.new(name=state, code=f"BR-{state}", type="state")
    brazil.save()
    create_company(Model.get("party.party")(name="A loja"), real)
    # The NF-e is the marketplace's: Tryton makes no invoice by itself.
    settings = Model.get("sale.configuration")(1)
    settings.sale_invoice_method, settings.sale_shipment_method = "manual", "order"
    settings.save()
    tryton.refresh()


def make_products(tryton: Tryton, tables: Tables) -> list[str]:
    """Makes a product for each one in the mirror, and the services of an order; returns the SKUs."""
    units = {row["name"]: row["id"] for row in tryton.read("product.uom", [], ["name"])}
    rows = tables.rows("SELECT sku, name, base_unit, price FROM products WHERE store = ? AND gone_at IS NULL "
                       "ORDER BY sku", tables.store)
    for row in rows:
        unit = units.get(UNITS.get(row["base_unit"], ""), units["Unit"])
        make_product(tryton, row["sku"], row["name"], unit, "goods", decimal(row["price"]))
    for code in (FREIGHT, DISCOUNT, ROUNDING):
        make_product(tryton, code, code.capitalize(), units["Unit"], "service", Decimal(0))
    return [row["sku"] for row in rows]


def make_product(tryton: Tryton, code: str, name: str, unit: int, kind: str, price: Decimal) -> None:
    """Makes one product."""
    tryton.call("product.template", "create", [{
        "code": code, "name": name, "default_uom": unit, "sale_uom": unit, "type": kind, "salable": True,
        "list_price": price, "products": [("create", [{}])]}])


def count_stock(tryton: Tryton, quantities: dict[str, int]) -> None:
    """Confirms a count of the warehouse: from now on it holds these quantities."""
    products = tryton.read("product.product", [("code", "in", list(quantities))], ["code"])
    ids = {row["code"]: row["id"] for row in products}
    lines: list[dict[str, Any]] = [
        {"product": ids[sku], "quantity": float(quantity)} for sku, quantity in quantities.items()]
    count = tryton.call("stock.inventory", "create", [{"location": tryton.storage, "lines": [("create", lines)]}])
    tryton.call("stock.inventory", "confirm", count)
