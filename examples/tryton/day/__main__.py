"""Plays a day of a shop that runs Tryton, with espelho between it and the marketplace, and compares both books."""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from day import books
from day.marketplace import Marketplace
from day.play import LATE, Day, Shop
from day.services import HERE, Services, find_espelho, free_port
from day.setup import count_stock, make_products, open_company
from tables import Tables
from tryton import Tryton

STORE = "loja-1"
PASSWORD = "tryton-of-the-day"
PRODUCTS = 60
# What is under way in the evening must have come to rest within this time.
SETTLE_SECONDS = 420
# Differences beyond these are only counted.
SHOWN = 50


@dataclass(frozen=True)
class Databases:
    """Where espelho and Tryton keep what they know."""

    espelho: str
    # Tryton names server and database apart.
    tryton_uri: str
    tryton: str


def make_databases(folder: Path, postgres: str | None) -> Databases:
    """Names two SQLite files, or makes two empty databases of a PostgreSQL server."""
    if postgres is None:
        return Databases(f"sqlite:{folder}/espelho.db", "sqlite://", "tryton")
    import psycopg

    server = postgres.rstrip("/")
    names = ("espelho_of_the_day", "tryton_of_the_day")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        for name in names:
            connection.execute(f"DROP DATABASE IF EXISTS {name}".encode())
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
    return Databases(f"{server}/{names[0]}", server.replace("postgres://", "postgresql://"), names[1])


def start_marketplace(services: Services, seed: int) -> dict[str, str]:
    """Starts the sandbox; returns its address and the credential of its store."""
    services.start("sandbox", [
        find_espelho(), "sandbox", "--control", "--json", "--listen", "127.0.0.1:0", "--rate", "off",
        "--orders", "0", "--products", str(PRODUCTS), "--seed", str(seed)])
    told = services.first_json("sandbox")
    stores = told["stores"]
    assert isinstance(stores, list)
    return {"base": str(told["base_url"]), **stores[0]}


def start_espelho(services: Services, market: dict[str, str], database: str) -> None:
    """Writes a configuration and starts the service; returns when it serves."""
    http, webhooks = free_port(), free_port()
    folder = services.folder / "config"
    (folder / "stores").mkdir(parents=True)
    (folder / "espelho.toml").write_text(
        f'language = "en"\n[database]\nurl = "{database}"\n[http]\nlisten = "127.0.0.1:{http}"\n'
        f'[webhooks]\nlisten = "127.0.0.1:{webhooks}"\n')
    store = folder / "stores" / f"{STORE}.toml"
    store.write_text(
        f'environment = "sandbox"\nbase_url = "{market["base"]}"\n'
        f'[credentials]\nusername = "{market["username"]}"\npassword = "{market["password"]}"\n'
        f'[webhook]\npublic_url = "http://127.0.0.1:{webhooks}/webhooks/{STORE}"\n'
        '[limits]\nrequests_per_minute = 6000\n[labels]\nformats = []\n')
    store.chmod(0o600)
    services.start("espelho", [find_espelho(), "run", "--config", str(folder)])
    services.wait_for("espelho", f"http://127.0.0.1:{http}/readyz")


def start_tryton(services: Services, uri: str, database: str) -> Tryton:
    """Makes Tryton's database, starts its server, and logs in."""
    folder, port, programs = services.folder, free_port(), Path(sys.executable).parent
    settings = folder / "trytond.conf"
    settings.write_text(f"[database]\nuri = {uri}\npath = {folder}\nretry = 20\n[web]\nlisten = 127.0.0.1:{port}\n")
    if uri.startswith("sqlite"):
        (folder / f"{database}.sqlite").touch()
    (folder / "password").write_text(PASSWORD)
    admin = [str(programs / "trytond-admin"), "-c", str(settings), "-d", database, "-u", "sale",
             "--activate-dependencies", "--email", "shop@example.com"]
    services.run("trytond-admin", admin, TRYTONPASSFILE=str(folder / "password"))
    services.start("trytond", [str(programs / "trytond"), "-c", str(settings), "-d", database])
    services.wait_for("trytond", f"http://127.0.0.1:{port}/")
    return Tryton(f"http://127.0.0.1:{port}/{quote(database)}/", "admin", PASSWORD)


def wait_for_mirror(tables: Tables) -> None:
    """Waits until the first reconciliation is complete."""
    for _ in range(600):
        if tables.rows("SELECT 1 FROM sync_runs WHERE store = ? AND state = 'complete'", tables.store):
            return
        time.sleep(0.2)
    sys.exit("espelho did not complete its first reconciliation within two minutes")


def start_connectors(services: Services, tryton: Tryton, database: str, location: str, count: int) -> list[str]:
    """Starts connectors, side by side."""
    names = [f"connector-{at + 1}" for at in range(count)]
    for name in names:
        services.start(name, [
            sys.executable, str(HERE / "connector.py"), "--tables", database, "--store", STORE, "--location", location,
            "--tryton", tryton.url, "--name", name], TRYTON_PASSWORD=PASSWORD)
    return names


def misfortunes(services: Services, connectors: list[str], is_rough: bool) -> Callable[[int], None]:
    """Returns what goes wrong at each hour of a rough day."""
    def each_hour(hour: int) -> None:
        victims = {3: connectors[0], 6: "espelho", 8: connectors[-1]}
        if is_rough and hour in victims:
            print(f"        kill -9 {victims[hour]}, which starts again", flush=True)
            services.kill(victims[hour])
            services.start_again(victims[hour])
    return each_hour


def settle(shop: Shop, market: Marketplace, tryton: Tryton, day: Day) -> books.Books:
    """Finishes the work of the day, and compares until nothing differs or the evening is over."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        # The NF-e that are late come last: no other movement of their goods hides what their waiting did to the stock.
        shop.is_evening = shop.is_evening or all(LATE in order for order in shop.unfinished())
        shop.work()
        shop.restock()
        found = books.compare(market, tryton, day)
        unfinished = shop.unfinished()
        found.true("every order has met its fate", f"not yet: {unfinished}", not unfinished)
        if not found.differences or time.monotonic() > deadline:
            return found
        time.sleep(1)


def play(services: Services, options: argparse.Namespace) -> books.Books:
    """Sets everything up, plays the day, and returns the compared books."""
    started = time.monotonic()
    credential = start_marketplace(services, options.seed)
    databases = make_databases(services.folder, options.postgres)
    start_espelho(services, credential, databases.espelho)
    tryton = start_tryton(services, databases.tryton_uri, databases.tryton)
    tables, market = Tables(databases.espelho, STORE), Marketplace(credential["base"], STORE)
    market.tidy_warehouse()
    wait_for_mirror(tables)
    open_company(tryton)
    skus = make_products(tryton, tables)
    count_stock(tryton, {sku: 25 + at * 7 % 30 for at, sku in enumerate(skus)})
    location = tables.rows("SELECT min(location_id) AS id FROM product_stock WHERE store = ?", STORE)[0]["id"]
    connectors = start_connectors(services, tryton, databases.espelho, location, options.connectors)
    print(f"the shop is open after {time.monotonic() - started:.0f} s: {len(skus)} products", flush=True)
    shop = Shop(market, tryton, skus, options.seed)
    day = shop.play(options.orders, misfortunes(services, connectors, options.rough))
    found = settle(shop, market, tryton, day)
    print(f"the shop closed after {time.monotonic() - started:.0f} s: {shop.summary()};\n  {day.sold_out} was at zero "
          f"{day.sold_out_seconds:.1f} s after Tryton had it so; {day.prices_changed} prices changed", flush=True)
    return found


def report(found: books.Books) -> int:
    """Prints both books; returns the exit code."""
    print("\n" + found.table())
    for what, text in found.differences[:SHOWN]:
        print(f"  {what}: {text}")
    if len(found.differences) > SHOWN:
        print(f"  and {len(found.differences) - SHOWN} more")
    print(f"\n{len(found.differences)} differences")
    return 1 if found.differences else 0


def main() -> int:
    """Reads the command line and plays the day."""
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--orders", type=int, default=200, help="how many orders (200); fewer are a failure")
    parser.add_argument("--connectors", type=int, default=1, help="how many connectors work side by side (1)")
    parser.add_argument("--rough", action="store_true", help="kill -9 the connectors and the service in between")
    parser.add_argument("--postgres", metavar="URL", help="keep both databases there, made anew, not in SQLite")
    parser.add_argument("--seed", type=int, default=1, help="another day with each number (1)")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="keep databases and logs in this new folder")
    options = parser.parse_args()
    folder = (options.keep or Path(tempfile.mkdtemp(prefix="espelho-tryton-"))).resolve()
    if options.keep:
        folder.mkdir(parents=True)
    try:
        with Services(folder) as services:
            return report(play(services, options))
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os.chdir(HERE)
    sys.exit(main())
