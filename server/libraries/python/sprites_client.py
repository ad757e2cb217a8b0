"""A desktop without a window, for programs that throw and catch sprites. Python 3.11 or newer, nothing else.

README.md is the manual. The library for JavaScript has the same words. PROTOCOL.md and BEHAVIOUR.md of the project have
the rules, and the vectors that its page is tested with are played on the functions below.
Invariant: a sprite that was thrown has a verdict, or is asked about, under its number and at the seat that sent it.
"""

import asyncio
import inspect
import json
import logging
import random
import re
import time
import unicodedata
from dataclasses import dataclass, field
from typing import Any, Awaitable, Callable
from urllib.parse import quote, urlsplit

__all__ = ["join", "Desktop", "Refused", "NoAnswer"]

OPPOSITE = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
OUTWARDS = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}  # to the right, and down

# The events that a program can have a function for: HANDLED are those of a relay, these are the library's own.
OWN = ("connected", "seated", "lost", "hidden")

SCREEN = {"width": 800, "height": 600}
SPEED = 900  # px/s of a throw that says none: what a hand does
LIFT = -200  # px/s, up, likewise
PASS_ON_MS = 1_000  # that a sprite which nobody handles stays: alone, a desktop throws to itself
RETRY_MS = 3_000  # until such a sprite is thrown again when it was refused
LEAVE_S = 2  # that leaving waits for verdicts, and for its answer

ANSWER_BYTES_MAX = 1 << 20  # of an answer: a full batch has less than 128 KiB
HEAD_BYTES_MAX = 1 << 16
SECOND_POLL_S = 1  # that the relay may hold a poll until the desktop finds out whether it is there

# `npx node server/tools/rules.ts` writes the lines from here on: what the page and the relay have, too.
EDGES = ("left", "right", "top", "bottom")
HANDLED = ("sprite", "neighbours", "company", "swap", "removed", "announcement", "saying", "stage", "missed")
NAME_BYTES_MAX = 64
JOIN_URL_BYTES_MAX = 512
JOURNEY_BYTES_MAX = 200
JOURNEY_NAMES_MAX = 4
JOURNEY_HOPS_MAX = 1000000
JOURNEY_SINCE_MAX = 4294967295
REMOVED_MAX = 1000
LEASE_MS = 30000
LEASE_SECONDS_MIN = 4
LEASE_SECONDS_MAX = 600
PAUSES_PER_LEASE = 2
LOST_LEASES = 2
PING_MS = 120000
PING_SECONDS_MAX = 600
SILENCE_FACTOR = 1.5
ANSWER_S = 10
BACKOFF_MS_FIRST = 400
BACKOFF_MS_MAX = 15000
REFUSED_MS_MAX = 300000
BYE_MS_MAX = 300000
CROSSINGS_AHEAD_MAX = 32
FORMER_TRIES_MAX = 60
MOVES_MAX = 4
MOVES_MS = 600000
PEEKS_PER_LEASE = 2
PEEK_GAP_S = 0.5
PEEK_SOON_S = 1
PEEK_HIDDEN_S = 5
STAGE_GAP_S = 0.1
STAGE_ALIVE_S = 2
STAGE_RETRY_S = 1
STAGE_SPRITES_MAX = 32
STAGE_BYTES_MAX = 2048
# The end of those lines.

Problem = dict[str, Any]
Verdict = dict[str, Any]

SEAT_ENDED: Problem = {"code": "desktop-ended", "title": "The relay did not answer before this desktop ended."}
TOO_MANY: Problem = {"code": "too-fast", "title": "Too many throws wait for the relay."}
NOT_THERE: Problem = {"code": "no-neighbour", "title": "Nobody of this name is there."}


class NoAnswer(ConnectionError):
    """No relay answers: the message says why."""


class Refused(Exception):
    """The relay has refused: `problem` says why, and the message is its sentence."""

    def __init__(self, problem: Problem):
        super().__init__(problem.get("detail") or problem.get("title"))
        self.problem = problem


# --- HTTP: one request on one connection. The standard library has no client for asyncio. ---


@dataclass
class Answer:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Any:
        """Raises ValueError when it is none."""
        try:
            return json.loads(self.body, parse_constant=_no_constant)
        except RecursionError as error:
            raise ValueError("It is nested too deeply.") from error


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON.")


async def fetch(
    method: str, url: str, token: str | None = None, body: Any = None, timeout_s: float = ANSWER_S
) -> Answer:
    """Raises NoAnswer when there is no complete answer in time, or a too long one."""
    try:
        async with asyncio.timeout(timeout_s):
            return await _exchange(method, url, token, body)
    except TimeoutError as error:
        raise NoAnswer(f"There was no answer within {timeout_s:g} s.") from error
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
        raise NoAnswer(str(error)) from error


async def _exchange(method: str, url: str, token: str | None, body: Any) -> Answer:
    there = urlsplit(url)
    is_secure = there.scheme == "https"
    port = there.port or (443 if is_secure else 80)
    reader, writer = await asyncio.open_connection(
        there.hostname, port, ssl=is_secure or None, limit=HEAD_BYTES_MAX
    )
    try:
        sent = b"" if body is None else json.dumps(body).encode()
        path = there.path or "/"
        lines = [f"{method} {path}{'?' + there.query if there.query else ''} HTTP/1.1"]
        lines += [f"Host: {there.netloc}", "Connection: close", f"Content-Length: {len(sent)}"]
        if body is not None:
            lines.append("Content-Type: application/json")
        if token is not None:
            lines.append(f"Authorization: Bearer {token}")
        writer.write("\r\n".join([*lines, "", ""]).encode("ascii") + sent)
        await writer.drain()
        return await _read_answer(reader)
    finally:
        writer.close()


async def _read_answer(reader: asyncio.StreamReader) -> Answer:
    status = 100
    while 100 <= status < 200:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        first = re.fullmatch(r"HTTP/1\.[01] (\d{3})(?: .*)?", head[0])
        if first is None:
            raise ValueError("What answers does not speak HTTP.")
        status = int(first[1])
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    if status in (204, 304):
        return Answer(status, headers)
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return Answer(status, headers, await _read_chunks(reader))
    length = int(headers["content-length"]) if headers.get("content-length", "").isdecimal() else None
    _bound(length or 0)
    if length is not None:
        return Answer(status, headers, await reader.readexactly(length))
    return Answer(status, headers, await _read_all(reader))


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        _bound(len(body) + size)
        body += (await reader.readexactly(size + 2))[:-2]
    return bytes(body)


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while part := await reader.read(HEAD_BYTES_MAX):
        body += part
        _bound(len(body))
    return bytes(body)


def _bound(size: int) -> None:
    if not 0 <= size <= ANSWER_BYTES_MAX:
        raise ValueError(f"What answers is no relay: the answer has more than {ANSWER_BYTES_MAX} bytes.")


async def _sleep(ms: float) -> None:
    await asyncio.sleep(ms / 1000)


@dataclass
class Environment:
    """What the library needs of its surroundings; tests have their own. `sleep` takes milliseconds."""

    fetch: Callable[..., Awaitable[Answer]] = fetch
    sleep: Callable[[float], Awaitable[None]] = _sleep
    random: Callable[[], float] = random.random


# --- The rules. BEHAVIOUR.md has them: Waiting for a relay, A throw without a verdict, Moving to another relay. ---


@dataclass
class Seat:
    desktop: str
    token: str
    invitation: str
    world: str
    cursor: str
    events: str
    crossings: str
    ping_seconds: int
    lease_seconds: int
    stage: bool | None = None

    @property
    def relay(self) -> str:
        return origin_of(self.crossings)

    @property
    def own(self) -> str:
        return f"{self.relay}/v1/desktops/{self.desktop}"


def read_seat(said: Any) -> Seat:
    """The answer to a join. Raises ValueError when it is none."""
    if not isinstance(said, dict):
        raise ValueError("It is no object.")
    members = ("desktop", "token", "invitation", "world", "cursor", "events", "crossings")
    texts = {name: said.get(name) for name in members}
    for name, text in texts.items():
        if not isinstance(text, str) or (name != "world" and not re.fullmatch(r"[!-~]+", text)):
            raise ValueError(f"{name} is no such text.")
    for name in ("events", "crossings"):
        if not texts[name].startswith(("http://", "https://")) or not urlsplit(texts[name]).hostname:
            raise ValueError(f"{name} is no address.")
    stage = said.get("stage")
    ping = _seconds(said.get("pingSeconds"), 1, PING_SECONDS_MAX, PING_MS // 1000)
    lease = _seconds(said.get("leaseSeconds"), LEASE_SECONDS_MIN, LEASE_SECONDS_MAX, LEASE_MS // 1000)
    return Seat(**texts, ping_seconds=ping, lease_seconds=lease, stage=stage if isinstance(stage, bool) else None)


def _seconds(said: Any, least: int, most: int, otherwise: int) -> int:
    is_number = isinstance(said, (int, float)) and not isinstance(said, bool)
    return int(max(least, min(most, said))) if is_number else otherwise


def silence_ms(seat: Seat) -> float:
    """After how long a poll that is silent is given up."""
    return seat.ping_seconds * 1000 * SILENCE_FACTOR


def pause_ms_max(seat: Seat) -> float:
    """The longest pause between two polls."""
    return seat.lease_seconds * 1000 / PAUSES_PER_LEASE


def backoff_ms(attempt: int, rand: Callable[[], float], most: float = BACKOFF_MS_MAX) -> float:
    full = min(most, BACKOFF_MS_FIRST * 2 ** min(attempt, 10))
    return full * (0.5 + rand() / 2)


def join_pause_ms(attempt: int, rand: Callable[[], float], problem: Problem | None = None) -> float:
    is_for_good = problem is not None and problem["code"] in ("banned", "malformed")
    pause = backoff_ms(attempt, rand, REFUSED_MS_MAX if is_for_good else BACKOFF_MS_MAX)
    return max((problem or {}).get("retryAfterMs", 0), pause)


def read_problem(answer: Answer) -> Problem:
    """The problem document of an answer, or one that is made up: a proxy has none."""
    try:
        said = answer.json()
    except ValueError:
        said = None
    problem = {"title": f"The relay answered {answer.status}.", **(said if isinstance(said, dict) else {})}
    if not isinstance(problem.get("code"), str):
        problem["code"] = f"http-{answer.status}"
    seconds = answer.headers.get("retry-after", "")
    if seconds.isdecimal() and int(seconds) > 0:
        problem["retryAfterMs"] = min(BYE_MS_MAX, 1000 * int(seconds))
    return {**problem, "status": answer.status}


def is_verdict(problem: Problem, is_repeat: bool) -> bool:
    """Whether this answer says that a throw or a saying was not accepted. Otherwise it is sent again."""
    code = problem["code"]
    if code.startswith(("http-5", "http-2")) or code == "internal":
        return False
    return not is_repeat or not (code in ("too-fast", "relay-busy", "draining") or code.startswith("http-"))


def may_be_sent(number: int, unanswered: list[int]) -> bool:
    return not unanswered or number < min(unanswered) + CROSSINGS_AHEAD_MAX


def lost_after(problem: Problem, cursor: str, polls_sent: int) -> float:
    """After which event of its last batch a seat that has ended has lost what came."""
    acknowledged = problem.get("cursor")
    found = re.fullmatch(r"(.+-)(\d+)", acknowledged, re.ASCII) if isinstance(acknowledged, str) else None
    if found is None:
        return 0 if polls_sent == 1 else float("inf")
    return int(found[2]) if cursor.startswith(found[1]) else float("inf")


def bye_ms(bye: dict[str, Any], rand: Callable[[], float]) -> float:
    said = bye.get("retryAfterMs")
    is_number = isinstance(said, (int, float)) and not isinstance(said, bool)
    return max(0, min(BYE_MS_MAX, said)) * (0.5 + rand()) if is_number else 0


def origin_of(url: str) -> str:
    there = urlsplit(url)
    host = f"[{there.hostname}]" if ":" in (there.hostname or "") else there.hostname
    usual = {"http": 80, "https": 443}.get(there.scheme)
    port = "" if there.port in (None, usual) else f":{there.port}"
    return f"{there.scheme}://{host}{port}"


ADDRESS = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:[/?#][!-~]*)?", re.I | re.ASCII)


def _is_name(one: Any) -> bool:
    return isinstance(one, str) and 0 < len(one.encode(errors="replace")) <= NAME_BYTES_MAX


def _is_number(one: Any) -> bool:
    return isinstance(one, (int, float)) and not isinstance(one, bool)


def read_journey(said: Any) -> dict | None:
    """A journey as a relay has sent it, each number within its limits; None for what is none."""
    hops, since, by, names = (said.get(one) if isinstance(said, dict) else None for one in ("hops", "since", "by", "from"))
    if not _is_number(hops) or not _is_number(since) or not hops >= 1:
        return None
    return _fitted(
        {
            "hops": int(min(hops, JOURNEY_HOPS_MAX)),
            "since": int(max(0, min(since, JOURNEY_SINCE_MAX))),
            "by": by if _is_name(by) else "",
            "from": [one for one in names if _is_name(one)][-JOURNEY_NAMES_MAX:] if isinstance(names, list) else [],
        }
    )


def travelled(journey: dict | None, name: str, author: str, now_s: float) -> dict:
    """A journey with one throw more, by a desktop of this name; an empty one is left out. `author` drew what begins one."""
    begun = {"hops": 0, "since": int(now_s), "by": author if _is_name(author) else "", "from": []}
    before = journey or begun
    names = [*before["from"], name][-JOURNEY_NAMES_MAX:] if name else before["from"]
    return _fitted({**before, "hops": min(before["hops"] + 1, JOURNEY_HOPS_MAX), "from": names})


def _fitted(journey: dict) -> dict:
    """Leaves out those who threw it first, then who drew it, until it fits."""

    def is_too_long() -> bool:
        text = json.dumps(journey, ensure_ascii=False, separators=(",", ":"))
        return len(text.encode(errors="replace")) > JOURNEY_BYTES_MAX

    while len(journey["from"]) > 1 and is_too_long():
        journey = {**journey, "from": journey["from"][1:]}
    return {**journey, "by": ""} if is_too_long() else journey


def next_step(goal: dict, name: str | None, beyond: dict[str, dict]) -> tuple[str, dict] | None:
    """Over which edge a sprite goes that is thrown to somebody, and its goal then; None: it stays.

    `name` is that of this desktop, None for the thrower.
    """
    to, column, row = goal["name"], goal["column"], goal["row"]
    if to == name or (column == 0 and row == 0):
        return None
    there = [edge for edge in EDGES if beyond.get(edge, {}).get("name") == to]
    outwards = (0, 1 if row > 0 else -1) if column == 0 else (1 if column > 0 else -1, 0)
    on_the_way = next(edge for edge in EDGES if OUTWARDS[edge] == outwards)
    if abs(column) + abs(row) > 1 or on_the_way in there:
        return on_the_way, {"name": to, "column": column - outwards[0], "row": row - outwards[1]}
    return (there[0], {"name": to, "column": 0, "row": 0}) if there else None


def relay_to_join(relay: str, join_at: str) -> str | None:
    """The origin of `join_at`, which the relay at the origin `relay` names; None when a desktop must not follow."""
    if len(join_at) > JOIN_URL_BYTES_MAX or not ADDRESS.fullmatch(join_at):
        return None
    try:
        origin = origin_of(join_at)
    except ValueError:
        return None
    return None if relay.startswith("https:") and not origin.startswith("https:") else origin


def is_lost(began: str, seat: Seat, silent_ms: float) -> bool:
    """Whether to join where the desktop began: the relay of the seat, another one, has not answered for so long."""
    return began != seat.relay and silent_ms >= LOST_LEASES * seat.lease_seconds * 1000


class Moves:
    """Counts moves, so that relays that name each other can't make a desktop run in circles."""

    def __init__(self) -> None:
        self._made_ms: list[float] = []

    def follow(self, relay: str, join_at: str, now_ms: float) -> str | None:
        to = relay_to_join(relay, join_at)
        self._made_ms = [ms for ms in self._made_ms if now_ms - ms < MOVES_MS]
        if to is None or len(self._made_ms) == MOVES_MAX:
            return None
        self._made_ms.append(now_ms)
        return to


class Arrivals:
    """Which events are new, and which sprites the relay may have passed on when the seat ends."""

    def __init__(self, enter: Callable[[dict], None], remove: Callable[[dict], None]):
        self.seq: float = -1
        self.batch: list[dict] = []
        self.removed: dict[str, None] = {}
        self._enter = enter
        self._remove = remove

    def receive(self, events: list[dict]) -> None:
        sprites = [event for event in events if event.get("type") == "sprite"]
        if not sprites or sprites[0]["seq"] > self.seq:
            self.batch = []
        for event in sprites:
            if event["seq"] <= self.seq:
                continue
            self.seq = event["seq"]
            if event["sprite"]["file"] in self.removed:
                continue
            self.batch.append(event)
            self._enter(event)

    def remove_after(self, seq: float, batch: list[dict] | None = None) -> None:
        batch = self.batch if batch is None else batch
        for event in [one for one in batch if one["seq"] > seq]:
            batch.remove(event)
            self._remove(event)

    def remove_picture(self, file: str) -> None:
        self.removed[file] = None
        if len(self.removed) > REMOVED_MAX:
            del self.removed[next(iter(self.removed))]
        self.batch = [event for event in self.batch if event["sprite"]["file"] != file]

    def restart(self) -> list[dict]:
        """The relay numbers from the start again. Returns the last batch."""
        former, self.batch, self.seq = self.batch, [], -1
        return former


async def post(
    environment: Environment,
    url: str,
    token: str,
    message: dict,
    member: str,
    is_repeat: bool = False,
    goes_on: Callable[[], bool] = lambda: True,
) -> Verdict | None:
    """Posts a throw or a saying until the relay decides: it tells `member` then. None when `goes_on` ends it."""
    failures = 0
    while goes_on():
        try:
            answer = await environment.fetch("POST", url, token, message)
            said = answer.json() if answer.status == 202 else None
            if isinstance(said, dict) and member in said:
                return {member: said[member]}
            problem = read_problem(answer)
            if is_verdict(problem, is_repeat or failures > 0):
                return {"refused": problem}
        except (NoAnswer, ValueError):
            pass  # without a response there is no verdict: send the same number again
        await environment.sleep(backoff_ms(failures, environment.random))
        failures += 1
    return None


def is_batch(said: Any) -> bool:
    return (
        isinstance(said, dict)
        and isinstance(said.get("cursor"), str)
        and re.fullmatch(r"[!-~]+", said["cursor"]) is not None
        and isinstance(said.get("events"), list)
        and all(_is_event(event) for event in said["events"])
    )


def _is_event(said: Any) -> bool:
    if not isinstance(said, dict) or said.get("type") != "sprite":
        return isinstance(said, dict)
    sprite, sender = said.get("sprite"), said.get("from")
    return (
        isinstance(said.get("seq"), int)
        and said.get("edge") in EDGES
        and isinstance(sprite, dict)
        and isinstance(sprite.get("file"), str)
        and isinstance(sender, dict)
    )


class Polls:
    """The polls of one seat, one after the other.

    A poll is sent only after the batch before was handled: its cursor acknowledges that batch.
    """

    def __init__(
        self,
        seat: Seat,
        environment: Environment,
        *,
        events: Callable[[list[dict], str], bool],
        cursor_lost: Callable[[], None],
        connected: Callable[[bool], None],
    ):
        self._seat = seat
        self._environment = environment
        self._events = events
        self._cursor_lost = cursor_lost
        self._connected = connected
        self._polls_sent = 1
        self._is_up = False
        self._held: set[asyncio.Task[Answer]] = set()
        self._second: tuple[str, asyncio.Task[Answer]] | None = None

    async def run(self) -> float | None:
        """Returns the number after which the last batch is lost, when the seat has ended; None when `events` wants none."""
        failures = 0
        try:
            while True:
                is_failure, away_ms, is_over, lost = await self._poll()
                if is_over:
                    return lost
                pause = backoff_ms(failures, self._environment.random, pause_ms_max(self._seat)) if is_failure else 0
                failures = failures + 1 if is_failure else 0
                if max(away_ms, pause) > 0:
                    await self._environment.sleep(max(away_ms, pause))
        finally:
            for task in self._held:
                task.cancel()

    async def _poll(self) -> tuple[bool, float, bool, float | None]:
        try:
            answer = await self._request()
            said = answer.json() if answer.ok else None
        except (NoAnswer, ValueError):
            return self._failed()
        if not answer.ok:
            return self._refused(read_problem(answer))
        if not is_batch(said):
            return self._failed()
        self._set_up(True)
        is_replaced = self._second is not None
        events, cursor = said["events"], said["cursor"]
        goes_on = self._events(events, cursor)
        self._seat.cursor = cursor
        self._polls_sent = 0
        bye = next((event for event in events if event.get("type") == "bye"), None)
        away_ms = bye_ms(bye, self._environment.random) if bye else 0
        # A relay returns an empty batch only to a poll that a newer one has replaced.
        return not events and not is_replaced, away_ms, not goes_on, None

    def _refused(self, problem: Problem) -> tuple[bool, float, bool, float | None]:
        if problem["code"] in ("cursor-lost", "cursor-ahead") and isinstance(problem.get("cursor"), str):
            self._seat.cursor = problem["cursor"]
            self._cursor_lost()
            return True, 0, False, None
        if problem["code"] in ("unknown-desktop", "desktop-ended"):
            return True, 0, True, lost_after(problem, self._seat.cursor, self._polls_sent)
        return self._failed(problem.get("retryAfterMs", 0))

    def _failed(self, away_ms: float = 0) -> tuple[bool, float, bool, float | None]:
        self._set_up(False)
        return True, away_ms, False, None

    async def _request(self) -> Answer:
        """A relay with nothing to send holds a poll. Before it has answered at all, a second one replaces the first,

        which is answered at once: so the desktop knows that the relay is there.
        """
        cursor = self._seat.cursor
        poll = self._second[1] if self._second is not None and self._second[0] == cursor else self._get(cursor)
        self._second = None
        if not self._is_up:
            await asyncio.wait({poll}, timeout=SECOND_POLL_S)
            if not poll.done():
                self._second = cursor, self._get(cursor)
        return await poll

    def _get(self, cursor: str) -> asyncio.Task[Answer]:
        self._polls_sent += 1
        url = f"{self._seat.events}?cursor={quote(cursor, safe='')}"
        get = self._environment.fetch("GET", url, self._seat.token, timeout_s=silence_ms(self._seat) / 1000)
        task = asyncio.ensure_future(get)
        self._held.add(task)
        task.add_done_callback(self._answered)
        return task

    def _answered(self, task: asyncio.Task[Answer]) -> None:
        self._held.discard(task)
        if not task.cancelled():
            task.exception()  # its reader gets it; that of a poll that was replaced has gone

    def _set_up(self, is_up: bool) -> None:
        self._is_up = is_up
        self._connected(is_up)


# --- The desktop. ---


async def join(
    relay: str,
    *,
    on: dict[str, Callable[[dict], Any]] | None = None,
    name: str | None = None,
    world: str | None = None,
    near: str | None = None,
    screen: dict[str, int] | None = None,
    stage: bool | None = None,
    named: bool | None = None,
    environment: Environment | None = None,
) -> "Desktop":
    """Joins a world at a relay, such as `http://localhost:8080`. `on` has a function for each type of event you want.

    `near` is a friend's invitation, `screen` has `width` and `height` in px. `stage`: neighbours may look in; `named`:
    public pages may show the name. What is left out is as PROTOCOL.md (Join) says.
    Raises Refused; NoAnswer; ValueError for another address, or a function for an event that there is not.
    """
    environment = environment or Environment()
    if not re.match(r"https?://[^/]", relay):
        raise ValueError(f"A relay's address begins with http:// or https://, not as {relay!r}.")
    for kind in on or {}:
        if kind not in (*HANDLED, *OWN):
            raise ValueError(f"There is no event {kind}. A function may be for {', '.join((*HANDLED, *OWN))}.")
    wish = {"name": name, "world": world, "near": near, "screen": screen or SCREEN, "stage": stage, "named": named}
    began = origin_of(relay)
    seat = await _request_seat(environment, began, wish)
    return Desktop(began, wish, on or {}, seat, environment)


async def _request_seat(environment: Environment, relay: str, wish: dict) -> Seat:
    request = {member: value for member, value in wish.items() if value is not None}
    answer = await _answered(relay, environment.fetch("POST", f"{relay}/v1/desktops", None, request))
    if not answer.ok:
        raise Refused(read_problem(answer))
    try:
        return read_seat(answer.json())
    except ValueError as error:
        raise NoAnswer(f"What answers at {relay} is no relay of sprites.") from error


async def _answered(relay: str, asked: Awaitable[Answer]) -> Answer:
    try:
        return await asked
    except NoAnswer as error:
        raise NoAnswer(f"No relay answers at {relay}: {error}") from error


class Desktop:
    """A desktop that has joined. `neighbours` has who is beyond each edge, as far as the relay has told: `desktop` and `name`.

    `ended` is done when it has left. Awaiting it raises what a handler has raised: that ends the desktop.
    """

    def __init__(self, began: str, wish: dict, on: dict, seat: Seat, environment: Environment):
        self.neighbours: dict[str, dict] = {}
        self.connected = False
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._began = began
        self._wish = wish
        self._on = on
        self._seat = seat
        self._environment = environment
        self._moves = Moves()
        self._moving: tuple[str, float] | None = None
        self._arrivals = Arrivals(self._enter, self._lose)
        self._passing: dict[int, dict] = {}  # events of sprites that go on by themselves, by id()
        self._changed = asyncio.Event()  # the connection has come up or gone down
        self._next_crossing = 1
        self._next_saying = 1
        self._pending: list[tuple[int, Seat]] = []
        self._throwing: set[asyncio.Task] = set()
        self._speaking = asyncio.Lock()
        self._edge: str | None = None
        self._peek_due = asyncio.Event()
        self._shown: list[dict] = []
        self._watched = False
        self._watches = 0  # events that told it
        self._stage_due = asyncio.Event()
        self._handling: set[asyncio.Task] = set()
        self._working: set[asyncio.Task] = set()
        for work in (self._live(), self._keep_peeking(), self._keep_showing()):
            self._start(work, self._working)

    @property
    def desktop(self) -> str:
        """The id of its present seat."""
        return self._seat.desktop

    @property
    def invitation(self) -> str:
        """A secret: who has it may join beside this desktop (`near`)."""
        return self._seat.invitation

    @property
    def world(self) -> str:
        """The name of its world."""
        return self._seat.world

    @property
    def _name(self) -> str:
        return unicodedata.normalize("NFC", self._wish.get("name") or "").strip()

    async def throw(
        self, sprite: dict, to: str | dict, *, at: float = 0.5, vx: float | None = None, vy: float | None = None
    ) -> Verdict:
        """Throws a sprite over an edge, or to somebody of company() over the desktops in between.

        `at` is 0 … 1 along the edge, from the left or the top; `vx` to the right and `vy` down are device-independent px/s.
        Returns when the relay has decided, however often the throw is repeated for that. `{"to": …}` is who has the
        sprite now, None when the relay can't say. `{"refused": …}`: it is still yours, and bounces off the edge.
        """
        step = (to, None) if isinstance(to, str) else await self._first_step(to)
        given = {"at": at, "vx": vx, "vy": vy}
        motion = {member: value for member, value in given.items() if value is not None}
        return {"refused": NOT_THERE} if step is None else await self._throw(sprite, *step, motion)

    async def _first_step(self, goal: dict) -> tuple[str, dict] | None:
        """Asks the relay when the neighbours, as it has told them, are no way: in a large world it tells them late."""
        step = next_step(goal, None, self.neighbours)
        if step is None:
            try:
                looked = self._read(await self._request("GET", self._seat.own), lambda said: said["neighbours"])
            except (NoAnswer, Refused):
                return None
            step = next_step(goal, None, looked)
        return step

    async def _throw(self, sprite: dict, edge: str, goal: dict | None, motion: dict) -> Verdict:
        right, down = OUTWARDS.get(edge, (0, 0))
        motion = {"at": 0.5, "vx": right * SPEED, "vy": down * SPEED or LIFT, **motion}
        if goal is not None:
            motion["goal"] = goal
        look = {"name": "", "animation": "fall", "facing": "left" if right < 0 else "right", "scale": 2, **sprite}
        look["journey"] = travelled(read_journey(sprite.get("journey")), self._name, "", time.time())
        seat = self._seat
        if not may_be_sent(self._next_crossing, [number for number, one in self._pending if one is seat]):
            return {"refused": TOO_MANY}
        crossing = {"crossing": self._next_crossing, "edge": edge, **motion, "sprite": look}
        self._next_crossing += 1
        self._pending.append((crossing["crossing"], seat))
        task = asyncio.ensure_future(self._decide(seat, crossing))
        self._throwing.add(task)
        task.add_done_callback(self._throwing.discard)
        return await asyncio.shield(task)  # whoever threw may be cancelled, and the sprite is on its way

    async def _decide(self, seat: Seat, crossing: dict) -> Verdict:
        former_tries = 0

        def goes_on() -> bool:
            nonlocal former_tries
            former_tries += seat is not self._seat
            return former_tries <= FORMER_TRIES_MAX

        posting = post(self._environment, seat.crossings, seat.token, crossing, "to", goes_on=goes_on)
        try:
            return await self._unless_closed(posting) or {"refused": SEAT_ENDED}
        finally:
            self._pending.remove((crossing["crossing"], seat))

    async def say(self, text: str) -> Verdict:
        """Says a line of text, of 280 bytes at most.

        `{"heard": …}` is how many others it is for (None: the relay can't say); or `{"refused": …}`.
        """
        async with self._speaking:
            saying = {"saying": self._next_saying, "text": unicodedata.normalize("NFC", text).strip()}
            self._next_saying += 1
            verdict = None
            while verdict is None and not self._closing.done():
                seat = self._seat
                posting = post(
                    self._environment,
                    f"{seat.own}/sayings",
                    seat.token,
                    saying,
                    "heard",
                    goes_on=lambda seat=seat: seat is self._seat,
                )
                verdict = await self._unless_closed(posting)
            return verdict or {"refused": SEAT_ENDED}

    def peek(self, edge: str | None) -> None:
        """Looks over an edge, until it is told another one, or None. What is seen comes as `stage`; else `hidden` comes."""
        self._edge = edge
        self._peek_due.set()

    def show(self, sprites: list[dict]) -> None:
        """Sets what neighbours see who look in, if it has joined with `stage=True`.

        Each has `id`, `file`, and `x` and `y`: the middle of its feet, in px of `screen`. The first STAGE_SPRITES_MAX of
        them are shown, or as many as fit. What a relay can't read ends this desktop.
        """
        self._shown = [dict(sprite) for sprite in sprites]
        self._stage_due.set()

    async def gallery(self) -> list[dict]:
        """Returns pictures of the relay's gallery to throw, its own characters first. Raises NoAnswer or Refused."""
        answer = await self._request("GET", f"{self._seat.relay}/v1/gallery")
        return self._read(answer, lambda said: [{"file": one["file"], "name": one["title"]} for one in said["entries"]])

    async def company(self) -> dict:
        """Returns who else is in the world, as far as the relay lists them. Raises NoAnswer or Refused."""
        answer = await self._request("GET", f"{self._seat.own}/company")
        return self._read(answer, lambda said: {one: said[one] for one in ("desktops", "residents", "company")})

    async def swap(self, companion: dict) -> Verdict:
        """Asks somebody of company() to change places: `{"swap": "asked"}`; `"done"`: their place was free.

        The event `swap` tells of a yes. `{"refused": …}`: nobody of this name sits there. Raises NoAnswer.
        """
        wish = {member: companion[member] for member in ("name", "column", "row")}
        answer = await self._request("POST", f"{self._seat.own}/swap", wish)
        return self._read(answer, dict) if answer.ok else {"refused": read_problem(answer)}

    async def answer(self, asker: dict, accept: bool) -> Verdict:
        """Answers the one that an event `swap` has as `from`. Raises NoAnswer."""
        said = {"from": asker["desktop"], "accept": accept}
        answer = await self._request("PUT", f"{self._seat.own}/swap", said)
        return {"swap": "done" if accept else "declined"} if answer.ok else {"refused": read_problem(answer)}

    async def _request(self, method: str, url: str, body: Any = None) -> Answer:
        return await _answered(self._seat.relay, self._environment.fetch(method, url, self._seat.token, body))

    def _read(self, answer: Answer, members: Callable[[Any], Any]) -> Any:
        if not answer.ok:
            raise Refused(read_problem(answer))
        try:
            return members(answer.json())
        except (ValueError, TypeError, KeyError) as error:
            raise NoAnswer(f"What answers at {self._seat.relay} is no relay of sprites.") from error

    async def leave(self) -> None:
        """Leaves. What waits at the relay goes on to others; a throw without a verdict is asked about for up to LEAVE_S."""
        if self._throwing:
            await asyncio.wait(self._throwing, timeout=LEAVE_S)
        if self._closing.done():
            return
        self._close()
        try:
            await self._environment.fetch("DELETE", self._seat.own, self._seat.token, timeout_s=LEAVE_S)
        except NoAnswer:
            pass  # its lease ends it
        if not self.ended.done():
            self.ended.set_result(None)

    def _close(self) -> None:
        if not self._closing.done():
            self._closing.set_result(None)
        for task in list(self._working):
            task.cancel()

    def _fail(self, error: BaseException) -> None:
        # A program that awaits something else would not hear of it.
        logging.getLogger(__name__).error("This desktop has left, because a function has failed.", exc_info=error)
        self._close()
        if not self.ended.done():
            self.ended.set_exception(error)

    def _start(self, work: Awaitable, among: set[asyncio.Task]) -> None:
        """Runs beside the program. What is raised ends the desktop. Those among `_working` end with it."""
        task = asyncio.ensure_future(work)
        among.add(task)

        def done(task: asyncio.Task) -> None:
            among.discard(task)
            if not task.cancelled() and (error := task.exception()) is not None:
                self._fail(error)

        task.add_done_callback(done)

    async def _unless_closed(self, work: Awaitable) -> Any:
        """Returns None when this desktop has left before."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task, self._closing}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            task.cancel()

    def _tell(self, event: dict) -> None:
        handler = self._on.get(event["type"])
        if handler is None or self._closing.done():
            return
        try:
            result = handler(event)
        except Exception as error:
            self._fail(error)
            return
        if inspect.isawaitable(result):
            self._start(result, self._handling)

    # Its seats, one after the other.

    async def _live(self) -> None:
        while True:
            seat = self._seat
            polls = Polls(
                seat,
                self._environment,
                events=lambda events, cursor, seat=seat: self._receive(seat, events),
                cursor_lost=self._arrivals.restart,
                connected=self._set_connected,
            )
            polling = asyncio.ensure_future(polls.run())
            instead = asyncio.ensure_future(self._join_when_gone(seat))
            try:
                await asyncio.wait({polling, instead}, return_when=asyncio.FIRST_COMPLETED)
                taken = instead.result() if instead.done() else None
                lost = polling.result() if polling.done() else None
            finally:
                polling.cancel()
                instead.cancel()
            self._set_connected(False)
            self._set_watched(False)
            if lost is not None:
                self._arrivals.remove_after(lost)  # the relay has told what becomes of the last batch
                self._arrivals.restart()
            moving, self._moving = self._moving, None
            if taken is None and moving is not None:
                to, away_ms = moving
                await self._environment.sleep(away_ms)
                taken = await self._join_again(seat, [to, self._began])
            elif taken is None:
                taken = await self._join_again(seat, [self._began, seat.relay])
            doubtful = self._arrivals.restart()
            if doubtful:
                self._start(self._settle(seat, doubtful), self._working)
            self._seat = taken
            self._peek_due.set()
            self._tell({"type": "seated", "desktop": taken.desktop, "invitation": taken.invitation})

    async def _join_when_gone(self, seat: Seat) -> Seat:
        """Joins where this desktop began when the relay of its seat, another one, does not answer any more."""
        silent_s = LOST_LEASES * seat.lease_seconds
        while True:
            self._changed.clear()
            try:
                async with asyncio.timeout(silent_s):
                    await self._changed.wait()
            except TimeoutError:
                if not self.connected and is_lost(self._began, seat, silent_s * 1000):
                    taken = await self._join_again(seat, [self._began], may_stop=True)
                    if taken is not None:
                        return taken

    async def _join_again(self, former: Seat, relays: list[str], may_stop: bool = False) -> Seat | None:
        """Joins at these relays in turn until one accepts. With `may_stop`, None when the relay of the seat answers again."""
        wish = {**self._wish, "near": None, "world": former.world, "stage": former.stage}
        attempt = 0
        while not (may_stop and self.connected):
            problem = None
            try:
                return await _request_seat(self._environment, relays[attempt % len(relays)], wish)
            except Refused as error:
                problem = error.problem
            except NoAnswer:
                pass
            await self._environment.sleep(join_pause_ms(attempt, self._environment.random, problem))
            attempt += 1
        return None

    async def _settle(self, former: Seat, batch: list[dict]) -> None:
        """Ends a former seat as soon as its relay answers, and learns whether that has passed on the last batch."""
        has_ended = False
        failures = 0
        for _ in range(FORMER_TRIES_MAX):
            try:
                answer = await self._environment.fetch("DELETE", former.own, former.token)
                if answer.status == 204 and not has_ended:
                    has_ended = True
                    continue  # the answer to the next request tells what was acknowledged
                problem = read_problem(answer)
                if problem["code"] in ("unknown-desktop", "desktop-ended"):
                    self._arrivals.remove_after(lost_after(problem, former.cursor, 2), batch)
                    return
            except NoAnswer:
                pass
            await self._environment.sleep(backoff_ms(failures, self._environment.random))
            failures += 1

    def _set_connected(self, is_up: bool) -> None:
        if is_up == self.connected:
            return
        self.connected = is_up
        self._changed.set()
        self._tell({"type": "connected", "is": is_up})

    def _set_watched(self, is_watched: bool) -> None:
        self._watched = is_watched
        self._watches += 1
        self._stage_due.set()

    # What comes in.

    def _receive(self, seat: Seat, events: list[dict]) -> bool:
        self._arrivals.receive(events)
        for event in events:
            kind = event.get("type")
            if kind == "neighbours":
                self.neighbours = {edge: event[edge] for edge in EDGES if edge in event}
            elif kind == "removed" and isinstance(event.get("file"), str):
                self._arrivals.remove_picture(event["file"])
            elif kind == "watched":
                self._set_watched(bool(event.get("edges")))
            elif kind == "bye" and isinstance(event.get("join"), str) and self._moving is None:
                to = self._moves.follow(seat.relay, event["join"], time.monotonic() * 1000)
                if to is not None:
                    self._moving = to, bye_ms(event, self._environment.random)
            if kind == "neighbours" or (kind == "stage" and "from" not in event):
                self._peek_due.set()
            if kind in HANDLED and kind != "sprite":  # those were told when they entered
                self._tell(event)
        return self._moving is None

    def _enter(self, event: dict) -> None:
        if "sprite" in self._on and self._next_step(event) is None:
            self._tell(event)
        else:
            self._passing[id(event)] = event
            self._start(self._pass_on(event), self._working)

    def _lose(self, event: dict) -> None:
        if self._passing.pop(id(event), None) is None:
            self._tell({**event, "type": "lost"})

    def _next_step(self, event: dict) -> tuple[str, dict] | None:
        """Where a sprite goes on that is on its way to somebody else; None for one that stays."""
        goal = event.get("goal")
        stays = goal is None or event["from"].get("desktop") == self.desktop
        return None if stays else next_step(goal, self._name, self.neighbours)

    async def _pass_on(self, event: dict) -> None:
        """A sprite that is on its way to somebody else goes on; when that is refused, it stays.

        One that no handler takes flies on, over the opposite edge.
        """
        motion = {member: event[member] for member in ("at", "vx", "vy") if member in event}
        await self._environment.sleep(PASS_ON_MS)
        step = self._next_step(event)
        while id(event) in self._passing and event["sprite"]["file"] not in self._arrivals.removed:
            if step is None and "sprite" in self._on:
                self._tell(event)
                break
            way = (*step, {}) if step else (OPPOSITE[event["edge"]], None, motion)
            if "to" in await self._throw(event["sprite"], *way):
                break
            step = None
            await self._environment.sleep(RETRY_MS)
        self._passing.pop(id(event), None)

    # Peeks and stages.

    async def _keep_peeking(self) -> None:
        asked = None
        pause_s: float | None = None
        while True:
            try:
                async with asyncio.timeout(pause_s):
                    await self._peek_due.wait()
            except TimeoutError:
                pass
            self._peek_due.clear()
            edge = self._edge
            pause_s = None
            if edge is not None or asked is not None:
                asked = edge
                pause_s = await self._ask(edge)
                await asyncio.sleep(PEEK_GAP_S)

    async def _ask(self, edge: str | None) -> float | None:
        """Returns after how many s to ask again; None: not before there is a reason."""
        try:
            answer = await self._environment.fetch("POST", f"{self._seat.own}/peeks", self._seat.token, {"edge": edge})
            if answer.ok:
                lease_ms = answer.json().get("leaseMs", 0)
                return None if edge is None else max(0, min(600_000, lease_ms)) / 1000 / PEEKS_PER_LEASE
        except (NoAnswer, ValueError, TypeError, AttributeError):
            return PEEK_SOON_S
        problem = read_problem(answer)
        if problem["code"] in ("too-fast", "draining", "relay-busy", "unknown-desktop", "desktop-ended"):
            return PEEK_SOON_S
        if problem["code"] == "not-found":
            self._edge = None
        elif edge is not None:
            self._tell({"type": "hidden", "edge": edge, "problem": problem})
        return PEEK_HIDDEN_S if problem["code"] in ("stage-hidden", "no-neighbour") else PEEK_SOON_S

    async def _keep_showing(self) -> None:
        carried: set[str] = set()
        refused: set[str] = set()
        while True:
            try:
                async with asyncio.timeout(STAGE_ALIVE_S if self._watched else None):
                    await self._stage_due.wait()
            except TimeoutError:
                pass
            self._stage_due.clear()
            if not self._watched:
                continue
            stage = self._stage(refused)
            watches = self._watches
            try:
                answer = await self._environment.fetch("POST", f"{self._seat.own}/stage", self._seat.token, stage)
            except NoAnswer:
                await asyncio.sleep(STAGE_RETRY_S)
                self._stage_due.set()
                continue
            if answer.ok:
                carried.update(stage["files"])
                # An event that came before this answer may be newer than the answer.
                if answer.body.strip() == b'{"edges":[]}' and watches == self._watches:
                    self._watched = False
            elif (code := read_problem(answer)["code"]) == "picture-refused":
                refused.update(set(stage["files"]) - carried)
                self._stage_due.set()
            elif code == "malformed":
                raise Refused(read_problem(answer))  # show() was given something else than sprites
            elif code == "too-fast":
                await asyncio.sleep(STAGE_RETRY_S)
                self._stage_due.set()
            else:
                self._watched = False
            await asyncio.sleep(STAGE_GAP_S)

    def _stage(self, refused: set[str]) -> dict:
        shown = [sprite for sprite in self._shown if sprite["file"] not in refused][:STAGE_SPRITES_MAX]
        while True:
            files = list(dict.fromkeys(sprite["file"] for sprite in shown))
            sprites = [{**sprite, "file": files.index(sprite["file"])} for sprite in shown]
            stage = {**self._wish["screen"], "files": files, "sprites": sprites}
            if len(json.dumps(stage)) <= STAGE_BYTES_MAX:
                return stage
            shown.pop()
