"""A line with a delay, jitter and loss, where the kernel has no netem: python3 line.py --ends 3 --delay 40 --jitter 10 --loss 0.1

Each end is a network namespace, NAME-1, NAME-2, …, with the address 10.77.0.1, 10.77.0.2, … on a TUN device. This program carries each IPv4
packet to the end that it is for. It says so when the line is there, and ends it with its stdin or when it is stopped; it wants root.

Invariant: a packet is lost with the probability `loss`, or is there `delay` ± `jitter` after it was sent, evenly spread and each for itself,
so that packets overtake each other; netem on each end does the same. A late carrier makes the line slower: it says by how much.
Cost: O(log packets under way) a packet; some 20,000 packets a second on one core.
"""

import argparse
import fcntl
import heapq
import os
import random
import selectors
import signal
import struct
import subprocess
import sys
import time

NETWORK = "10.77.0"
ENDS_MAX = 200
PACKET_BYTES_MAX = 65_535

TUNSETIFF = 0x400454CA  # linux/if_tun.h, as the next two
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class Line:
    def __init__(self, name: str, delay_s: float, jitter_s: float, loss: float, luck: random.Random):
        self._delay_s, self._jitter_s, self._loss, self._luck = delay_s, jitter_s, loss, luck
        self._name = name
        self._namespaces: list[str] = []
        self._devices: list[int] = []
        self._under_way: list[tuple[float, int, int, bytes]] = []  # when it is due, its number, its end, and the packet
        self.sent = self.lost = 0
        self.late_s = 0.0  # the longest time after a packet was due

    def open(self, ends: int) -> None:
        for n in range(1, ends + 1):
            name = f"{self._name}-{n}"
            ip("netns", "add", name)
            self._namespaces.append(name)
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            self._devices.append(device)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
            ip("link", "set", name, "netns", name)  # the file stays that of the device
            ip("-n", name, "address", "add", f"{NETWORK}.{n}/24", "dev", name)
            ip("-n", name, "link", "set", name, "up")
            ip("-n", name, "link", "set", "lo", "up")

    def close(self) -> None:
        for device in self._devices:
            os.close(device)
        for name in self._namespaces:
            subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)

    def carry(self) -> None:
        """Until stdin ends."""
        with selectors.DefaultSelector() as selector:
            selector.register(sys.stdin, selectors.EVENT_READ)
            for device in self._devices:
                selector.register(device, selectors.EVENT_READ)
            while True:
                pause_s = max(0.0, self._under_way[0][0] - time.monotonic()) if self._under_way else None
                for key, _ in selector.select(pause_s):
                    if key.fileobj is not sys.stdin:
                        self._receive(key.fd)
                    elif os.read(key.fd, 4096) == b"":
                        return
                self._deliver()

    def _receive(self, device: int) -> None:
        while (packet := _read(device)) is not None:
            end = _end_of(packet)
            if end is None or end > len(self._devices):
                continue
            self.sent += 1
            if self._luck.random() < self._loss:
                self.lost += 1
                continue
            due_s = time.monotonic() + self._delay_s + self._jitter_s * self._luck.uniform(-1, 1)
            heapq.heappush(self._under_way, (due_s, self.sent, end, packet))

    def _deliver(self) -> None:
        now_s = time.monotonic()
        while self._under_way and self._under_way[0][0] <= now_s:
            due_s, _, end, packet = heapq.heappop(self._under_way)
            self.late_s = max(self.late_s, now_s - due_s)
            os.write(self._devices[end - 1], packet)


def _read(device: int) -> bytes | None:
    try:
        return os.read(device, PACKET_BYTES_MAX)
    except BlockingIOError:
        return None


def _end_of(packet: bytes) -> int | None:
    """The end that a packet of IPv4 is for; None for what the kernel sends of itself, such as IPv6."""
    is_here = packet[0] >> 4 == 4 and packet[16:19] == bytes(map(int, NETWORK.split(".")))
    return packet[19] if is_here and packet[19] > 0 else None


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--ends", type=int, default=2, choices=range(2, ENDS_MAX + 1), metavar="N")
    options.add_argument("--name", default="line", help="of at most ten letters; each line that is there at once has its own")
    options.add_argument("--delay", type=float, default=0, metavar="MS", help="from one end to another")
    options.add_argument("--jitter", type=float, default=0, metavar="MS", help="more or less than that, at most")
    options.add_argument("--loss", type=float, default=0, metavar="PERCENT")
    options.add_argument("--seed", type=int, default=random.randrange(2**32))
    wanted = options.parse_args()
    if wanted.jitter > wanted.delay:
        options.error("--jitter is longer than --delay")
    if not 1 <= len(wanted.name) <= 10:
        options.error("--name must have 1 to 10 letters")
    luck = random.Random(wanted.seed)
    line = Line(wanted.name, wanted.delay / 1000, wanted.jitter / 1000, wanted.loss / 100, luck)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        line.open(wanted.ends)
        print(f"The line is there, with the seed {wanted.seed}.", flush=True)
        line.carry()
    except KeyboardInterrupt:
        pass
    finally:
        line.close()
        print(f"{line.sent} packets, {line.lost} of them lost; the latest was {line.late_s * 1000:.1f} ms late.")


if __name__ == "__main__":
    main()
