/**
 * How a relay ends: a graceful stop, a restart on the same ports, and a start that fails.
 *
 * Takes long: it starts relays again and again.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { flagOf } from '../../tools/command.ts';
import { FLAGS, help, LOG_LEVELS, Misused, readOptions } from '../bin/options.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { planWorkers } from '../operator/workers.ts';
import { RECONNECT_MS_MAX } from '../wire/rules.ts';
import {
  type Batch,
  crossingOf,
  type HttpResponse,
  isSprite,
  type Joined,
  join,
  poll,
  pollFor,
  post,
  sendRequest,
} from './desktop_client.ts';
import { onTwoShapes } from './fronts.ts';
import { isProblem } from './problem_check.ts';
import { head, RawConnection } from './raw_connection.ts';
import { BOUNDED, LEVEL, lastingPorts, type RelayProcess, runRelay, startRelay, until } from './relay_process.ts';

/** The longest that a stop may take, as OPERATING.md promises. */
const STOP_MS_MAX = 5_000;

/** Stops a relay and measures how long that takes. */
async function stopTimed(relay: RelayProcess) {
  const startMs = performance.now();
  const stopped = await relay.stop();
  return { ...stopped, tookMs: performance.now() - startMs };
}

const goingDown = ({ msg }: { msg: string }) => msg === 'going down';

/** Sends the head and half of the body of a throw. Resolves when the relay has read the head. */
async function halfOf(relay: RelayProcess, { crossings, token }: Joined, crossing: object) {
  const body = JSON.stringify(crossing);
  const connection = await RawConnection.open(relay.ports.api);
  const headers = [`Authorization: Bearer ${token}`, `Content-Length: ${body.length}`, 'Expect: 100-continue'];
  connection.send(head(`POST ${new URL(crossings).pathname}`, ...headers));
  assert.equal((await connection.answer()).status, 100);
  connection.send(body.slice(0, 30));
  return { connection, rest: body.slice(30) };
}

onTwoShapes('usual', 'a relay that is stopped', (shape) => {
  it('answers every held poll with a bye, on long-polls and sockets, ends in time, and frees its ports for the next relay', async (t) => {
    const ports = await lastingPorts();
    const relay = await startRelay({ ...shape, ports });
    t.after(() => relay?.stop());
    const world = 'byes';
    const polled: Joined[] = [];
    for (let n = 0; n < 20; n++) polled.push(await join(relay.url, { world }));
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const joined = await join(relay.url, { world });
        const socket = new WebSocket(joined.socket, { headers: { authorization: `Bearer ${joined.token}` } });
        const batches: Batch[] = [];
        socket.on('message', (bytes) => {
          const message = JSON.parse(bytes.toString());
          if (message.problem) return;
          batches.push(message);
          socket.send(JSON.stringify({ cursor: message.cursor }));
        });
        const closed = once(socket, 'close');
        await once(socket, 'open');
        socket.send(JSON.stringify({ cursor: joined.cursor }));
        return { batches, closed };
      }),
    );
    // These polls have their neighbours already, so a `bye` is the only event they can get.
    const settled = await Promise.all(
      polled.map((joined) => pollFor(joined, joined.cursor, ({ type }) => type === 'neighbours')),
    );
    const byes = polled.map(async (joined, n) => {
      const { events } = await pollFor(joined, settled[n].cursor, ({ type }) => type === 'bye');
      return events.find((event) => event.type === 'bye');
    });
    await until('all are held', async () => (await relay.metrics()).get('sprites_polls_parked') === 40);
    const { code, tookMs, lastLines } = await stopTimed(relay);
    assert.equal(code, 0);
    assert.ok(tookMs < STOP_MS_MAX, `it took ${tookMs} ms`);
    for (const bye of await Promise.all(byes)) {
      assert.ok(bye && bye.retryAfterMs > 0 && bye.retryAfterMs <= RECONNECT_MS_MAX, JSON.stringify(bye));
    }
    assert.ok(
      new Set((await Promise.all(byes)).map((bye) => bye?.retryAfterMs)).size > 1,
      'not all at the same moment',
    );
    for (const { batches, closed } of sockets) {
      assert.equal((await closed)[0], 1001);
      assert.ok(batches.some(({ events }) => events.some(({ type }) => type === 'bye')));
    }
    assert.ok(lastLines.some(({ msg }) => msg === 'relay stopped'));
    assert.deepEqual(
      lastLines.filter(({ level }) => level >= LEVEL.error),
      [],
    );

    const next = await startRelay({ ...shape, ports });
    t.after(() => next.stop());
    assert.deepEqual(next.ports, relay.ports);
    const [ann] = polled;
    isProblem(await poll(ann, ann.cursor), 'unknown-desktop');
    isProblem(await post(ann, crossingOf(1)), 'unknown-desktop');
    const again = await join(next.url);
    assert.notEqual(again.desktop, ann.desktop);
    assert.notEqual(again.cursor.split('-')[0], ann.cursor.split('-')[0]);
    isProblem(await poll(again, ann.cursor), 'cursor-lost');
  });

  it('finishes posts in flight, and refuses later ones', async (t) => {
    const relay = await startRelay(shape);
    t.after(() => relay?.stop());
    const throwers: Joined[] = [];
    for (let n = 0; n < 16; n++) throwers.push(await join(relay.url));
    const answers: HttpResponse[] = [];
    let broken = 0;
    let over = false;
    const agent = new http.Agent({ keepAlive: true });
    const loops = throwers.map(async (joined) => {
      for (let crossing = 1; !over; crossing++) {
        try {
          const answer = await post(joined, crossingOf(crossing), agent);
          answers.push(answer);
          if (answer.status !== 202) return;
        } catch {
          // The port is closed, or the connection was closed just before it was used again.
          broken++;
          return;
        }
      }
    });
    const half = await halfOf(relay, throwers[0], crossingOf(1_000_000));
    await until('throws are being accepted', () => answers.length > 200);
    const stopping = stopTimed(relay);
    await relay.waitForLog(goingDown);
    half.connection.send(half.rest);
    isProblem(await half.connection.answer(), 'draining');
    const { code, tookMs, lastLines } = await stopping;
    over = true;
    await Promise.all(loops);
    agent.destroy();
    assert.equal(code, 0);
    assert.ok(tookMs < STOP_MS_MAX, `it took ${tookMs} ms`);
    const accepted = answers.filter(({ status }) => status === 202);
    const refused = answers.filter(({ status }) => status !== 202);
    for (const answer of refused) isProblem(answer, answer.status === 429 ? 'too-fast' : 'draining');
    const stopLine = lastLines.find(({ msg }) => msg === 'relay stopped') as unknown as {
      counters: Record<string, number>;
      waiting: number;
    };
    const { counters, waiting } = stopLine;
    assert.equal(counters.accepted, counters.acknowledged + waiting + counters.abandoned);
    assert.ok(counters.accepted >= accepted.length, 'every 202 is for an accepted throw');
    assert.ok(
      counters.accepted <= accepted.length + broken,
      'every accepted throw got a 202, unless its connection broke',
    );
  });

  it('answers a repeated throw 202 again while it stops, accepts no new one, and still delivers what waits', async (t) => {
    const relay = await startRelay(shape);
    t.after(() => relay?.stop());
    const world = 'last';
    const [ann, bob] = [await join(relay.url, { world }), await join(relay.url, { world })];
    const first = await post(ann, crossingOf(1));
    assert.equal(first.status, 202);
    const halves = await Promise.all([1, 2].map((crossing) => halfOf(relay, ann, crossingOf(crossing))));
    const stopping = relay.stop();
    await relay.waitForLog(goingDown);
    for (const { connection, rest } of halves) connection.send(rest);
    const [repeat, another] = halves;
    const batch = (await poll(bob, bob.cursor)).json as Batch;
    assert.equal(batch.events.filter(isSprite).length, 1);
    const again = await repeat.connection.answer();
    assert.deepEqual([again.status, again.json], [202, first.json]);
    isProblem(await another.connection.answer(), 'draining');
    const { events } = await pollFor(bob, batch.cursor, ({ type }) => type === 'bye');
    assert.equal(events.filter(isSprite).length, 0, 'the cursor still acknowledges');
    const { code, lastLines } = await stopping;
    assert.equal(code, 0);
    assert.equal(lastLines.find(({ msg }) => msg === 'relay stopped')?.waiting, 0);
  });
});

describe('a relay that is stopped in another way', BOUNDED, () => {
  it('stops in the same way by POST /admin/drain', async (t) => {
    const relay = await startRelay({ workers: 1 });
    t.after(() => relay?.stop());
    const answer = await sendRequest(`${relay.adminUrl}/admin/drain`, { method: 'POST', token: relay.adminToken });
    assert.equal(answer.status, 202);
    const ready = await sendRequest(`${relay.adminUrl}/readyz`);
    assert.equal(ready.status, 503);
    assert.equal((ready.json as { draining: boolean }).draining, true);
    await relay.waitForLog(({ msg }) => msg === 'relay stopped');
    assert.equal((await relay.stop()).code, 0);
  });

  it('leaves no worker behind when it is killed', { skip: whyNoNativeFront() ?? false }, async (t) => {
    const relay = await startRelay({ workers: 2, front: 'native' });
    t.after(() => relay?.stop());
    const { master, workers } = relay.pids;
    relay.kill(master, 'SIGKILL');
    await relay.stop();
    const isThere = (pid: number) => {
      try {
        process.kill(pid, 0);
        return true;
      } catch {
        return false;
      }
    };
    await until('its workers have ended', () => !workers.some(isThere));
  });
});

describe('a relay that cannot start', BOUNDED, () => {
  it('names the port that another program uses', async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as net.AddressInfo;
    for (const name of ['api', 'events', 'admin']) {
      const { code, err } = await runRelay({ ports: { api: 0, events: 0, admin: 0, [name]: port } });
      assert.equal(code, 1, name);
      assert.match(err, new RegExp(`could not start.*address already in use.*${port}`), name);
    }
    other.close();
  });

  it('explains in one sentence what is wrong with a flag, and exits with 2', async () => {
    const { code, err } = await runRelay({ args: ['--workers=1.5'] });
    assert.equal(code, 2, err);
    assert.match(err.trim(), /^--workers: must be a whole number from 0 to 256, or auto, not "1\.5"\.$/);
  });

  it('accepts no value that is invalid for its option or its variable, and no word that it does not know', () => {
    const wrong: [string[], RegExp, Record<string, string>?][] = [
      [['--nonsense'], /^Unknown option '--nonsense'\. See --help\.$/],
      [['relay.yaml'], /^Unexpected argument 'relay\.yaml'\. See --help\.$/],
      [[], /^--max-desktops: must be a whole number from 1 to \d+, not "many"\.$/, { SPRITES_MAX_DESKTOPS: 'many' }],
      [['--port', '70000'], /^--port: must be a whole number from 0 to 65535, not "70000"\.$/],
      [['--events-port', 'x'], /^--events-port: must be a whole number/],
      [['--admin-port', ''], /^--admin-port: must be a whole number/],
      [['--workers', '-1'], /^--workers: must be a whole number from 0 to 256, or auto, not "-1"\.$/],
      [['--ping-seconds', '29'], /^--ping-seconds: must be a whole number from 30 to 600, not "29"\.$/],
      [['--ping-seconds', '601'], /^--ping-seconds: must be a whole number from 30 to 600/],
      [['--max-desktops', '0'], /^--max-desktops: must be a whole number from 1/],
      [['--front', 'best'], /^--front: must be one of auto, native, portable, not "best"\.$/],
      [['--log-level', 'loud'], new RegExp(`^--log-level: must be one of ${LOG_LEVELS.join(', ')}, not "loud"\\.$`)],
      [['--public-url', 'ftp://x'], /^--public-url: must be an http or https URL, not "ftp:\/\/x"\.$/],
    ];
    for (const atLimit of ['30', '600']) assert.ok(readOptions(['--ping-seconds', atLimit], {}));
    for (const [args, message, env = {}] of wrong) {
      assert.throws(() => readOptions(args, env), { constructor: Misused, message });
    }
  });

  it('names the admin token file that it cannot use', async () => {
    const { code, err } = await runRelay({ args: ['--admin-token-file', '/dev/null'] });
    assert.equal(code, 1);
    assert.match(err, /admin token.*\/dev\/null/);
  });

  it('lists every option in its help', async () => {
    const { code, out } = await runRelay({ args: ['--help'] });
    assert.equal(code, 0);
    assert.equal(out.trim(), help());
    const words = out.replace(/\s+/g, ' ');
    for (const [name, { value, meaning, shown }] of Object.entries(FLAGS)) {
      const tail = shown === '' ? '' : ` [${shown}]`;
      const flag = [`--${flagOf(name)}`, value].join(' ').trim();
      assert.ok(words.includes(`${flag} ${meaning}${tail} `), flag);
    }
  });

  it('has the defaults that its help shows', () => {
    const options = readOptions([], {}) as unknown as Record<string, unknown>;
    const places = ['data', 'adminTokenFile', 'trustProxy'];
    assert.deepEqual(options.trustProxy, []);
    for (const [name, { shown }] of Object.entries(FLAGS)) {
      if (places.includes(name)) continue;
      const given = options[name];
      if (name === 'workers') assert.deepEqual(given, planWorkers('auto', availableParallelism()));
      else if (name === 'natsPlaintext') assert.equal(given, false, 'a switch is off unless it is given');
      else if (name === 'maxDesktops' || shown === '') assert.equal(given, undefined, name);
      else assert.equal(String(given), shown, name);
    }
    assert.equal(options.data, resolve(FLAGS.data.shown));
    assert.equal(options.adminTokenFile, `${options.data}/admin-token`);
  });
});
