"""The marketplace of the day: the sandbox's API as a seller sees it, and its control endpoints."""

import json
import urllib.request
from typing import Any
from urllib.parse import quote


class Marketplace:
    """One store of the sandbox."""

    def __init__(self, base: str, store: str) -> None:
        """Logs in with a credential of its own: a login ends the token that the same credential had before."""
        self.base, self.store = base, store
        made = self.control("POST", f"credentials/{store}")
        login = {"username": made["username"], "password": made["password"]}
        self.token: str = self._call("POST", "/api/integration/auth", login)["data"]["token"]

    def _call(self, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
        request = urllib.request.Request(self.base + path, method=method)
        request.add_header("Content-Type", "application/json")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        data = json.dumps(body or {}).encode() if method == "POST" else None
        with urllib.request.urlopen(request, data, timeout=30) as answer:
            return json.load(answer)

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Calls a control endpoint: what buyers, the platform and carriers do."""
        return self._call(method, f"/_sandbox/{path}", body).get("data")

    def get(self, path: str) -> Any:
        """Reads a route of the API as a seller."""
        return self._call("GET", path, token=self.token)["data"]

    def place(self, **order: Any) -> str:
        """Has a buyer place an order; returns its number."""
        return str(self.control("POST", f"orders/{self.store}/place", order)["order_number"])

    def act(self, number: str, what: str, **body: Any) -> None:
        """Does something with an order: `pay`, `cancel`, `release`, `invoices`."""
        self.control("POST", f"orders/{self.store}/{number}/{what}", body)

    def order(self, number: str) -> dict[str, Any]:
        """Returns an order as the API shows it."""
        return dict(self.get(f"/api/v1/sellers/orders/{quote(number)}"))

    def statuses(self) -> dict[str, str]:
        """Returns the status of every order that the store has."""
        statuses: dict[str, str] = {}
        page = 1
        while rows := self.get(f"/api/v1/sellers/orders?limit=100&page={page}"):
            statuses |= {row["order_number"]: row["status"] for row in rows}
            page += 1
        return statuses

    def tidy_warehouse(self) -> None:
        """Ends the reservations that generated products come with, and brings all goods to the first location.

        No order explains those reservations, and Tryton's one warehouse is that location.
        """
        for product in self.products():
            route = f"products/{self.store}/{product['id']}"
            if product["reserved_quantity"]:
                self.control("POST", f"{route}/release", {"quantity": product["reserved_quantity"]})
            self.control("POST", f"{route}/stock", {"quantity": product["quantity"]})

    def products(self) -> list[dict[str, Any]]:
        """Returns the products with quantities and prices."""
        products: list[dict[str, Any]] = []
        page = 1
        while rows := self.get(f"/api/products?per_page=100&page={page}"):
            products += rows
            page += 1
        return products
