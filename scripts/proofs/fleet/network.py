"""Machines as network namespaces: each has a link to a bridge in a namespace of its own. Nothing reaches the real network."""

import contextlib
import ctypes
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PREFIX = "192.0.2"


# Linux ends such children with the thread that started them: so one thread starts all, and lives as long as the program.
_starter = ThreadPoolExecutor(max_workers=1)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def start(words: list[str], **more) -> subprocess.Popen:
    """A child that ends when this program does, however that ends."""
    return _starter.submit(subprocess.Popen, words, preexec_fn=_end_with_parent, **more).result()


class Machine:
    """A namespace, kept by a process that sleeps in it."""

    def __init__(self, name: str, number: int | None = None):
        self.name = name
        self.address = None if number is None else f"{PREFIX}.{number}"
        self.keeper = start(
            ["unshare", "--net", "sh", "-c", "echo ready; exec sleep infinity"], stdout=subprocess.PIPE, text=True)
        if self.keeper.stdout.readline() != "ready\n":
            raise OSError(f"no namespace for {name}")
        self.run("ip", "link", "set", "lo", "up")

    def command(self, *words: str) -> list[str]:
        """What runs these words on this machine."""
        return ["nsenter", f"--net=/proc/{self.keeper.pid}/ns/net", *words]

    def run(self, *words: str, **more) -> str:
        done = subprocess.run(self.command(*words), capture_output=True, text=True, **more)
        if done.returncode != 0:
            raise OSError(f"{self.name}: {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def start(self, *words: str, **more) -> subprocess.Popen:
        return start(self.command(*words), **more)

    def filter(self, rules: str) -> None:
        self.run("nft", "-f", "-", input=rules)


class Network:
    """A bridge and what is on it."""

    def __init__(self, names: list[str]):
        self.bridge = Machine("bridge")
        self.bridge.run("ip", "link", "add", "bridge", "type", "bridge")
        self.bridge.run("ip", "link", "set", "bridge", "up")
        self.machines = {name: Machine(name, number) for number, name in enumerate(names, 1)}
        for machine in self.machines.values():
            self._join(machine)

    def _join(self, machine: Machine) -> None:
        port = f"to-{machine.name}"
        self.bridge.run("ip", "link", "add", port, "type", "veth", "peer", "name", "net", "netns", str(machine.keeper.pid))
        self.bridge.run("ip", "link", "set", port, "master", "bridge", "up")
        machine.run("ip", "address", "add", f"{machine.address}/24", "dev", "net")
        machine.run("ip", "link", "set", "net", "up")
        machine.filter("""
            table ip cuts {
                chain outward { type filter hook output priority 0; }
                chain inward { type filter hook input priority 0; }
            }
            """)

    def close(self) -> None:
        for machine in [*self.machines.values(), self.bridge]:
            machine.keeper.kill()
            machine.keeper.wait()
            machine.keeper.stdout.close()


@contextlib.contextmanager
def network(names: list[str]) -> Iterator[dict[str, Machine]]:
    made = Network(names)
    try:
        yield made.machines
    finally:
        made.close()


def cut(machine: Machine, others: list[Machine], direction: str) -> None:
    """Drops what goes to these others, what comes from them, or both, without a word to either side."""
    addresses = ", ".join(other.address for other in others)
    if direction in ("outward", "both"):
        machine.run("nft", "add", "rule", "ip", "cuts", "outward", "ip", "daddr", f"{{ {addresses} }}", "drop")
    if direction in ("inward", "both"):
        machine.run("nft", "add", "rule", "ip", "cuts", "inward", "ip", "saddr", f"{{ {addresses} }}", "drop")


def pull(machine: Machine) -> None:
    """Takes the cable out."""
    machine.run("ip", "link", "set", "net", "down")


def heal(machine: Machine) -> None:
    machine.run("nft", "flush", "table", "ip", "cuts")
    machine.run("ip", "link", "set", "net", "up")


class SlowWay:
    """Everything between a machine and a port of others comes late. The kernels of tests have no netem, so a relay on the
    machine itself does it, to which new connections are led by address translation: names and certificates stay as they are.
    """

    PORT = 5431

    def __init__(self, machine: Machine, others: list[Machine], port: int):
        self.machine = machine
        self.relay = machine.start(
            sys.executable, str(Path(__file__).with_name("relay.py")), str(self.PORT), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        if self.relay.stdout.readline() != "ready\n":
            raise OSError(f"{machine.name}: no relay")
        addresses = ", ".join(other.address for other in others)
        machine.filter(f"""
            table ip slow {{
                chain out {{
                    type nat hook output priority -100
                    ip daddr {{ {addresses} }} tcp dport {port} meta mark != 1 dnat to {machine.address}:{self.PORT}
                }}
            }}
            """)

    def delay(self, seconds: float) -> None:
        """Of each direction."""
        self.relay.stdin.write(f"{seconds}\n")
        self.relay.stdin.flush()

    def close(self) -> None:
        self.machine.run("nft", "delete", "table", "ip", "slow")
        self.relay.stdin.close()
        self.relay.wait(timeout=20)
        self.relay.stdout.close()


def lead_loopback(machine: Machine, port: int, to: Machine) -> None:
    """Gives a machine's own 127.0.0.1:port to a server that listens on the loopback address of another one."""
    machine.run("sysctl", "-qw", "net.ipv4.conf.all.route_localnet=1")
    machine.filter(f"""
        table ip lead {{
            chain out {{
                type nat hook output priority -100
                ip daddr 127.0.0.1 tcp dport {port} dnat to {to.address}:{port}
            }}
            chain source {{
                type nat hook postrouting priority 100
                ip daddr {to.address} tcp dport {port} masquerade
            }}
        }}
        """)


def receive_on_loopback(machine: Machine, port: int) -> None:
    machine.run("sysctl", "-qw", "net.ipv4.conf.all.route_localnet=1")
    machine.filter(f"""
        table ip lead {{
            chain in {{
                type nat hook prerouting priority -100
                tcp dport {port} dnat to 127.0.0.1:{port}
            }}
        }}
        """)
