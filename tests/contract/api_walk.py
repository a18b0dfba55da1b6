"""Writes the configuration of a service for a sandbox, with a token for its API, and prints the service's address."""

import json
import os
import pathlib
import secrets
import socket
import sys


def write(path, text):
    with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def main():
    work = pathlib.Path(sys.argv[1])
    announced = json.loads((work / "sandbox.json").read_text())
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    token = secrets.token_hex(32)
    write(work / "token", token)
    write(work / "tokens.toml", f'[[token]]\nname = "walk"\ntoken = "{token}"\nscopes = ["read", "write", "feed"]\n')
    database = f'[database]\nurl = "sqlite:{work}/espelho.db"\n'
    write(work / "espelho.toml", f'{database}[http]\nlisten = "{address}"\ntokens_file = "tokens.toml"\n')
    (work / "stores").mkdir(exist_ok=True)
    for store in announced["stores"]:
        credentials = f'[credentials]\nusername = "{store["username"]}"\npassword = "{store["password"]}"\n'
        budget = "[limits]\nrequests_per_minute = 100000\n"
        start = f'environment = "sandbox"\nbase_url = "{announced["base_url"]}"\n'
        write(work / "stores" / f'{store["store"]}.toml', start + credentials + budget)
    print(f"http://{address}")


main()
