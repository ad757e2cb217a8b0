"""The library and the page do the same with a relay: python3 vectors_test.py relay.vectors.json moves.vectors.json"""

import asyncio
import json
import sys
import unittest
from pathlib import Path

import sprites_client as client

RELAY, MOVES = (json.loads(Path(path).read_text()) for path in sys.argv[1:])

JOINED = {
    "desktop": "1-1",
    "token": "1-1.aa",
    "invitation": "1.aa",
    "world": "commons",
    "cursor": "00000001-0",
    "events": "http://r/events",
    "crossings": "http://r/v1/desktops/1-1/crossings",
}


def answer_of(said):
    body = said.get("body", "")
    text = body if isinstance(body, str) else json.dumps(body)
    headers = {"retry-after": str(said["retryAfter"])} if "retryAfter" in said else {}
    return client.Answer(said["status"], headers, text.encode())


class Relay:
    """Gives the answers of a case. `answer` tells how long the library waited before its next request."""

    def __init__(self, rand=0.5):
        self.environment = client.Environment(self.fetch, self.sleep, lambda: rand)
        self.requests = []
        self.slept_ms = 0
        self.answering = None
        self.asked = asyncio.Event()

    async def fetch(self, method, url, token=None, body=None, timeout_s=0):
        self.requests.append((url, body))
        self.answering = asyncio.get_running_loop().create_future()
        self.asked.set()
        said = await self.answering
        if said["status"] == 0:
            raise client.NoAnswer("network")
        return answer_of(said)

    async def sleep(self, ms):
        self.slept_ms += ms

    async def answer(self, said):
        await self.asked.wait()
        self.asked.clear()
        self.slept_ms = 0
        self.answering.set_result(said)
        await self.asked.wait()
        return self.slept_ms

    async def answer_last(self, said):
        await self.asked.wait()
        self.asked.clear()
        self.answering.set_result(said)


class Vectors(unittest.IsolatedAsyncioTestCase):
    def test_constants(self):
        for name, value in {**RELAY["constants"], **MOVES["constants"]}.items():
            self.assertEqual(getattr(client, name), value, name)

    def test_times(self):
        # Without an expected time, it is that of the rules.
        silence_ms = client.PING_MS * client.SILENCE_FACTOR
        pause_ms_max = client.LEASE_MS / client.PAUSES_PER_LEASE
        for case in RELAY["times"]:
            with self.subTest(case["name"]):
                seat = client.read_seat({**JOINED, **case["said"]})
                self.assertEqual(client.silence_ms(seat), case.get("silenceMs", silence_ms))
                self.assertEqual(client.pause_ms_max(seat), case.get("pauseMsMax", pause_ms_max))

    async def test_polls(self):
        for case in RELAY["polls"]:
            with self.subTest(case["name"]):
                await self.play_polls(case)

    async def play_polls(self, case):
        relay = Relay(case.get("random", 0.5))
        news = {}

        def events(batch, cursor):
            news["received"] = len(batch)
            return True

        seat = client.read_seat({**JOINED, "leaseSeconds": case.get("leaseSeconds", 30)})
        polls = client.Polls(
            seat,
            relay.environment,
            events=events,
            cursor_lost=lambda: news.update(restarts=True),
            connected=lambda is_up: news.update(isUp=is_up),
        )
        running = asyncio.create_task(polls.run())
        for step in case["steps"]:
            expected = {key: step[key] for key in ("received", "isUp") if key in step}
            news.pop("restarts", None)
            if "poll" in step:
                self.assertEqual(await relay.answer(step["answer"]), step["waitMs"])
                self.assertEqual(relay.requests[-1][0], f"http://r/events?cursor={step['poll']}")
                self.assertEqual({key: news.get(key) for key in expected}, expected)
                self.assertEqual(news.get("restarts"), step.get("restarts"))
            else:
                await relay.answer_last(step["answer"])
                lost = step.get("lostAfter")
                self.assertEqual(await running, float("inf") if lost is None else lost)
        running.cancel()

    def test_joins(self):
        for case in RELAY["joins"]:
            with self.subTest(case["name"]):
                problems = [client.read_problem(answer_of(one)) if one["status"] else None for one in case["answers"]]
                waits = [client.join_pause_ms(number, lambda: 0.5, one) for number, one in enumerate(problems)]
                self.assertEqual(waits, case["waitsMs"])

    def test_numbers_of_throws(self):
        for case in RELAY["numbers"]:
            with self.subTest(case["name"]):
                self.assertEqual(client.may_be_sent(case["number"], case["unanswered"]), case["isSent"])

    async def test_throws_at_once(self):
        """No more of them than the relay remembers, however fast they come."""

        async def silence(*_, **__):
            await asyncio.Event().wait()

        seat = client.read_seat(JOINED)
        desktop = client.Desktop("http://r", {"screen": client.SCREEN}, {}, seat, client.Environment(silence))
        throws = [asyncio.create_task(desktop.throw({"file": "f"}, "right")) for _ in range(40)]
        await asyncio.wait(throws[client.CROSSINGS_AHEAD_MAX :])
        self.assertEqual([one.done() for one in throws], [number >= 32 for number in range(40)])
        desktop._close()
        self.assertEqual([one["refused"]["code"] for one in await asyncio.gather(*throws)][0], "desktop-ended")

    async def test_answers(self):
        for case in RELAY["answers"]:
            for is_repeat in (False, True):
                with self.subTest(case["name"], is_repeat=is_repeat):
                    relay = Relay()
                    tries = iter((True, False))
                    message = {"crossing": 7}
                    posting = asyncio.create_task(
                        client.post(relay.environment, "http://r/c", "t", message, "to", is_repeat, lambda: next(tries))
                    )
                    await relay.answer_last(case["answer"])
                    verdict = await posting
                    outcome = "again" if verdict is None else "returned" if "refused" in verdict else "accepted"
                    self.assertEqual(outcome, case["repeat" if is_repeat else "first"])

    async def test_throws_and_sayings(self):
        for kind, member in (("throws", "to"), ("sayings", "heard")):
            for case in RELAY[kind]:
                with self.subTest(f"{kind}: {case['name']}"):
                    relay = Relay()
                    posting = asyncio.create_task(client.post(relay.environment, "http://r/p", "t", {"n": 7}, member))
                    waits = [await relay.answer(one) for one in case["answers"][:-1]]
                    await relay.answer_last(case["answers"][-1])
                    verdict = await posting
                    self.assertEqual(waits, case["waitsMs"])
                    self.assertEqual(set(map(str, relay.requests)), {str(("http://r/p", {"n": 7}))})
                    code = verdict["refused"]["code"] if "refused" in verdict else "accepted"
                    self.assertEqual(code, case["outcome"])
                    if kind == "sayings" and code == "accepted":
                        self.assertEqual(verdict["heard"], case["heard"])
                    if kind == "throws" and code == "accepted":
                        self.assertEqual((verdict["to"] or {}).get("name"), case["to"])

    def test_ends_of_a_seat(self):
        for case in RELAY["ends"]:
            with self.subTest(case["name"]):
                lost = client.lost_after({"cursor": case["acknowledged"]}, case["cursor"], case["polls"])
                self.assertEqual(lost, float("inf") if case["lostAfter"] is None else case["lostAfter"])

    def test_journeys(self):
        for case in RELAY["journeys"]:
            with self.subTest(case["name"]):
                journey = client.read_journey(case["journey"])
                travelled = client.travelled(journey, case["thrower"], case["author"], case["nowS"])
                self.assertEqual(travelled, case["next"])

    def test_goals(self):
        for case in RELAY["goals"]:
            with self.subTest(case["name"]):
                beyond = {edge: {"desktop": "9-3e", "name": name} for edge, name in case["beyond"].items()}
                step = client.next_step(case["goal"], case["self"], beyond)
                self.assertEqual(step and {"edge": step[0], "goal": step[1]}, case["next"])

    def test_arrivals(self):
        """A library has always room, so those cases in which nothing ever waits."""
        cases = [case for case in RELAY["arrivals"] if not any(step["waiting"] for step in case["steps"])]
        self.assertGreater(len(cases), 1)
        for case in cases:
            with self.subTest(case["name"]):
                inside = []
                arrivals = client.Arrivals(
                    lambda event, now=inside: now.append(event["seq"]),
                    lambda event, now=inside: now.remove(event["seq"]),
                )
                for step in case["steps"]:
                    if "batch" in step:
                        sprites = [{"type": "sprite", "seq": seq, "sprite": {"file": "f"}} for seq in step["batch"]]
                        arrivals.receive([{"type": "ping"}, *sprites])
                    if "lostAfter" in step:
                        arrivals.remove_after(step["lostAfter"])
                    self.assertEqual(inside, step["inside"])

    def test_addresses_to_follow(self):
        for case in MOVES["addresses"]:
            with self.subTest(case["name"]):
                self.assertEqual(client.relay_to_join(case["relay"], case["join"]), case["to"])
        for case in MOVES["lengths"]:
            with self.subTest(case["name"]):
                followed = client.relay_to_join("http://r1.example", "http://r2.example/".ljust(case["bytes"], "x"))
                self.assertEqual(followed is not None, case["isFollowed"])

    def test_moves(self):
        for case in MOVES["moves"]:
            with self.subTest(case["name"]):
                moves = client.Moves()
                to = [moves.follow("http://r1.example", "http://r2.example/v1/desktops", ms) for ms in case["atMs"]]
                self.assertEqual([one is not None for one in to], case["follows"])

    def test_relays_that_are_gone(self):
        for case in MOVES["lost"]:
            with self.subTest(case["name"]):
                seat = client.read_seat(
                    {**JOINED, "crossings": f"{case['relay']}/v1/c", "leaseSeconds": case["leaseSeconds"]}
                )
                self.assertEqual(client.is_lost(case["began"], seat, case["silentMs"]), case["isLost"])


unittest.main(argv=sys.argv[:1])
