"""Does an ERP's work with the client that was generated from the description, and with nothing else of HTTP.

    client_day.py BASE TOKEN          the client, `espelho_client`, is on the path

It takes every new order, sets a level and a price, prepares an order with one command although it sends it twice, follows the change
feed to its end, and reads the refusal of a mistake. It ends with 1 at the first thing that is not as docs/API.md says.
"""

import sys
import time
import uuid

from espelho_client import AuthenticatedClient
from espelho_client.api.feed import acknowledge, changes
from espelho_client.api.read import alarms, get_commands, get_erp_prices, get_erp_stock, get_orders
from espelho_client.api.read import list_orders, list_product_stock, list_products, list_v_orders_new
from espelho_client.api.write import commands, orders, prices, stock
from espelho_client.models import Acknowledgement, NewCommand, NewCommandKind, NewPrice, NewStock, NewTakenOrder, ProblemDetails
from espelho_client.models.new_command_data_type_0 import NewCommandDataType0
from espelho_client.types import UNSET


def ask(endpoint, client, *arguments, **named):
    answer = endpoint.sync(*arguments, client=client, **named)
    assert answer is not None and not isinstance(answer, ProblemDetails), answer
    return answer


def pages(endpoint, client, **named):
    """Returns all rows, page by page."""
    rows, cursor = [], UNSET
    while True:
        page = ask(endpoint, client, limit=7, cursor=cursor, **named)
        rows += page.rows
        if not page.next_:
            return rows
        cursor = page.next_


def ends(what, look):
    """Waits until a row has an answer, and returns it."""
    for _ in range(600):
        row = look()
        if row.state in ("done", "failed", "held", "doubtful"):
            return row
        time.sleep(0.1)
    raise AssertionError(f"{what} has no answer: {row}")


def main():
    base, token = sys.argv[1:]
    client = AuthenticatedClient(base_url=base, token=token, raise_on_unexpected_status=True)

    everything = pages(list_orders, client)
    numbers = [(row.store, row.order_number) for row in everything]
    assert numbers == sorted(set(numbers)) and numbers, "each order comes once, in the order of the keys"
    order = everything[0]
    assert ask(get_orders, client, order.store, order.order_number).total_order == order.total_order

    new = pages(list_v_orders_new, client)
    assert new, "there are orders to take"
    taken = [NewTakenOrder(store=row.store, order_number=row.order_number, erp_id=f"V{i}") for i, row in enumerate(new)]
    assert {row.state for row in ask(orders, client, body=taken, claim=True).rows} == {"taken"}
    assert {row.state for row in ask(orders, client, body=taken, claim=True).rows} == {"already_taken"}
    left = {row.order_number for row in pages(list_v_orders_new, client)}
    assert not left & {row.order_number for row in new}, left

    level = next(row for row in pages(list_product_stock, client) if row.quantity and row.quantity > row.reserved_quantity + 3)
    key = (level.store, level.sku, level.location_id)
    ask(stock, client, body=[NewStock(store=level.store, sku=level.sku, location_id=level.location_id, quantity=level.quantity + 1)])
    row = ends("the level", lambda: ask(get_erp_stock, client, *key))
    assert (row.state, row.quantity) == ("done", level.quantity + 1), row

    product = next(row for row in pages(list_products, client) if row.price and row.price_type == "default")
    ask(prices, client, body=[NewPrice(store=product.store, sku=product.sku, price=f"{product.price * 1.1:.2f}")])
    row = ends("the price", lambda: ask(get_erp_prices, client, product.store, product.sku, "1"))
    assert row.state == "done", row

    paid = next(row for row in everything if row.status == "paid" and not row.is_collective)
    data = NewCommandDataType0.from_dict({"status": "preparing"})
    wish = NewCommand(kind=NewCommandKind.ORDER_STATUS, store=paid.store, key=paid.order_number, data=data)
    attempt = uuid.uuid4().hex
    first, again = (ask(commands, client, body=[wish], idempotency_key=attempt).rows[0] for _ in range(2))
    assert first.id == again.id, "a request that is sent again writes nothing"
    row = ends("the command", lambda: ask(get_commands, client, first.id))
    assert row.state == "done", row

    told, after = 0, 0
    while True:
        news = ask(changes, client, consumer="day", limit=500)
        if not news.changes:
            break
        assert all(a.seq < b.seq for a, b in zip(news.changes, news.changes[1:])) and news.changes[0].seq > after
        told, after = told + len(news.changes), news.changes[-1].seq
        ask(acknowledge, client, "day", body=Acknowledgement(seq=after))
    assert told >= len(everything), told

    refused = stock.sync(client=client, body=[NewStock(location_id=1, quantity=1, sku="A", store="nenhuma")])
    assert isinstance(refused, ProblemDetails) and refused.status == 422, refused
    assert refused.errors[0].code == "unknown_store" and refused.errors[0].row == 0, refused
    assert ask(alarms, client).state in ("ok", "warning", "failing", "unknown")
    print(f"the generated client took {len(new)} orders, wrote a level, a price and a command, and followed {told} changes")


main()
