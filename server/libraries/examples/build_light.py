"""A build light: a sprite that stands while the build is green, and falls over when it is red; neighbours can look.

    python3 build_light.py http://localhost:8080 make test
"""

import asyncio
import sys

from sprites_client import join

SCREEN = {"width": 300, "height": 200}  # so small that a neighbour sees all of it
EVERY_S = 60


async def main(relay: str, *command: str) -> None:
    def invite(invitation: str) -> None:
        print(f"Sit beside it: {relay}/#near={invitation}", flush=True)

    on = {"seated": lambda event: invite(event["invitation"])}  # after a time without the relay
    desktop = await join(relay, name="Build light", screen=SCREEN, stage=True, on=on)
    invite(desktop.invitation)
    picture, *_ = await desktop.gallery()
    was_green = None
    while True:
        build = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
        is_green = await build.wait() == 0
        animation = "idle" if is_green else "sleep"
        desktop.show([{"id": 1, "file": picture["file"], "x": 150, "y": 200, "animation": animation, "scale": 2}])
        if is_green != was_green:
            await desktop.say("The build is green." if is_green else "The build is red!")
        was_green = is_green
        await asyncio.sleep(EVERY_S)


if len(sys.argv) < 3:
    sys.exit(__doc__)
asyncio.run(main(*sys.argv[1:]))
