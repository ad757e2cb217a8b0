/**
 * A sprite goes over forty desktops of three relays that share a world through NATS, and comes home: once to a page, in a real browser, and once to a
 * program. The others have the JavaScript library. The way was chosen before, so that each desktop is met.
 */
import assert from 'node:assert/strict';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { join, type Sprite } from '../../server/libraries/javascript/client.ts';
import {
  blobOf,
  HOPS_AND_GREETS,
  joinPage,
  launchBrowser,
  modesAtHome,
  noBrowser,
  seatOf,
  shoot,
} from '../../server/test/browser_page.ts';
import { crossingOf, DesktopClient, post, sendRequest } from '../../server/test/desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from '../../server/test/relay_process.ts';
import type { Journey } from '../../server/web/motion/simulation.ts';
import { readJourney } from '../../server/web/relay/journey.ts';
import { EDGES, type Edge, JOURNEY_BYTES_MAX, JOURNEY_HOPS_MAX, NAME_BYTES_MAX } from '../../server/wire/rules.ts';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { buildClient } from '../../tools/build.js';
import { type HeadlessDesktop, SPRITES, startHeadless } from './headless_desktop.ts';

const whyNoProgram = buildClient();

/** Each relay's desktops with the library; the page is a guest of the first relay, a program one of each that is named here. */
const DESKTOPS_OF_RELAY = 13;
const PROGRAMS_AT = whyNoProgram ? [] : [0, 2];

interface Step {
  from: number;
  edge: Edge;
}

interface Seen {
  desktop: string;
  neighbours: Partial<Record<Edge, { desktop: string }>>;
}

/** A desktop on the way. */
interface Host {
  readonly name: string;
  /** Its id, and who is beyond its edges. */
  look(): Promise<Seen>;
  /** Throws the sprite with this picture on, once it is there. Returns its journey, if that can be seen. */
  throwOn(file: string, edge: Edge): Promise<Journey | undefined>;
  leave(): Promise<unknown>;
}

/** The way from `home` over all desktops and back, which never is at home in between. `beyond` has the desktop over each edge of each. */
function wayOver(beyond: readonly Record<Edge, number>[], home: number): Step[] {
  const met = new Set([home]);
  const way: Step[] = [];
  for (let at = home; met.size < beyond.length || at !== home; ) {
    const isGoal = (one: number) => (met.size < beyond.length ? !met.has(one) : one === home);
    const leg = shortest(beyond, at, isGoal, home);
    for (const { from } of leg) met.add(from);
    way.push(...leg);
    const { from, edge } = leg[leg.length - 1];
    at = beyond[from][edge];
    met.add(at);
  }
  return way;
}

function shortest(
  beyond: readonly Record<Edge, number>[],
  at: number,
  isGoal: (one: number) => boolean,
  home: number,
): Step[] {
  const ways = new Map<number, Step[]>([[at, []]]);
  for (const [from, way] of ways) {
    for (const edge of EDGES) {
      const to = beyond[from][edge];
      if (isGoal(to)) return [...way, { from, edge }];
      if (to !== home && !ways.has(to)) ways.set(to, [...way, { from, edge }]);
    }
  }
  throw new Error('There is no way.');
}

/** A desktop with a long name now and then: one of the two longest that fit leaves room for no other. */
const nameOf = (n: number) => (n % 9 === 0 ? `D${n} `.padEnd(NAME_BYTES_MAX, 'x') : `D${n}`);

/** A desktop with the library. */
async function joinLibrary(relay: string, name: string, faults: string[]): Promise<Host> {
  let come = Promise.withResolvers<Sprite>();
  const desktop = await join(relay, { name, on: { sprite: ({ sprite }) => come.resolve(sprite) } });
  desktop.ended.catch((error) => faults.push(`${name}: ${error.stack}`));
  return {
    name,
    look: async () => desktop,
    async throwOn(file, edge) {
      const sprite = await come.promise;
      come = Promise.withResolvers();
      assert.equal(sprite.file, file);
      assert.ok('to' in (await desktop.throw(sprite, edge)));
      return sprite.journey as Journey;
    },
    leave: () => desktop.leave(),
  };
}

/** The program without a window. */
async function joinProgram(relay: string, name: string): Promise<Host & { program: HeadlessDesktop }> {
  const program = startHeadless(['--relay', relay, '--name', name, '--seed', '1']);
  await program.until(`${name} is connected`, ({ link }) => link === 'connected');
  return {
    name,
    program,
    async look() {
      const { desktop, neighbours } = await program.look();
      return { desktop: desktop ?? '', neighbours: neighbours ?? {} };
    },
    async throwOn(file, edge) {
      const { sprites } = await program.until('the sprite is here', (state) =>
        state.sprites.some((one) => one.file === file),
      );
      program.send(`throw ${sprites.find((one) => one.file === file)?.id} ${edge}`);
      await program.until('it has left', (state) => !state.sprites.some((one) => one.file === file));
      return undefined;
    },
    leave: () => program.quit(),
  };
}

/** A page in a browser. */
function hostOf(page: Page, name: string, relay: string): Host {
  return {
    name,
    async look() {
      const { desktop, token } = await seatOf(page);
      const { json } = await sendRequest(`${relay}/v1/desktops/${desktop}`, { token });
      return json as Seen;
    },
    async throwOn(file, edge) {
      await page.waitForFunction(
        ([wanted, over]) => {
          const at = globalThis.sprites.sprites().findIndex((one) => one.file === wanted && !one.fromShelf);
          if (at >= 0) globalThis.sprites.throw(at, over);
          return at >= 0;
        },
        [file, edge] as const,
      );
      return undefined;
    },
    leave: () => page.close(),
  };
}

describe('a journey over forty desktops of three relays', { ...BOUNDED, skip: whyNoNats() || noBrowser }, () => {
  const relays: RelayProcess[] = [];
  const hosts: Host[] = [];
  const faults: string[] = [];
  let nats: NatsServer;
  let browser: Browser;
  let ida: Page;
  let beyond: Record<Edge, number>[];

  before(async () => {
    const launched = launchBrowser();
    nats = await NatsServer.start();
    const started = [1, 2, 3].map((n) =>
      startRelay({ workers: 0, args: ['--nats', nats.url, '--relay-name', `r${n}`] }),
    );
    relays.push(...(await Promise.all(started)));
    browser = await launched;
    ida = await joinPage(browser, relays[0].url, 'Ida', faults, { reducedMotion: 'no-preference' });
    hosts.push(hostOf(ida, 'Ida', relays[0].url));
    for (const [n, { url }] of relays.entries()) {
      if (PROGRAMS_AT.includes(n)) hosts.push(await joinProgram(url, `Program ${n}`));
      for (let count = 0; count < DESKTOPS_OF_RELAY; count++)
        hosts.push(await joinLibrary(url, nameOf(hosts.length), faults));
    }
    beyond = await untilAllAgree();
  });
  after(async () => {
    await Promise.all(hosts.map((one) => one.leave()));
    await browser?.close();
    for (const relay of relays) await relay.stop();
    await nats?.kill();
  });

  /** Waits until each desktop is known to those that it knows, and returns who is beyond whom. */
  async function untilAllAgree(): Promise<Record<Edge, number>[]> {
    let all: Record<Edge, number>[] = [];
    const [left, right, top, bottom] = EDGES;
    await until('the neighbours agree', async () => {
      const known = await Promise.all(hosts.map((one) => one.look()));
      const ids = known.map(({ desktop }) => desktop);
      all = known.map(({ neighbours }) => {
        const at = EDGES.map((edge) => [edge, ids.indexOf(neighbours[edge]?.desktop ?? '')]);
        return Object.fromEntries(at) as Record<Edge, number>;
      });
      return all.every((one, n) => all[one[right]]?.[left] === n && all[one[bottom]]?.[top] === n);
    });
    return all;
  }

  /** Lets each desktop throw the sprite on, along the way, after its first throw. Returns what its journey was at each step. */
  async function travel(file: string, way: readonly Step[]): Promise<Map<number, Journey>> {
    const journeys = new Map<number, Journey>();
    for (const [hops, { from, edge }] of way.entries()) {
      const journey = hops > 0 ? await hosts[from].throwOn(file, edge) : undefined;
      if (journey !== undefined) journeys.set(hops, journey);
    }
    return journeys;
  }

  /** Asserts that each journey is short, and is that of a sprite which has come along the way. */
  function check(journeys: ReadonlyMap<number, Journey>, way: readonly Step[]): void {
    assert.ok(journeys.size >= 3 * DESKTOPS_OF_RELAY);
    const [{ since, by }] = journeys.values();
    assert.notEqual(by, '');
    assert.ok(Math.abs(since - Date.now() / 1000) < 600);
    for (const [hops, journey] of journeys) {
      assert.ok(Buffer.byteLength(JSON.stringify(journey)) <= JOURNEY_BYTES_MAX);
      assert.deepEqual({ ...journey, from: [] }, { hops, since, by, from: [] });
      const throwers = way.slice(0, hops).map(({ from }) => hosts[from].name);
      assert.deepEqual(journey.from, throwers.slice(-journey.from.length), `desktop ${hops}`);
      const isShort = throwers.slice(-4).every((name) => name.length < NAME_BYTES_MAX);
      if (isShort) assert.equal(journey.from.length, Math.min(4, throwers.length));
    }
    const all = [...journeys.values()];
    assert.ok(all.some(({ from }) => from.some((name) => name.length === NAME_BYTES_MAX)));
  }

  it('begins with a throw from a page, which says who has the sprite now, also after a reload; it is greeted at home, and greets', async () => {
    const way = wayOver(beyond, 0);
    assert.ok(way.length >= 40);
    assert.equal(await ida.locator('#away').count(), 0);
    const { at, file } = await blobOf(ida);
    await ida.evaluate(([blob, edge]) => globalThis.sprites.throw(blob, edge), [at, way[0].edge] as const);
    const { name: first } = hosts[way[1].from];
    await ida.locator('.notice', { hasText: `is with ${first} now.` }).waitFor();
    for (const isAgain of [false, true]) {
      if (isAgain) await ida.reload();
      await ida.locator('#away', { hasText: /^Where is .+\?$/ }).click();
      await ida.locator('#menu button', { hasText: `: last seen with ${first}, ` }).waitFor();
      await shoot(ida, `journey-1-away${isAgain ? '-again' : ''}`);
      await ida.keyboard.press('Escape');
    }
    const atHome = () =>
      ida.evaluate((one) => globalThis.sprites.sprites().find((sprite) => sprite.file === one), file);
    assert.equal(await atHome(), undefined);
    const modes = modesAtHome(ida, file);
    const journeys = await travel(file, way);
    const greeting = `is home: ${way.length} desktops since today`;
    await ida.locator('#announcements p', { hasText: greeting }).waitFor({ state: 'attached' });
    await shoot(ida, 'journey-2-home');
    assert.match(await modes, HOPS_AND_GREETS);
    assert.equal((await atHome())?.fromShelf, true);
    assert.ok(await ida.locator('#away').isHidden());
    const saved = await ida.waitForFunction((one) => {
      const { sprites } = JSON.parse(sessionStorage.getItem('sprites.desktop') ?? '{"sprites":[]}');
      return sprites.find((sprite: { file: string }) => sprite.file === one)?.journey;
    }, file);
    journeys.set(way.length, await saved.jsonValue());
    check(journeys, way);
  });

  it('begins with a throw from a program, and is its own again at home', { skip: whyNoProgram ?? false }, async () => {
    const home = hosts.findIndex((one) => 'program' in one);
    const way = wayOver(beyond, home);
    const { program } = hosts[home] as Awaited<ReturnType<typeof joinProgram>>;
    program.send(`take ${joinPath(SPRITES, 'dawdle.spr')}`);
    const { sprites } = await program.until('it has landed', ({ sprites }) => sprites.at(-1)?.vy === 0);
    const { id, file } = sprites[0];
    program.send(`throw ${id} ${way[0].edge}`);
    const journeys = await travel(file, way);
    await program.until('it is an own sprite again', (state) =>
      state.sprites.some((one) => one.file === file && one.fromShelf),
    );
    check(journeys, way);
  });

  it('is refused by each relay when it is hostile, and what lies is not believed', async () => {
    const journey = { hops: 40, since: 1_795_824_000, by: 'Zoe', from: ['Ada'] };
    const lies: object[] = [
      ...[
        { hops: '40' },
        { hops: 0 },
        { hops: 1.5 },
        { hops: JOURNEY_HOPS_MAX + 1 },
        { since: -1 },
        { since: 2 ** 32 },
      ],
      ...[{ by: 7 }, { by: 'a\u0000b' }, { by: '\u202eoeZ' }, { from: ['\u2066Ada'] }, { from: 'Ada' }, { from: [7] }],
      ...[{ from: [''] }, { from: ['a', 'b', 'c', 'd', 'e'] }, { from: ['x'.repeat(NAME_BYTES_MAX + 1)] }],
      { from: ['x', 'y', 'z'].map((letter) => letter.repeat(NAME_BYTES_MAX)) },
    ];
    const hostile: unknown[] = ['40 desktops', [journey], ...lies.map((lie) => ({ ...journey, ...lie }))];
    for (const relay of relays) {
      const mallory = await DesktopClient.join(relay.url, { name: 'Mallory' });
      const crossing = crossingOf(1);
      for (const one of hostile) {
        const answer = await post(mallory.joined, { ...crossing, sprite: { ...crossing.sprite, journey: one } });
        assert.equal(answer.status, 400, JSON.stringify(one));
        assert.match(JSON.stringify(answer.json), /sprite\.journey/);
      }
      await mallory.leave();
    }
    assert.equal(readJourney({ ...journey, hops: 1e300 })?.hops, JOURNEY_HOPS_MAX, 'of a relay that lies');
  });

  it('logged no error', () => assert.deepEqual(faults, []));
});
