"""A shop in trouble: a sandbox with three stores, a service with two operators, and an ERP that writes what cannot be."""

import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.request

OPERATOR = "an-operator-of-the-test"
VIEWER = "a-viewer-of-this-test-x"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Shop:
    """Starts everything, and ends it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="espelho-page-")
        root = pathlib.Path(self.folder.name)
        binary = os.environ["ESPELHO_BINARY"]
        market, page = free_port(), free_port()
        arguments = ["--listen", f"127.0.0.1:{market}", "--stores", "3", "--orders", "120", "--products", "40"]
        arguments += ["--rate", "off", "--json"]
        self.sandbox = subprocess.Popen(
            [binary, "sandbox", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        access = json.loads(self.sandbox.stdout.readline())
        (root / "stores").mkdir()
        for store in access["stores"]:
            text = (
                f'environment = "sandbox"\nbase_url = "{access["base_url"]}"\n\n[credentials]\n'
                f'username = "{store["username"]}"\npassword = "{store["password"]}"\n\n[limits]\n'
                "requests_per_minute = 100000\n"
            )
            self.private(root / "stores" / f'{store["store"]}.toml', text)
        self.database = root / "espelho.db"
        self.private(root / "operators", f"ana:operator:{OPERATOR}\nrui:viewer:{VIEWER}\n")
        self.private(
            root / "espelho.toml",
            f'[database]\nurl = "sqlite:{self.database}"\n\n[http]\nlisten = "127.0.0.1:{page}"\n'
            'operators_file = "operators"\n\n[schedule]\nreconcile = "*/10 * * * * *"\n',
        )
        self.service = subprocess.Popen(
            [binary, "run", "--config", root], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=root,
            env={**os.environ, "ESPELHO_CONFIG": str(root)},
        )
        self.address = f"http://127.0.0.1:{page}"
        self.stores = [store["store"] for store in access["stores"]]
        self.wait(lambda: self.status()["state"] != "unknown", "the first reconciliation")
        self.write()
        self.wait(lambda: len(self.status()["alarms"]) >= 4, "the alarms")
        return self

    def __exit__(self, *_):
        for process in (self.service, self.sandbox):
            process.terminate()
            process.wait(60)
        self.folder.cleanup()

    @staticmethod
    def private(path, text):
        path.touch(0o600)
        path.write_text(text)

    def status(self):
        try:
            with urllib.request.urlopen(f"{self.address}/status", timeout=5) as answer:
                return json.load(answer)
        except OSError:
            return {"state": "unknown", "alarms": []}

    @staticmethod
    def wait(holds, what):
        until = time.monotonic() + 90
        while not holds():
            if time.monotonic() > until:
                raise SystemExit(f"{what} did not come in 90 s")
            time.sleep(0.25)

    def ask(self, sql, *values):
        with sqlite3.connect(self.database, timeout=20) as database:
            return database.execute(sql, values).fetchall()

    def write(self):
        """Writes intents that fail, that a guard holds, and that are fine; takes some orders."""
        for at, store in enumerate(self.stores[:2]):
            (location,) = self.ask("SELECT location_id FROM stock_locations WHERE store = ? LIMIT 1", store)[0]
            skus = [sku for (sku,) in self.ask("SELECT sku FROM products WHERE store = ? ORDER BY sku LIMIT 8", store)]
            level = "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES (?, ?, ?, 5)"
            for number in range(7 - 3 * at):
                self.ask(level, store, f"CAN-{number:03}", location)
            for sku in skus[:4]:
                self.ask("INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES (?, ?, 1, 0.01)", store, sku)
            for sku in skus[4:]:
                self.ask(level, store, sku, location)
            orders = self.ask("SELECT order_number FROM orders WHERE store = ? AND status = 'preparing' LIMIT 2", store)
            for (number,) in orders:
                command = "INSERT INTO commands (store, kind, key, data) VALUES (?, 'order.status', ?, ?)"
                self.ask(command, store, number, '{"status":"ready_to_ship"}')
            self.ask(
                "INSERT INTO erp_orders (store, order_number, erp_id) SELECT store, order_number, 'PED-' || order_number "
                "FROM orders WHERE store = ? LIMIT 60",
                store,
            )
        late = "UPDATE orders SET ship_by = ? WHERE store = ? AND order_number IN (SELECT order_number FROM orders WHERE store = ? AND status IN ('paid', 'preparing') LIMIT ?)"
        hour = lambda hours: time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() + hours * 3600))
        for hours, rows in ((20, 9), (9, 7), (2, 5), (-3, 2)):
            self.ask(late, hour(hours), self.stores[0], self.stores[0], rows)
        self.ask("INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('loja-9', 'A', '1', 1)")
