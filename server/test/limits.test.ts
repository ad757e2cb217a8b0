/** The relay at its limits: few files, few desktops. It warns at its start, refuses what is too much, and keeps serving. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join as joinPath } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { SMALL_WORLD_MAX } from '../domain/state/limits.ts';
import { connectionsFor } from '../front/file_limit.ts';
import { whyNoNativeFront } from '../front/native.ts';
import { pollsByHeap } from '../operator/capacity.ts';
import { STORE_BYTES_MAX } from '../store/sprite_store.ts';
import { crossingOf, type Joined, join, post, sendRequest } from './desktop_client.ts';
import { onEachFront } from './fronts.ts';
import { isProblem } from './problem_check.ts';
import { RawConnection } from './raw_connection.ts';
import { BOUNDED, LEVEL, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, sprFile } from './spr_file.ts';

const FILES = 256;

onEachFront(`a relay that may have ${FILES} files open`, (front) => {
  let relay: RelayProcess;
  let connectionsMax: number;
  const desktops: Joined[] = [];
  const connections: RawConnection[] = [];
  before(async () => {
    relay = await startRelay({ workers: 2, front, ulimitFiles: FILES });
  });
  after(() => relay?.stop());
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.destroy();
    await until('all connections are gone', async () => (await gauge('sprites_connections')) === 0);
    assert.equal(relay.log.filter(({ level }) => level >= LEVEL.error).length, 0, 'no error was logged');
  });

  const gauge = async (name: string) => (await relay.metrics()).get(name) as number;

  /** Sends a request on a new connection. Its status is that of the response, 0 when closed, undefined while held. */
  function startRequest(
    port: number,
    desktop: Joined,
    line: string,
  ): { connection: RawConnection; status: number | undefined } {
    const connection = new RawConnection(port);
    connections.push(connection);
    const started: ReturnType<typeof startRequest> = { connection, status: undefined };
    connection.send(`${line} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${desktop.token}\r\n\r\n`);
    connection.answer().then(
      (answer) => {
        started.status = answer.status;
        if (answer.status === 503) isProblem(answer, 'relay-full');
      },
      () => {
        started.status = 0;
      },
    );
    return started;
  }

  const startPoll = (desktop: Joined) =>
    startRequest(relay.ports.events, desktop, `GET ${new URL(desktop.events).pathname}?cursor=${desktop.cursor}`);

  it('warns at its start, says how much it can hold and how to raise that', () => {
    const warning = relay.log.find(({ level, files }) => level === LEVEL.warn && files === FILES);
    assert.ok(warning, 'there is a warning');
    connectionsMax = warning.connectionsMax as number;
    assert.ok(connectionsMax > 100 && connectionsMax < FILES, `${connectionsMax} connections`);
    assert.match(warning.msg, new RegExp(`file limit of ${FILES} allows ${connectionsMax} long-polls`));
    assert.match(warning.msg, /ulimit -n \d+/);
  });

  it('refuses polls above its limit, keeps serving the others, and accepts new ones when some end', async () => {
    const agent = new http.Agent({ keepAlive: true });
    // Desktops of a small world are sent their neighbours. In a larger world polls are held.
    for (let n = 0; n < SMALL_WORLD_MAX; n++) await join(relay.url, { world: 'limits' }, agent);
    // A desktop that does not poll soon after its join ends, so each polls before the next one joins.
    const polls: ReturnType<typeof startPoll>[] = [];
    for (let n = 0; n < 400; n++) {
      desktops.push(await join(relay.url, { world: 'limits' }, agent));
      polls.push(startPoll(desktops[n]));
    }
    await until('every poll is held or refused', async () => {
      const held = polls.filter(({ status }) => status === undefined).length;
      return held === connectionsMax && (await gauge('sprites_polls_parked')) === connectionsMax;
    });
    const refused = polls.filter(({ status }) => status !== undefined);
    assert.ok(refused.every(({ status }) => status === 503 || status === 0));
    assert.ok(
      refused.some(({ status }) => status === 503),
      'some of them with a reason',
    );
    assert.ok((await gauge('sprites_connections_refused_total')) >= refused.length);

    // A held poll is still served: a sprite arrives at one of them.
    const at = polls.findIndex(({ status }, index) => index > 0 && status === undefined);
    const thrown = await post(desktops[at - 1], crossingOf(1), agent);
    assert.equal(thrown.status, 202);
    assert.equal((thrown.json as { to: { desktop: string } }).to.desktop, desktops[at].desktop);
    await until('its poll is answered', () => polls[at].status === 200);

    for (const { connection, status } of polls) if (status === undefined) connection.destroy();
    await until('there is room', async () => (await gauge('sprites_connections')) <= 1);
    const later = desktops.slice(0, 100).map(startPoll);
    await until('new polls are held', async () => (await gauge('sprites_polls_parked')) >= 99);
    assert.equal(later.filter(({ status }) => status === 0 || status === 503).length, 0);
    agent.destroy();
  });

  it('refuses connections to the API above its limit, and accepts new ones when some close', async () => {
    const desktop = await join(relay.url, { name: 'Ann' });
    const line = `GET /v1/desktops/${desktop.desktop}`;
    const held = async () => (await gauge('sprites_worker_connections')) as number;
    // Each connection sends one request and stays open, so it counts.
    const looks: ReturnType<typeof startRequest>[] = [];
    while (looks.filter(({ status }) => status === 503).length === 0 && looks.length < 4 * connectionsMax) {
      const some = Array.from({ length: 50 }, () => startRequest(relay.ports.api, desktop, line));
      looks.push(...some);
      await until('all are answered or closed', () => some.every(({ status }) => status !== undefined));
    }
    assert.ok(
      looks.some(({ status }) => status === 503),
      `one of ${looks.length} was refused with a reason`,
    );
    const [first] = looks.filter(({ status }) => status === 200);
    first.connection.send(`${line} HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${desktop.token}\r\n\r\n`);
    assert.equal((await first.connection.answer()).status, 200, 'an open connection is served');
    assert.ok((await held()) <= 2 * connectionsMax);
    for (const { connection } of looks) connection.destroy();
    await until('there is room', async () => (await held()) === 0);
    assert.equal(
      (await sendRequest(`${relay.url}/v1/desktops/${desktop.desktop}`, { token: desktop.token })).status,
      200,
    );
  });
});

describe('a relay for three desktops', BOUNDED, () => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay({ workers: 0, args: ['--max-desktops', '3'] });
  });
  after(() => relay?.stop());

  it('refuses the fourth, and accepts it when one has left', async () => {
    const wish = { method: 'POST', body: { screen: { width: 800, height: 600 } } };
    const inside = [await join(relay.url), await join(relay.url), await join(relay.url)];
    isProblem(await sendRequest(`${relay.url}/v1/desktops`, wish), 'relay-full');
    assert.equal((await post(inside[0], crossingOf(1))).status, 202, 'those inside are served');
    const [{ desktop, token }] = inside;
    assert.equal((await sendRequest(`${relay.url}/v1/desktops/${desktop}`, { method: 'DELETE', token })).status, 204);
    assert.equal((await sendRequest(`${relay.url}/v1/desktops`, wish)).status, 201);
    isProblem(await sendRequest(`${relay.url}/v1/desktops`, wish), 'relay-full');
  });
});

it('a relay for far more desktops than its files allow starts, and stores a sprite file', {
  ...BOUNDED,
  skip: whyNoNativeFront() ?? false,
}, async () => {
  const relay = await startRelay({
    ...{ workers: 0, front: 'native', ulimitFiles: FILES },
    args: ['--max-desktops', '60000'],
  });
  const { token } = await join(relay.url, {});
  const bytes = sprFile();
  const url = `${relay.url}/v1/sprites/${hashOf(bytes)}`;
  assert.equal((await sendRequest(url, { method: 'PUT', token, body: bytes })).status, 201);
  assert.equal((await sendRequest(url)).status, 200);
  await relay.stop();
});

describe('a relay with a damaged sprite store', BOUNDED, () => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay({ workers: 0 });
  });
  after(() => relay?.stop());

  const put = async (bytes: Buffer) => {
    const { token } = await join(relay.url);
    return sendRequest(`${relay.url}/v1/sprites/${hashOf(bytes)}`, { method: 'PUT', token, body: bytes });
  };

  it('answers 500 when a file cannot be written, logs why, and keeps serving', async () => {
    const bytes = sprFile();
    const folder = joinPath(relay.data, 'sprites', hashOf(bytes).slice(0, 2));
    mkdirSync(joinPath(folder, '..'), { recursive: true });
    writeFileSync(folder, 'a file where a folder should be');
    isProblem(await put(bytes), 'internal');
    const { err } = await relay.waitForLog(({ msg }) => msg === 'request failed');
    assert.match((err as { message: string }).message, /EEXIST|ENOTDIR/);
    rmSync(folder);
    assert.equal((await put(bytes)).status, 201, 'the file itself was valid');
  });
});

describe('a relay whose sprite store is full', BOUNDED, () => {
  it('refuses new files, says when to try again, and serves the files it has', async (t) => {
    const relay = await startRelay({ workers: 0 });
    t.after(() => relay.stop());
    // A sparse file that leaves room for one small sprite.
    const bytes = sprFile();
    const folder = joinPath(relay.data, 'sprites', '00');
    mkdirSync(folder, { recursive: true });
    const hole = joinPath(folder, `${'0'.repeat(64)}.spr`);
    writeFileSync(hole, '');
    truncateSync(hole, STORE_BYTES_MAX - bytes.length);
    // The relay has counted its files at its start. It learns of this one when it is asked for it, and does not serve it.
    isProblem(await sendRequest(`${relay.url}/v1/sprites/${'0'.repeat(64)}`), 'not-found');
    const { token } = await join(relay.url);
    const put = (file: Buffer) =>
      sendRequest(`${relay.url}/v1/sprites/${hashOf(file)}`, { method: 'PUT', token, body: file });
    assert.equal((await put(bytes)).status, 201);
    isProblem(await put(sprFile()), 'store-full');
    assert.equal((await put(bytes)).status, 204);
    assert.deepEqual((await sendRequest(`${relay.url}/v1/sprites/${hashOf(bytes)}`)).body, bytes);
  });
});

describe('a relay whose heap carries fewer polls than its files', BOUNDED, () => {
  it('holds only as many polls as the heap carries, so that V8 does not abort', async (t) => {
    const env = { SPRITES_NODE_FLAGS: '--max-old-space-size=64 --max-semi-space-size=1' };
    const relay = await startRelay({ workers: 0, front: 'portable', env });
    t.after(() => relay?.stop());
    const { capacity } = await relay.waitForLog(({ msg }) => msg === 'relay ready');
    const { files, heapBytes, connections } = capacity as Record<string, number>;
    assert.ok(heapBytes >= 64 * 2 ** 20 && heapBytes < 80 * 2 ** 20, `${heapBytes} bytes of heap`);
    assert.equal(connections, Math.min(connectionsFor(files), pollsByHeap('portable', heapBytes)));
  });

  it('counts polls by bytes of heap: a minimum below the size of its own code, one for each poll, no limit for the native front', () => {
    const one = pollsByHeap('portable', 2 ** 30);
    const bytes = [0, 48 * 2 ** 20, 2 ** 30 + 10_500, 2 ** 30 - 10_500];
    assert.deepEqual(
      bytes.map((heap) => pollsByHeap('portable', heap)),
      [16, 16, one + 1, one - 1],
    );
    assert.equal(pollsByHeap('native', 0), Number.POSITIVE_INFINITY);
  });
});
