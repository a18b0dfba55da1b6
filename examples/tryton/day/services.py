"""Starts the programs of the day, and ends every one of them whatever happens."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import TracebackType

HERE = Path(__file__).resolve().parent.parent


def free_port() -> int:
    """Returns a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def find_espelho() -> str:
    """Returns the program: $ESPELHO, one in the PATH, or one that was built here."""
    root = HERE.parent.parent
    built = [root / "target" / profile / "espelho" for profile in ("dist", "release", "debug")]
    found = os.environ.get("ESPELHO") or shutil.which("espelho") or next((str(p) for p in built if p.exists()), None)
    if found is None:
        sys.exit("no espelho: put it into the PATH, name it in $ESPELHO, or build it with cargo build --release")
    return found


class Services:
    """The running programs, by name; each one's output is FOLDER/NAME.log."""

    def __init__(self, folder: Path) -> None:
        """Starts nothing yet."""
        self.folder = folder
        self.commands: dict[str, tuple[list[str], dict[str, str]]] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Services":
        """Turns signals into an ordinary end, so that the programs are ended too."""
        for word in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(word, lambda *_: sys.exit(1))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Ends all programs, the last started first; nothing interrupts it."""
        for word in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(word, signal.SIG_IGN)
        for name in reversed(list(self.running)):
            self.stop(name)

    def start(self, name: str, command: list[str], **environment: str) -> None:
        """Starts a program in a process group of its own."""
        self.commands[name] = (command, environment)
        # Where util-linux is installed, programs also end when this one is killed.
        leash = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
        with (self.folder / f"{name}.log").open("ab") as output:
            self.running[name] = subprocess.Popen(
                [*leash, *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                cwd=self.folder, env={**os.environ, "STATE_DIRECTORY": str(self.folder), **environment})

    def run(self, name: str, command: list[str], **environment: str) -> None:
        """Runs a program to its end."""
        self.start(name, command, **environment)
        code = self.running.pop(name).wait()
        if code != 0:
            sys.exit(f"{name} ended with {code}:\n" + (self.folder / f"{name}.log").read_text()[-2000:])

    def start_again(self, name: str) -> None:
        """Starts a program as before."""
        command, environment = self.commands[name]
        self.start(name, command, **environment)

    def stop(self, name: str) -> None:
        """Asks a program to end, and ends it after fifteen seconds."""
        process = self.running.pop(name)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(15)
        self._kill_group(process)

    def kill(self, name: str) -> None:
        """Ends a program at once, as `kill -9` does."""
        self._kill_group(self.running.pop(name))

    @staticmethod
    def _kill_group(process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def wait_for(self, name: str, url: str, seconds: float = 60) -> None:
        """Waits until a program answers, however it answers."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.running[name].poll() is not None:
                break
            try:
                urllib.request.urlopen(url, timeout=5).close()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.2)
        sys.exit(f"{name} does not answer; its last words:\n" + (self.folder / f"{name}.log").read_text()[-2000:])

    def first_json(self, name: str, seconds: float = 30) -> dict[str, object]:
        """Returns the JSON object with which a program begins its output."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for line in (self.folder / f"{name}.log").read_text().splitlines():
                if line.startswith("{"):
                    return dict(json.loads(line))
            time.sleep(0.1)
        sys.exit(f"{name} does not start:\n" + (self.folder / f"{name}.log").read_text()[-2000:])
