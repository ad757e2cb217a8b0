/** Attacks below the protocol: connections that are slow, cut, idle, or send bytes where none belong. */
import { type Assault, type Attack, WAITING } from './assault.ts';
import { upgradeHead } from './socket_bytes.ts';
import { bearer, crossingOf, headOf, joinBytes, pollHead, postBytes } from './target.ts';

/** How often a slow client sends a byte, in ms. */
const SLOW_MS = 1000;

/** The finding of an HTTP response behind the 101 of the same connection, inside of the stream of frames. */
export const ANSWERED_INSIDE = 'responses inside a socket';

/** Below 8 KiB, as the head must be. */
const TINY_HEADERS = 1900;

async function slowHeadsOn(assault: Assault, port: number, count: number): Promise<void> {
  const line = 'GET /v1/desktops/0-1/events HTTP/1.1\r\nHost: relay\r\nX-Slow: ';
  while (!assault.over) {
    const open = await assault.openMany(count, port, 'never', 256);
    for (const connection of open) connection.send(line);
    // The relay closes them after 10 s: then they come again.
    while (!assault.over && open.some((connection) => !connection.over)) {
      await assault.rest(SLOW_MS);
      for (const connection of open) connection.send('x');
    }
    for (const connection of open) connection.destroy();
    await assault.rest();
  }
}

const slowHeads: Attack = {
  about: '10,000 connections, on both ports, that send a byte of their head every second',
  run: async (assault) => {
    const { api, events } = assault.target;
    await Promise.all([api, events].map((port) => slowHeadsOn(assault, port, assault.scaled(5000))));
  },
};

const resets: Attack = {
  about: 'connections that are reset as soon as their join, crossing, poll or half a request is sent, 64 at a time',
  run: async (assault) => {
    const joined = await assault.joinAtLast({ world: `resets ${process.pid}` });
    if (!joined) return;
    let number = 1;
    const requests: (() => readonly [number, string | Uint8Array])[] = [
      () => [assault.target.api, joinBytes()],
      () => [assault.target.api, postBytes(joined, 'crossings', crossingOf(number++))],
      () => [assault.target.events, pollHead(joined)],
      () => [assault.target.events, pollHead(joined).slice(0, 40)],
      () => [assault.target.api, Buffer.from(upgradeHead(joined))],
      () => [assault.target.api, headOf('GET /')],
      () => [assault.target.events, ''],
    ];
    await assault.repeat(64, async () => {
      const [port, bytes] = assault.random.of(requests)();
      const connection = await assault.open(port, 'never');
      if (!connection) return;
      await connection.write(bytes, assault.untilMs);
      if (assault.random.chance(0.5)) await assault.rest(1);
      connection.reset();
    });
  },
  keeps: WAITING,
};

const upgradePipelines: Attack = {
  about: 'a request in front of an upgrade, in one packet, 16 at a time, with frames behind both',
  run: async (assault) => {
    const joined = await assault.joinAtLast({ world: `upgrades ${process.pid}` });
    if (!joined) return;
    const first = [
      headOf('GET /'),
      joinBytes(),
      postBytes(joined, 'crossings', crossingOf(1)),
      headOf('GET /v1/desktops/0-1', bearer(joined)),
      headOf('DELETE /x'),
    ];
    await assault.repeat(16, async () => {
      const connection = await assault.open(assault.target.api);
      if (!connection) return;
      let isSocket = false;
      connection.onResponse = ({ status }) => {
        assault.count(isSocket ? ANSWERED_INSIDE : String(status));
        isSocket ||= status === 101;
      };
      const before = Buffer.from(assault.random.of(first));
      connection.send(Buffer.concat([before, Buffer.from(upgradeHead(joined)), Buffer.alloc(64, 0x81)]));
      await assault.rest(20);
      connection.destroy();
    });
  },
  keeps: WAITING,
};

const tinyHeaders: Attack = {
  about: `heads of ${TINY_HEADERS} headers of four bytes, whole and cut off, 32 connections at a time`,
  run: async (assault) => {
    const headers = Array.from({ length: TINY_HEADERS }, (_, i) => `${String.fromCharCode(97 + (i % 26))}:`);
    const whole = headOf('GET /v1/desktops/0-1', ...headers);
    await assault.repeat(32, async (worker) => {
      const connection = await assault.open(worker % 2 === 0 ? assault.target.api : assault.target.events);
      while (connection && !assault.over && !connection.over) {
        if ((await connection.ask(whole, 2_000)) === undefined) break;
        if (assault.random.chance(0.1)) connection.send(whole.slice(0, assault.random.below(whole.length)));
      }
      connection?.destroy();
    });
  },
};

const idleAdmin: Attack = {
  about: '64 connections to the admin port that send nothing',
  run: async (assault) => {
    while (!assault.over) {
      const open = await assault.openMany(64, assault.target.admin, 'never');
      while (!assault.over && open.some((connection) => !connection.over)) await assault.rest(100);
      for (const connection of open) connection.destroy();
      await assault.rest();
    }
  },
};

export const CONNECTION_ATTACKS: Record<string, Attack> = {
  'slow-heads': slowHeads,
  resets,
  'upgrade-pipelines': upgradePipelines,
  'tiny-headers': tinyHeaders,
  'idle-admin': idleAdmin,
};
