/** The API over real sockets: the response to each request, of a relay with workers and of one in a single process. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { AWAY_MS, EDGES, LEASE_MS, SECRET_DIGITS } from '../wire/rules.ts';
import {
  type Batch,
  crossingOf,
  FILE,
  isSprite,
  type Joined,
  join,
  type Neighbours,
  poll,
  pollFor,
  post,
  sendRequest,
} from './desktop_client.ts';
import { TIMES_AS_FAST } from './fast_clock.ts';
import { onTwoShapes } from './fronts.ts';
import { isProblem } from './problem_check.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';

let worlds = 0;

/** Returns the name of a world that no other test uses. */
function freshWorld(): string {
  return `w${worlds++}`;
}

const look = (relay: RelayProcess, { desktop, token }: Joined) =>
  sendRequest(`${relay.url}/v1/desktops/${desktop}`, { token });
const leave = (relay: RelayProcess, { desktop, token }: Joined) =>
  sendRequest(`${relay.url}/v1/desktops/${desktop}`, { method: 'DELETE', token });

/** Polls until nothing waits. Returns the cursor with which the next poll is held until something is thrown. */
async function settled(desktop: Joined): Promise<string> {
  const { cursor } = await pollFor(desktop, desktop.cursor, ({ type }) => type === 'neighbours');
  return cursor;
}

const sprites = ({ events }: Batch) => events.filter(isSprite);
const parked = async (relay: RelayProcess) => (await relay.metrics()).get('sprites_polls_parked');

onTwoShapes('usual', 'the API', (shape) => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay(shape);
  });
  after(() => relay?.stop());

  /** Joins two desktops in a new world. Each is the other's neighbour at all four edges. */
  async function pair(): Promise<[Joined, Joined]> {
    const world = freshWorld();
    return [await join(relay.url, { name: 'Ann', world }), await join(relay.url, { name: 'Bob', world })];
  }

  /**
   * Two desktops that have received their neighbours, so that only a throw answers a poll. Tests share them, but not until Ann, who polls
   * no more, is away: Bob's poll is answered with that.
   */
  let sharedPair: { ann: Joined; bob: Joined; cursor: string; crossing: number; untilMs: number } | undefined;
  async function settledPair(): Promise<NonNullable<typeof sharedPair>> {
    if (sharedPair && performance.now() < sharedPair.untilMs) return sharedPair;
    const untilMs = performance.now() + AWAY_MS / 2;
    const [ann, bob] = await pair();
    const [, cursor] = await Promise.all([ann, bob].map(settled));
    sharedPair = { ann, bob, cursor, crossing: 0, untilMs };
    return sharedPair;
  }

  it('answers a join with the id, the token and the addresses', async () => {
    const joined = await join(relay.url, { name: '  Ann ' });
    const path = `/v1/desktops/${joined.desktop}`;
    assert.match(joined.desktop, /^[0-9a-f]+-[0-9a-f]+$/);
    assert.match(joined.token, new RegExp(`^${joined.desktop}\\.[0-9a-f]{${SECRET_DIGITS}}$`));
    assert.match(joined.cursor, /^[0-9a-f]{8}-0$/);
    assert.match(joined.invitation, new RegExp(`^[0-9a-f]+\\.[0-9a-f]{${SECRET_DIGITS}}$`));
    const { desktop: _, token: __, cursor: ___, invitation: ____, ...rest } = joined;
    assert.deepEqual(rest, {
      ...{
        world: 'commons',
        pictures: 'any',
        stage: false,
        named: false,
        here: { world: 1, relay: 1 },
        pingSeconds: 120,
        leaseSeconds: LEASE_MS / 1000,
      },
      events: `${relay.eventsUrl}${path}/events`,
      crossings: `${relay.url}${path}/crossings`,
      socket: `${relay.url.replace('http', 'ws')}${path}/socket`,
    });
    const seen = (await look(relay, joined)).json as { name: string };
    assert.equal(seen.name, 'Ann', 'spaces around a name are removed');
  });

  it('gives a friendly name to a desktop without one, and always the same', async () => {
    const joined = await join(relay.url, { world: freshWorld() });
    const nameOf = async () => ((await look(relay, joined)).json as { name: string }).name;
    const name = await nameOf();
    assert.match(name, /^[A-Z][a-z]+ [A-Z][a-z]+$/);
    assert.equal(await nameOf(), name);
  });

  it('returns name, world, place and four neighbours, which are the desktop itself while it is alone', async () => {
    const world = freshWorld();
    const ann = await join(relay.url, { name: 'Ann', world });
    const me = { desktop: ann.desktop, name: 'Ann' };
    const alone = await look(relay, ann);
    assert.equal(alone.status, 200);
    assert.deepEqual(alone.json, {
      ...{ ...me, world, pictures: 'any', stage: true, place: 0 },
      neighbours: { left: me, right: me, top: me, bottom: me },
    });
    const bob = await join(relay.url, { name: 'Bob', world });
    const it = { desktop: bob.desktop, name: 'Bob' };
    assert.deepEqual((await look(relay, ann)).json, {
      ...{ ...me, world, pictures: 'any', stage: true, place: 0 },
      neighbours: { left: it, right: it, top: it, bottom: it },
    });
  });

  it('answers a held poll when the neighbours change', async () => {
    const world = freshWorld();
    const ann = await join(relay.url, { name: 'Ann', world });
    const cursor = await settled(ann);
    const held = poll(ann, cursor);
    const bob = await join(relay.url, { name: 'Bob', world });
    const [neighbours] = ((await held).json as Batch).events as Neighbours[];
    const other = { desktop: bob.desktop, name: 'Bob' };
    assert.deepEqual(neighbours, { type: 'neighbours', left: other, right: other, top: other, bottom: other });
  });

  it('answers the poll held beyond the edge with a throw', async () => {
    const pair = await settledPair();
    const { ann, bob, cursor } = pair;
    const before = (await parked(relay)) ?? 0;
    const held = poll(bob, cursor);
    await until('the poll is held', async () => (await parked(relay)) === before + 1);
    const thrown = await post(ann, {
      ...crossingOf(++pair.crossing),
      sprite: { file: FILE, name: 'Blob', animation: 'walk', facing: 'left', scale: 2.5 },
      unknown: 'is dropped',
    });
    assert.equal(thrown.status, 202);
    assert.deepEqual(thrown.json, { to: { desktop: bob.desktop, name: 'Bob' } });
    const answer = await held;
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    pair.cursor = (answer.json as Batch).cursor;
    assert.deepEqual(answer.json, {
      cursor: cursor.replace(/\d+$/, '1'),
      events: [
        {
          ...{ type: 'sprite', seq: 1, from: { desktop: ann.desktop, name: 'Ann' } },
          ...{ edge: 'left', at: 0.25, vx: 900, vy: -50 },
          sprite: { file: FILE, name: 'Blob', animation: 'walk', facing: 'left', scale: 2.5 },
        },
      ],
    });
  });

  it('lets a sprite enter over the edge opposite to the one it left over', async () => {
    const [ann, bob] = await pair();
    for (const [index, edge] of EDGES.entries())
      assert.equal((await post(ann, crossingOf(index + 1, edge))).status, 202);
    const { events } = await pollFor(bob, bob.cursor, (event) => isSprite(event) && event.seq === 4);
    assert.deepEqual(
      events.filter(isSprite).map(({ edge }) => edge),
      ['right', 'left', 'bottom', 'top'],
    );
  });

  it('returns a sprite to its thrower when there is no other desktop', async () => {
    const ann = await join(relay.url, { name: 'Ann', world: freshWorld() });
    const thrown = await post(ann, crossingOf(1));
    assert.deepEqual(thrown.json, { to: { desktop: ann.desktop, name: 'Ann' } });
    const { events } = await pollFor(ann, ann.cursor, isSprite);
    assert.equal(events.find(isSprite)?.from.desktop, ann.desktop);
  });

  it('keeps events until a cursor has passed them', async () => {
    const pair = await settledPair();
    const { ann, bob, cursor: start } = pair;
    await post(ann, crossingOf(++pair.crossing, 'right', 'first'));
    const once = (await poll(bob, start)).json as Batch;
    assert.deepEqual((await poll(bob, start)).json, once, 'the same cursor gets the same events again');
    assert.deepEqual((await poll(bob)).json, once, 'a poll without a cursor acknowledges nothing');
    await post(ann, crossingOf(++pair.crossing, 'right', 'second'));
    const next = (await poll(bob, once.cursor)).json as Batch;
    assert.deepEqual(
      sprites(next).map(({ sprite }) => sprite.name),
      ['second'],
    );
    assert.equal(sprites(next)[0].seq, sprites(once)[0].seq + 1);
    const late = (await poll(bob, start)).json as Batch;
    assert.deepEqual(late.events, next.events, 'an old cursor does not bring back what was acknowledged');
    pair.cursor = next.cursor;
  });

  it('answers at most 64 events in one response, in order, and the next poll with the rest', async () => {
    const [ann, bob] = await pair();
    for (let crossing = 1; crossing <= 150; crossing++) {
      assert.equal((await post(ann, crossingOf(crossing))).status, 202);
    }
    const seqs: number[] = [];
    const sizes: number[] = [];
    let cursor = bob.cursor;
    while (seqs.length < 150) {
      const batch = (await poll(bob, cursor)).json as Batch;
      sizes.push(sprites(batch).length);
      seqs.push(...sprites(batch).map(({ seq }) => seq));
      cursor = batch.cursor;
    }
    assert.deepEqual(sizes, [64, 64, 22]);
    assert.deepEqual(
      seqs,
      Array.from({ length: 150 }, (_, index) => index + 1),
    );
  });

  it('answers a repeated crossing 202 again, and delivers the sprite once', async () => {
    const [ann, bob] = await pair();
    const first = await post(ann, crossingOf(1, 'right', 'once'));
    for (let n = 0; n < 3; n++) {
      const again = await post(ann, crossingOf(1, 'right', 'once'));
      assert.equal(again.status, 202);
      assert.deepEqual(again.json, first.json);
    }
    await post(ann, crossingOf(2, 'right', 'after'));
    const forgotten = await post(ann, crossingOf(1, 'right', 'once'));
    assert.deepEqual(forgotten.json, { to: null }, 'the receiver of an older crossing is not remembered');
    const batch = await pollFor(bob, bob.cursor, isSprite);
    assert.deepEqual(
      sprites(batch).map(({ sprite }) => sprite.name),
      ['once', 'after'],
    );
  });

  it('accepts a throw up to 32 numbers behind the newest, and refuses one further behind', async () => {
    const [ann, bob] = await pair();
    assert.equal((await post(ann, crossingOf(100, 'right', '100'))).status, 202);
    assert.equal((await post(ann, crossingOf(68, 'right', '68'))).status, 202);
    isProblem(await post(ann, crossingOf(67, 'right', '67')), 'crossing-stale');
    const batch = await pollFor(bob, bob.cursor, isSprite);
    assert.deepEqual(
      sprites(batch).map(({ sprite }) => sprite.name),
      ['100', '68'],
    );
  });

  it('answers the older of two polls empty: a newer poll replaces it', async () => {
    const pair = await settledPair();
    const { ann, bob, cursor } = pair;
    const before = (await parked(relay)) ?? 0;
    const older = poll(bob, cursor);
    await until('the older poll is held', async () => (await parked(relay)) === before + 1);
    const newer = poll(bob, cursor);
    assert.deepEqual((await older).json, { cursor, events: [] });
    await post(ann, crossingOf(++pair.crossing));
    const batch = (await newer).json as Batch;
    assert.equal(sprites(batch).length, 1);
    pair.cursor = batch.cursor;
  });

  it('drops a held poll when its connection closes, and keeps events that arrive later', async () => {
    const pair = await settledPair();
    const { ann, bob, cursor } = pair;
    const before = (await parked(relay)) ?? 0;
    const quit = new AbortController();
    const held = poll(bob, cursor, { signal: quit.signal });
    await until('the poll is held', async () => (await parked(relay)) === before + 1);
    quit.abort();
    await assert.rejects(held);
    await until('the poll is dropped', async () => (await parked(relay)) === before);
    await post(ann, crossingOf(++pair.crossing));
    const batch = (await poll(bob, cursor)).json as Batch;
    assert.equal(sprites(batch).length, 1);
    pair.cursor = batch.cursor;
  });

  it('answers a held poll 410 when its desktop leaves, and all later requests with the old id', async () => {
    const [, bob] = await pair();
    const cursor = await settled(bob);
    const before = (await parked(relay)) ?? 0;
    const held = poll(bob, cursor);
    await until('the poll is held', async () => (await parked(relay)) === before + 1);
    const left = await leave(relay, bob);
    assert.equal(left.status, 204);
    assert.equal(left.body.length, 0);
    isProblem(await held, 'desktop-ended');
    isProblem(await poll(bob, cursor), 'desktop-ended');
    isProblem(await post(bob, crossingOf(1)), 'desktop-ended');
    isProblem(await look(relay, bob), 'desktop-ended');
    isProblem(await leave(relay, bob), 'desktop-ended');
  });

  it('tells a desktop that has left, whatever it asks for, which cursor it acknowledged last', async () => {
    const [ann, bob] = await pair();
    const settledAt = await settled(bob);
    await post(ann, crossingOf(1));
    const seen = await pollFor(bob, settledAt, isSprite);
    await post(ann, crossingOf(2));
    const last = await pollFor(bob, seen.cursor, isSprite);
    assert.equal((await leave(relay, bob)).status, 204);
    const refused = [await poll(bob, last.cursor), await post(bob, crossingOf(1)), await look(relay, bob)];
    refused.push(await leave(relay, bob), await poll(bob, settledAt));
    for (const answer of refused) assert.equal(isProblem(answer, 'desktop-ended').cursor, seen.cursor);
    const stranger = { ...bob, token: bob.token.replace(/.{8}$/, '00000000') };
    assert.equal(isProblem(await poll(stranger, last.cursor), 'desktop-ended').cursor, undefined);
  });

  it('passes on the waiting sprites of a desktop that leaves, in their direction of travel', async () => {
    const world = freshWorld();
    const [ann, bob, carol] = [
      await join(relay.url, { name: 'Ann', world }),
      await join(relay.url, { name: 'Bob', world }),
      await join(relay.url, { name: 'Carol', world }),
    ];
    const thrown = await post(ann, crossingOf(1, 'right', 'traveller'));
    assert.deepEqual(thrown.json, { to: { desktop: bob.desktop, name: 'Bob' } });
    assert.equal((await leave(relay, bob)).status, 204);
    const [sprite] = sprites((await poll(carol, carol.cursor)).json as Batch);
    assert.ok(sprite, 'it waits for Carol already');
    assert.equal(sprite.sprite.name, 'traveller');
    assert.equal(sprite.edge, 'left');
    assert.equal(sprite.from.desktop, ann.desktop);
  });

  it('places an invited desktop to the right of its friend, in the friend’s world', async () => {
    const world = freshWorld();
    const [ann] = [await join(relay.url, { name: 'Ann', world }), await join(relay.url, { name: 'Bob', world })];
    await join(relay.url, { name: 'Carol', world });
    const dora = await join(relay.url, { name: 'Dora', near: ann.invitation });
    assert.equal(dora.world, world);
    assert.deepEqual((await post(ann, crossingOf(1, 'right'))).json, { to: { desktop: dora.desktop, name: 'Dora' } });
    const screen = { width: 800, height: 600 };
    const elsewhere = { near: ann.invitation, world: freshWorld(), screen };
    isProblem(await sendRequest(`${relay.url}/v1/desktops`, { method: 'POST', body: elsewhere }), 'near-gone');
    await leave(relay, ann);
    const late = { near: ann.invitation, screen };
    isProblem(await sendRequest(`${relay.url}/v1/desktops`, { method: 'POST', body: late }), 'near-gone');
  });

  it('keeps private worlds apart', async () => {
    const [ann, bob] = await pair();
    const [carol, dora] = await pair();
    assert.deepEqual((await post(ann, crossingOf(1))).json, { to: { desktop: bob.desktop, name: 'Bob' } });
    assert.deepEqual((await post(carol, crossingOf(1))).json, { to: { desktop: dora.desktop, name: 'Bob' } });
  });

  it('answers a browser’s preflight request on both ports', async () => {
    const desktop = await join(relay.url);
    for (const url of [
      `${relay.url}/v1/desktops`,
      desktop.crossings,
      desktop.events,
      `${relay.url}/v1/sprites/${FILE}`,
    ]) {
      const answer = await sendRequest(url, { method: 'OPTIONS', headers: { origin: 'http://elsewhere.example' } });
      assert.equal(answer.status, 204, url);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.match(answer.headers['access-control-allow-headers'] as string, /authorization/);
      assert.match(answer.headers['access-control-allow-methods'] as string, /DELETE/);
    }
  });

  it('answers 405 to a method the path does not have, with the methods it has', async () => {
    const { desktop, events, crossings, token } = await join(relay.url);
    const wrong: [string, string, string][] = [
      [events, 'POST', 'GET, OPTIONS'],
      [crossings, 'GET', 'POST, OPTIONS'],
      [`${relay.url}/v1/desktops`, 'GET', 'POST, OPTIONS'],
      [`${relay.url}/v1/desktops/${desktop}`, 'PUT', 'GET, DELETE, OPTIONS'],
      [`${relay.url}/v1/sprites/${FILE}`, 'DELETE', 'GET, PUT, OPTIONS'],
    ];
    for (const [url, method, allow] of wrong) {
      const answer = await sendRequest(url, { method, token });
      isProblem(answer, 'method-not-allowed');
      assert.equal(answer.headers.allow, allow, url);
    }
  });

  it('answers 404 to an unknown path, on both ports', async () => {
    isProblem(await sendRequest(`${relay.url}/v1/nothing`), 'not-found');
    isProblem(await sendRequest(`${relay.url}/nothing`), 'not-found');
    isProblem(await sendRequest(`${relay.eventsUrl}/v1/nothing`), 'not-found');
    isProblem(await sendRequest(`${relay.eventsUrl}/`), 'not-found');
  });

  describe('sprite files', () => {
    const put = (file: string, body: Buffer, token?: string) =>
      sendRequest(`${relay.url}/v1/sprites/${file}`, { method: 'PUT', token, body });

    it('serves each shipped character under its hash', async () => {
      const list = (await sendRequest(`${relay.url}/sprites/index.json`)).json as {
        file: string;
        name: string;
        url: string;
      }[];
      assert.ok(list.length >= 4, `${list.length} characters`);
      for (const { file, name, url } of list) {
        const bytes = readFileSync(joinPath(import.meta.dirname, '../web', url));
        assert.equal(hashOf(bytes), file, name);
        for (const path of [`/v1/sprites/${file}`, url]) {
          const answer = await sendRequest(`${relay.url}${path}`);
          assert.equal(answer.status, 200, path);
          assert.deepEqual(answer.body, bytes);
        }
      }
    });

    it('stores a new file once, and serves it as an image that may be cached for ever', async () => {
      const { token } = await join(relay.url);
      const bytes = sprFile();
      const file = hashOf(bytes);
      const url = `${relay.url}/v1/sprites/${file}`;
      isProblem(await sendRequest(url), 'not-found');
      const stored = await put(file, bytes, token);
      assert.equal(stored.status, 201, `${stored.body}`);
      assert.deepEqual(stored.json, { file, url });
      assert.equal((await put(file, bytes, token)).status, 204);
      const answer = await sendRequest(url);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, bytes);
      assert.equal(answer.headers['content-type'], 'image/png');
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable');
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers['cross-origin-resource-policy'], 'cross-origin');
      assert.equal(answer.headers.etag, `"${file}"`);
      const known = await sendRequest(url, { headers: { 'if-none-match': `"${file}"` } });
      assert.equal(known.status, 304);
      assert.equal(known.body.length, 0);
      const head = await sendRequest(url, { method: 'HEAD' });
      assert.equal(head.status, 200);
      assert.equal(head.headers['content-length'], String(bytes.length));
    });

    it('stores a file that is uploaded several times at once', async () => {
      const { token } = await join(relay.url);
      const bytes = sprFile();
      const file = hashOf(bytes);
      const answers = await Promise.all(Array.from({ length: 8 }, () => put(file, bytes, token)));
      assert.ok(answers.every(({ status }) => status === 201 || status === 204));
      assert.deepEqual((await sendRequest(`${relay.url}/v1/sprites/${file}`)).body, bytes);
    });

    it('accepts a file only with a token', async () => {
      const bytes = sprFile();
      const file = hashOf(bytes);
      const { token } = await join(relay.url);
      isProblem(await put(file, bytes), 'unknown-desktop');
      isProblem(await put(file, bytes, 'abc'), 'unknown-desktop');
      isProblem(
        await put(
          file,
          bytes,
          token.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
        ),
        'unknown-desktop',
      );
      isProblem(await sendRequest(`${relay.url}/v1/sprites/${file}`), 'not-found');
    });

    it('refuses a file with another hash, or that is not a sprite, and names the faulty part', async () => {
      const { token } = await join(relay.url);
      const good = sprFile();
      const flipped = Buffer.from(good);
      flipped[flipped.indexOf('IDAT') + 8] ^= 1;
      const bombs: [string, Buffer, RegExp][] = [
        ['a bad CRC', flipped, /CRC/],
        ['trailing bytes', Buffer.concat([good, Buffer.from('<script>')]), /IEND|follow|end/i],
        ['huge dimensions', sprFile({ width: 2 ** 31 - 2, height: 2 ** 31 - 1 }), /4096/],
        ['a size that its pixels do not have', sprFile({ width: 4096, height: 4096 }), /inflate/],
        ['not a PNG', Buffer.from('<svg onload="alert(1)"/>'), /signature/],
        ['no bytes', Buffer.alloc(0), /signature/],
        ['half a file', good.subarray(0, good.length / 2), /./],
      ];
      for (const [what, bytes, sentence] of bombs) {
        const file = hashOf(bytes);
        const document = isProblem(await put(file, bytes, token), 'sprite-invalid');
        assert.match(document.detail, sentence, what);
        isProblem(await sendRequest(`${relay.url}/v1/sprites/${file}`), 'not-found');
      }
      isProblem(await put(hashOf(Buffer.from('another')), good, token), 'sprite-invalid');
      for (const name of ['abc', '..%2f..%2fadmin-token', FILE.toUpperCase(), `${FILE}0`]) {
        isProblem(await put(name, good, token), 'sprite-invalid');
        isProblem(await sendRequest(`${relay.url}/v1/sprites/${name}`), 'not-found');
      }
    });
  });
});

describe('a relay with a fast clock', BOUNDED, () => {
  let relay: RelayProcess;
  const folder = mkdtempSync(joinPath(tmpdir(), 'sprites-clock-'));
  const hurryFile = joinPath(folder, 'hurry');
  before(async () => {
    const clock = pathToFileURL(joinPath(import.meta.dirname, 'fast_clock.ts'));
    const env = { SPRITES_NODE_FLAGS: `--import=${clock}`, HURRY_FILE: hurryFile };
    relay = await startRelay({ workers: 0, args: ['--ping-seconds', '60'], env });
  });
  afterEach(() => rmSync(hurryFile, { force: true }));
  after(async () => {
    await relay?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Its clock is fast from now on, when this many polls are held: what a test sets up has the time that it needs. */
  async function hurry(polls: number): Promise<void> {
    await until('the polls are held', async () => (await parked(relay)) === polls);
    writeFileSync(hurryFile, '');
  }

  it('answers a poll without events with a ping and the neighbours', async () => {
    const ann = await join(relay.url, { name: 'Ann', world: freshWorld() });
    const cursor = await settled(ann);
    const startMs = performance.now();
    const held = poll(ann, cursor);
    await hurry(1);
    const batch = (await held).json as Batch;
    const heldSeconds = ((performance.now() - startMs) * TIMES_AS_FAST) / 1000;
    assert.deepEqual(
      batch.events.map(({ type }) => type),
      ['ping', 'neighbours'],
    );
    assert.equal(batch.cursor, cursor);
    assert.equal(ann.pingSeconds, 60);
    assert.ok(heldSeconds >= 0.9 * ann.pingSeconds, `held for ${heldSeconds} s of its clock`);
  });

  it('ends a silent desktop when its lease ends, and passes its sprites on', async () => {
    const world = freshWorld();
    const ann = await join(relay.url, { name: 'Ann', world });
    const bob = await join(relay.url, { name: 'Bob', world });
    const carol = await join(relay.url, { name: 'Carol', world });
    const held = pollFor(carol, carol.cursor, isSprite);
    assert.deepEqual((await post(ann, crossingOf(1))).json, { to: { desktop: bob.desktop, name: 'Bob' } });
    await hurry(1);
    assert.equal((await held).events.find(isSprite)?.from.desktop, ann.desktop);
    isProblem(await poll(bob, bob.cursor), 'desktop-ended');
  });
});
