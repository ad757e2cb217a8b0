/** Attacks with sprite files, beside a well-behaved desktop whose throws are all answered; the relay's memory stays bounded. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { UPLOADS_BYTES_MAX } from '../store/sprite_store.ts';
import { SPR_BYTES_MAX } from '../wire/rules.ts';
import {
  crossingOf,
  DesktopClient,
  isSprite,
  type Joined,
  join,
  pollFor,
  post,
  sendRequest,
} from './desktop_client.ts';
import { isProblem } from './problem_check.ts';
import { RawConnection } from './raw_connection.ts';
import { BOUNDED, LEVEL, type RelayProcess, startRelay, until } from './relay_process.ts';
import { hashOf, largeSprFile, sprFile, wrongInLastRow } from './spr_file.ts';

/** How much the resident memory of all processes may grow during an attack, in bytes. */
const GROWTH_BYTES_MAX = 100e6;

/** Pictures of 64 MiB in an attack: some seconds of work for the relay's threads. */
const PICTURES = 24;
const PICTURES_AT_ONCE = 8;

describe('a relay under attacks with sprite files', BOUNDED, () => {
  let relay: RelayProcess;
  let pids: number[];
  const connections: RawConnection[] = [];
  const clients: DesktopClient[] = [];

  before(async () => {
    relay = await startRelay({ workers: 1 });
    pids = [relay.pids.master, ...relay.pids.workers];
    // A heap grows once, with the first requests: that is not what an attack costs.
    const { token } = await stay();
    await besideProbe(async () => {
      for (let n = 0; n < 100; n++) await put(largeSprFile().subarray(1), token);
    });
  });
  after(() => relay?.stop());
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.destroy();
    await Promise.all(clients.splice(0).map((client) => client.leave()));
    await until('everything is freed', async () => {
      const metrics = await relay.metrics();
      return ['upload', 'sending'].every((kind) => metrics.get(`sprites_store_${kind}_bytes`) === 0);
    });
    assert.deepEqual([relay.pids.master, ...relay.pids.workers], pids, 'no process has ended');
    assert.deepEqual(
      relay.log.filter(({ level }) => level > LEVEL.info),
      [],
      'the log has neither warnings nor errors',
    );
  });

  /** A desktop that polls, so that it stays however long the attack takes. */
  const stay = async () => {
    const client = await DesktopClient.join(relay.url);
    clients.push(client);
    return client.joined;
  };
  const raw = async () => {
    const connection = await RawConnection.open(relay.ports.api);
    connections.push(connection);
    return connection;
  };
  const urlOf = (file: string) => `${relay.url}/v1/sprites/${file}`;
  const put = (bytes: Buffer, token: string) =>
    sendRequest(urlOf(hashOf(bytes)), { method: 'PUT', token, body: bytes });
  const headOf = (method: string, file: string, ...headers: string[]) =>
    `${[`${method} /v1/sprites/${file} HTTP/1.1`, 'Host: relay', ...headers].join('\r\n')}\r\n\r\n`;

  /** Resident bytes of all processes of the relay. */
  const residentBytes = () =>
    pids.reduce((sum, pid) => {
      const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return sum + Number(kilobytes) * 1024;
    }, 0);
  const openFiles = () => pids.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0);

  /**
   * Two desktops throw in turn until `attack` ends, which may take longer than a lease. Each throw must be answered 202 and arrive.
   * Resolves to how memory grew.
   */
  async function besideProbe(attack: () => Promise<unknown>): Promise<{ grownBytes: number; thrown: number }> {
    const world = `probe ${Math.random()}`;
    const pair = [await join(relay.url, { world }), await join(relay.url, { world })];
    const cursors = pair.map(({ cursor }) => cursor);
    const atFirst = residentBytes();
    let most = atFirst;
    let isOver = false;
    const attacked = attack().finally(() => {
      isOver = true;
    });
    let thrown = 0;
    while (!isOver || thrown === 0) {
      const [from, to] = [thrown % 2, (thrown + 1) % 2];
      assert.equal((await post(pair[from], crossingOf(++thrown))).status, 202);
      const batch = await pollFor(pair[to], cursors[to], isSprite);
      assert.equal(batch.events.filter(isSprite).length, 1);
      cursors[to] = batch.cursor;
      most = Math.max(most, residentBytes());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await attacked;
    return { grownBytes: most - atFirst, thrown };
  }

  it('answers every throw while pictures of 64 MiB that are wrong in their last row are sent 8 at a time', async (t) => {
    const { token } = await stay();
    const pictures = Array.from({ length: PICTURES }, () => wrongInLastRow());
    const { grownBytes, thrown } = await besideProbe(async () => {
      const sendAll = async () => {
        for (let bytes = pictures.pop(); bytes; bytes = pictures.pop()) {
          const document = isProblem(await put(bytes, token), 'sprite-invalid');
          assert.match(document.detail, /filter/);
        }
      };
      await Promise.all(Array.from({ length: PICTURES_AT_ONCE }, sendAll));
    });
    t.diagnostic(`${thrown} throws; ${(grownBytes / 1e6).toFixed(0)} MB more`);
    assert.ok(thrown > 20, `${thrown} throws during the attack`);
    assert.ok(grownBytes < GROWTH_BYTES_MAX, `${grownBytes} bytes more`);
  });

  it('refuses a picture that was refused before without reading it', async () => {
    const { token } = await join(relay.url);
    const bytes = Buffer.from('this is not a picture');
    const { detail } = isProblem(await put(bytes, token), 'sprite-invalid');
    const connection = await raw();
    connection.send(headOf('PUT', hashOf(bytes), `Authorization: Bearer ${token}`, `Content-Length: ${SPR_BYTES_MAX}`));
    assert.equal(isProblem(await connection.answer(), 'sprite-invalid').detail, detail);
    await connection.closed;
  });

  const held = async () => (await relay.metrics()).get('sprites_store_upload_bytes') as number;
  /** Starts uploads that do not end. Resolves to how many are held. */
  const startUploads = async ({ token }: Joined, wanted: number) => {
    const before = await held();
    let refused = 0;
    for (let n = 0; n < wanted; n++) {
      const connection = await raw();
      const file = hashOf(sprFile());
      connection.send(headOf('PUT', file, `Authorization: Bearer ${token}`, `Content-Length: ${SPR_BYTES_MAX}`));
      void connection.closed.then(() => {
        refused++;
      });
    }
    const added = async () => ((await held()) - before) / SPR_BYTES_MAX;
    await until('each is held or refused', async () => (await added()) === wanted - refused);
    return wanted - refused;
  };

  it('receives uploads of one desktop up to its share, refuses more before it reads them, and serves others', async () => {
    let left = UPLOADS_BYTES_MAX / SPR_BYTES_MAX;
    let last: Joined | undefined;
    for (let n = 0; n < 6; n++) {
      last = await stay();
      const share = Math.floor(left / 3);
      const count = await startUploads(last, share + 2);
      assert.equal(count, share, `desktop ${n}: a third of what was left`);
      left -= count;
      const other = await join(relay.url);
      assert.equal((await put(sprFile(), other.token)).status, 201, 'others are served');
    }
    assert.ok(last);
    for (const connection of connections.splice(0)) connection.destroy();
    const { token } = last;
    const large = largeSprFile();
    await until('there is room again', async () => (await put(large, token)).status === 201);
  });

  it('receives uploads of a desktop up to a share of its own, although those of one that had its slot go on', async () => {
    const former = await join(relay.url);
    const share = Math.floor(UPLOADS_BYTES_MAX / SPR_BYTES_MAX / 3);
    assert.equal(await startUploads(former, share), share);
    const at = `${relay.url}/v1/desktops/${former.desktop}`;
    assert.equal((await sendRequest(at, { method: 'DELETE', token: former.token })).status, 204);
    const next = await stay();
    assert.equal(next.desktop.split('-')[0], former.desktop.split('-')[0], 'the slot is used again');
    assert.equal(await startUploads(next, 1), 1);
  });

  it('keeps its memory when bodies come in chunks of one byte', async (t) => {
    const { token } = await stay();
    const oneByte = Buffer.from('1\r\nx\r\n'.repeat(10_000));
    const { grownBytes } = await besideProbe(async () => {
      await Promise.all(
        Array.from({ length: 2 }, async () => {
          const connection = await raw();
          connection.send(
            headOf('PUT', hashOf(sprFile()), `Authorization: Bearer ${token}`, 'Transfer-Encoding: chunked'),
          );
          for (let n = 0; n < 50; n++) {
            await new Promise((resolve) => connection.socket.write(oneByte, resolve));
          }
          connection.send('0\r\n\r\n');
          isProblem(await connection.answer(), 'sprite-invalid');
        }),
      );
    });
    t.diagnostic(`${(grownBytes / 1e6).toFixed(0)} MB more`);
    assert.ok(grownBytes < GROWTH_BYTES_MAX, `${grownBytes} bytes more`);
  });

  it('opens few files, and keeps its memory, when clients request large files and do not read them', async (t) => {
    const { token } = await stay();
    const files: string[] = [];
    for (let n = 0; n < 24; n++) {
      const bytes = largeSprFile();
      assert.equal((await put(bytes, token)).status, 201);
      files.push(hashOf(bytes));
    }
    const before = openFiles();
    let most = 0;
    const { grownBytes } = await besideProbe(async () => {
      for (let n = 0; n < 10; n++) {
        const connection = await raw();
        connection.socket.pause();
        connection.send(Array.from({ length: 64 }, (_, k) => headOf('GET', files[k % files.length])).join(''));
        most = Math.max(most, openFiles());
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    t.diagnostic(`${most - before} more files; ${(grownBytes / 1e6).toFixed(0)} MB more`);
    assert.ok(most - before < 40, `${most - before} more open files`);
    assert.ok(grownBytes < GROWTH_BYTES_MAX, `${grownBytes} bytes more`);
    for (const connection of connections.splice(0)) connection.destroy();
    assert.equal((await sendRequest(urlOf(files[0]))).status, 200);
  });

  it('answers ranges of a file: a part 206, several or odd ones with the whole file, none of its bytes 416', async () => {
    const { token } = await join(relay.url);
    const bytes = sprFile();
    assert.equal((await put(bytes, token)).status, 201);
    const list = (await sendRequest(`${relay.url}/sprites/index.json`)).json as { file: string; url: string }[];
    const shipped = (await sendRequest(`${relay.url}${list[0].url}`)).body;
    for (const [url, whole] of [
      [urlOf(hashOf(bytes)), bytes],
      [`${relay.url}${list[0].url}`, shipped],
    ] as const) {
      const ask = (range: string, headers = {}) => sendRequest(url, { headers: { range, ...headers } });
      const end = whole.length - 1;
      for (const [range, from, to] of [
        ['bytes=0-0', 0, 0],
        ['bytes=5-', 5, end],
        ['bytes=-1', end, end],
        [`bytes=${end}-${end + 100}`, end, end],
      ] as const) {
        const answer = await ask(range);
        assert.equal(answer.status, 206, range);
        assert.equal(answer.headers['content-range'], `bytes ${from}-${to}/${whole.length}`);
        assert.equal(answer.headers['content-type'], 'image/png');
        assert.deepEqual(answer.body, whole.subarray(from, to + 1));
      }
      for (const range of ['bytes=0-1,3-4', 'bytes=x-', 'bytes', 'rows=0-1', 'bytes=--1']) {
        const answer = await ask(range);
        assert.equal(answer.status, 200, range);
        assert.deepEqual(answer.body, whole);
      }
      const other = await ask('bytes=1-2', { 'if-range': '"another"' });
      assert.equal(other.status, 200, 'the part of another file');
      for (const range of [`bytes=${whole.length}-`, `bytes=${whole.length + 1}-${whole.length + 9}`]) {
        const answer = await ask(range);
        isProblem(answer, 'range-not-satisfiable');
        assert.equal(answer.headers['content-range'], `bytes */${whole.length}`);
      }
    }
  });
});
