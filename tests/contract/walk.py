"""Runs schemathesis against a sandbox until it has answered enough requests, and says what the sandbox saw."""

import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

ROUNDS = 40
CONFIGURATION = str(pathlib.Path(__file__).resolve().parent / "schemathesis.toml")


def call(url, body=None, method=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def log_in(base, store):
    body = {"username": store["username"], "password": store["password"]}
    return call(f"{base}/api/integration/auth", body)["data"]["token"]


def one_round(schemathesis, base, token, seed, examples, work):
    command = [
        schemathesis, "--config-file", CONFIGURATION, "run", f"{base}/openapi.json", "--url", base, "--workers", "1", "--seed", str(seed),
        "--phases", "examples,coverage,fuzzing", "--max-examples", str(examples), "--continue-on-failure",
        "--header", f"Authorization: Bearer {token}", "--request-timeout", "30", "--warnings", "off",
        "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection",
        "--suppress-health-check", "all",
    ]
    # It leaves a folder of what it saw where it runs.
    return subprocess.run(command, check=False, cwd=work).returncode


def main():
    work, wanted, schemathesis = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    announced = json.loads((work / "sandbox.json").read_text())
    base, store = announced["base_url"], announced["stores"][0]
    failures = 0
    for seed in range(1, ROUNDS + 1):
        failures += one_round(schemathesis, base, log_in(base, store), seed, 200, work) != 0
        stats = call(f"{base}/_sandbox/stats")
        print(f"round {seed}: {stats['requests']} requests so far, by status {stats['by_status']}", flush=True)
        if stats["requests"] >= wanted or failures:
            break
    described = call(f"{base}/openapi.json")["paths"]
    templates = {f"{method.upper()} {path}" for path, item in described.items() for method in item if method != "parameters"}
    unreached = sorted(templates - set(stats["by_route"]))
    broken = {status: count for status, count in stats["by_status"].items() if status.startswith("5") or status == "0"}
    print(f"{stats['requests']} requests, {len(templates)} operations, unreached {unreached}, broken {broken}, failed rounds {failures}")
    sys.exit(bool(failures or unreached or broken or stats["requests"] < wanted))


main()
