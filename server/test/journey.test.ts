/**
 * A sprite goes over the desktops of three relays that share a world through NATS, and comes home to the page that threw it first.
 *
 * The page is Ida's, in a real browser. Thirty-nine programs with the JavaScript library throw it on, along a way that the test has chosen before, so
 * that each desktop is met.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { NatsServer, whyNoNats } from '../../tools/bench/nats_server.ts';
import { type Desktop, join } from '../libraries/javascript/client.ts';
import type { Journey } from '../web/motion/simulation.ts';
import { readJourney } from '../web/relay/journey.ts';
import { EDGES, type Edge, JOURNEY_BYTES_MAX, JOURNEY_HOPS_MAX, NAME_BYTES_MAX } from '../wire/rules.ts';
import {
  blobOf,
  HOPS_AND_GREETS,
  joinPage,
  launchBrowser,
  modesAtHome,
  noBrowser,
  seatOf,
  shoot,
} from './browser_page.ts';
import { crossingOf, type Described, DesktopClient, post, sendRequest } from './desktop_client.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

const DESKTOPS_OF_RELAYS = [13, 13, 13];
const HOME = 0;

interface Step {
  from: number;
  edge: Edge;
}

/** The way from HOME over all desktops and back, which is at HOME in between never. `beyond` has the desktop over each edge of each. */
function wayOver(beyond: readonly Record<Edge, number>[]): Step[] {
  const met = new Set([HOME]);
  const way: Step[] = [];
  for (let at = HOME; met.size < beyond.length || at !== HOME; ) {
    const isGoal = (one: number) => (met.size < beyond.length ? !met.has(one) : one === HOME);
    const leg = shortest(beyond, at, isGoal);
    for (const { from } of leg) met.add(from);
    way.push(...leg);
    const { from, edge } = leg[leg.length - 1];
    at = beyond[from][edge];
    met.add(at);
  }
  return way;
}

function shortest(beyond: readonly Record<Edge, number>[], at: number, isGoal: (one: number) => boolean): Step[] {
  const ways = new Map<number, Step[]>([[at, []]]);
  for (const [from, way] of ways) {
    for (const edge of EDGES) {
      const to = beyond[from][edge];
      if (isGoal(to)) return [...way, { from, edge }];
      if (to !== HOME && !ways.has(to)) ways.set(to, [...way, { from, edge }]);
    }
  }
  throw new Error('There is no way.');
}

/** A desktop with a long name now and then: one of the two longest that fit leaves room for no other. */
const nameOf = (n: number) => (n % 9 === 0 ? `D${n} `.padEnd(NAME_BYTES_MAX, 'x') : `D${n}`);

describe('a journey over forty desktops of three relays', { ...BOUNDED, skip: whyNoNats() || noBrowser }, () => {
  const relays: RelayProcess[] = [];
  const desktops: Desktop[] = [];
  const journeys: Journey[] = [];
  const faults: string[] = [];
  let nats: NatsServer;
  let browser: Browser;
  let ida: Page;
  let way: Step[];
  let file: string;
  let goOn = () => {};
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });

  before(async () => {
    const launched = launchBrowser();
    nats = await NatsServer.start();
    const started = DESKTOPS_OF_RELAYS.map((_, n) =>
      startRelay({ workers: 0, args: ['--nats', nats.url, '--relay-name', `r${n + 1}`] }),
    );
    relays.push(...(await Promise.all(started)));
    browser = await launched;
    ida = await joinPage(browser, relays[0].url, 'Ida', faults, { reducedMotion: 'no-preference' });
    for (const [n, relay] of relays.entries()) {
      for (let count = 0; count < DESKTOPS_OF_RELAYS[n]; count++)
        desktops.push(await joinAs(desktops.length + 1, relay));
    }
    const beyond = await untilAllAgree();
    way = wayOver(beyond);
  });
  after(async () => {
    await Promise.all(desktops.map((one) => one.leave()));
    await browser?.close();
    for (const relay of relays) await relay.stop();
    await nats?.kill();
  });

  /** Joins a desktop that throws what comes on, along the way. */
  async function joinAs(n: number, relay: RelayProcess): Promise<Desktop> {
    const desktop = await join(relay.url, {
      name: nameOf(n),
      on: {
        async sprite({ sprite }) {
          await mayGoOn;
          journeys.push(sprite.journey as Journey);
          const { from, edge } = way[journeys.length];
          assert.equal(from, n, 'it is where the way leads');
          assert.ok('to' in (await desktop.throw(sprite, edge)));
        },
      },
    });
    desktop.ended.catch((error) => faults.push(`${nameOf(n)}: ${error.stack}`));
    return desktop;
  }

  /** Waits until each desktop is known to those that it knows, and returns who is beyond whom. */
  async function untilAllAgree(): Promise<Record<Edge, number>[]> {
    const seat = await seatOf(ida);
    const ids = [seat.desktop, ...desktops.map(({ desktop }) => desktop)];
    let beyond: Record<Edge, number>[] = [];
    const [left, right, top, bottom] = EDGES;
    await until('the neighbours agree', async () => {
      const { json } = await sendRequest(`${relays[0].url}/v1/desktops/${seat.desktop}`, { token: seat.token });
      const known = [(json as Described).neighbours, ...desktops.map(({ neighbours }) => neighbours)];
      beyond = known.map((one) => {
        const at = EDGES.map((edge) => [edge, ids.indexOf(one[edge]?.desktop ?? '')]);
        return Object.fromEntries(at) as Record<Edge, number>;
      });
      return beyond.every((one, n) => beyond[one[right]]?.[left] === n && beyond[one[bottom]]?.[top] === n);
    });
    return beyond;
  }

  const spriteAtHome = () =>
    ida.evaluate((one) => globalThis.sprites.sprites().find((sprite) => sprite.file === one), file);

  it('begins with a throw from the page, which says who has the sprite now, also after a reload', async () => {
    assert.ok(way.length >= 40);
    assert.equal(await ida.locator('#away').count(), 0);
    const blob = await blobOf(ida);
    file = blob.file;
    await ida.evaluate(([at, edge]) => globalThis.sprites.throw(at, edge), [blob.at, way[0].edge] as const);
    const first = nameOf(way[1].from);
    await ida.locator('.notice', { hasText: `is with ${first} now.` }).waitFor();
    for (const isAgain of [false, true]) {
      if (isAgain) await ida.reload();
      await ida.locator('#away', { hasText: /^Where is .+\?$/ }).click();
      await ida.locator('#menu button', { hasText: `: last seen with ${first}, ` }).waitFor();
      await shoot(ida, `journey-1-away${isAgain ? '-again' : ''}`);
      await ida.keyboard.press('Escape');
    }
    assert.equal(await spriteAtHome(), undefined);
  });

  it('ends at home, where the sprite is greeted and greets, and is right and short at each desktop', async () => {
    const modes = modesAtHome(ida, file);
    goOn();
    const greeting = `is home: ${way.length} desktops since today`;
    const greeted = ida.locator('#announcements p', { hasText: greeting });
    await until('it is home', async () => (await greeted.count()) > 0 || faults.length > 0);
    assert.deepEqual(faults, []);
    await shoot(ida, 'journey-2-home');
    assert.match(await modes, HOPS_AND_GREETS);
    assert.equal((await spriteAtHome())?.fromShelf, true);
    assert.ok(await ida.locator('#away').isHidden());
    const saved = await ida.waitForFunction((one) => {
      const { sprites } = JSON.parse(sessionStorage.getItem('sprites.desktop') ?? '{"sprites":[]}');
      return sprites.find((sprite: { file: string }) => sprite.file === one)?.journey;
    }, file);
    journeys.push(await saved.jsonValue());
    assert.equal(journeys.length, way.length);
    const [{ since, by }] = journeys;
    assert.notEqual(by, '');
    assert.ok(Math.abs(since - Date.now() / 1000) < 600);
    for (const [i, journey] of journeys.entries()) {
      assert.ok(Buffer.byteLength(JSON.stringify(journey)) <= JOURNEY_BYTES_MAX);
      const { hops, from } = journey;
      const throwers = way.slice(0, i + 1).map((step) => (step.from === HOME ? 'Ida' : nameOf(step.from)));
      assert.deepEqual({ ...journey, from: [] }, { hops: i + 1, since, by, from: [] });
      assert.deepEqual(from, throwers.slice(-from.length), `desktop ${hops}`);
      const isShort = throwers.slice(-4).every((name) => name.length < NAME_BYTES_MAX);
      if (isShort) assert.equal(from.length, Math.min(4, throwers.length));
    }
    assert.ok(journeys.some(({ from }) => from.some((name) => name.length === NAME_BYTES_MAX)));
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
