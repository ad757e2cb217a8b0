/** Attacks with sprite files: sent, fetched, and neither finished. */
import { createHash } from 'node:crypto';
import type { Assault, Attack } from './assault.ts';
import type { Connection } from './connection.ts';
import { bomb, largePicture, type Picture, smallPicture } from './picture.ts';
import { bearer, headOf, type Joined, requestOf } from './target.ts';

/** How often slow senders send a byte and slow readers read, in ms. */
const SLOW_MS = 500;

function put(joined: Joined, { hash, bytes }: Picture): Buffer {
  return requestOf(`PUT /v1/sprites/${hash}`, bytes, bearer(joined));
}

/** Sends pictures, one after the other on each of `connections`. */
async function upload(assault: Assault, connections: number, picture: () => Picture): Promise<void> {
  const joined = await assault.joinAtLast();
  if (!joined) return;
  await assault.repeatOn(connections, assault.target.api, async (connection) => {
    const response = await connection.ask(put(joined, picture()), assault.patience(30_000));
    if (response === undefined) return false;
    if (response.status === 429 || response.status === 503) await assault.rest();
    return true;
  });
}

const pictureBombs: Attack = {
  about: 'pictures of 65 KB that inflate to 64 MiB and are wrong in the last row, 8 at a time',
  run: (assault) => upload(assault, 8, bomb),
};

const uploads: Attack = {
  about: 'distinct valid pictures of 300 bytes on 8 connections, as fast as possible, to fill the store',
  run: (assault) => upload(assault, 8, smallPicture),
};

/** Stores a picture of nearly 1 MiB. Resolves to its path; undefined when the relay does not take it. */
async function storeLarge(assault: Assault): Promise<string | undefined> {
  const picture = largePicture(assault.random);
  const joined = await assault.joinAtLast();
  while (joined && !assault.over) {
    const connection = await assault.open(assault.target.api);
    const response = await connection?.ask(put(joined, picture));
    connection?.destroy();
    if (response?.status === 201 || response?.status === 204) return `/v1/sprites/${picture.hash}`;
    assault.note(`a picture of ${picture.bytes.length} bytes was answered ${response?.status}: ${response?.body}`);
    await assault.rest(200);
  }
  return undefined;
}

/** Each connection sends `requests` GETs of a large file in one write. */
async function fetchUnread(assault: Assault, connections: number, requests: number): Promise<Connection[]> {
  const path = await storeLarge(assault);
  if (path === undefined) return [];
  const gets = Buffer.from(headOf(`GET ${path}`).repeat(requests));
  const open = await assault.openMany(connections, assault.target.api, 'never');
  for (const connection of open) {
    connection.send(gets);
    assault.count('requests', requests);
  }
  return open;
}

const filePipelines: Attack = {
  about: '640 pipelined GETs of a file of 1 MiB on each of 32 connections, none of which reads',
  run: async (assault) => {
    await assault.hold(await fetchUnread(assault, assault.scaled(32), 640));
  },
};

const slowReaders: Attack = {
  about: '256 connections ask for a file of 1 MiB twice and read a few KiB a second',
  run: async (assault) => {
    const open = await fetchUnread(assault, assault.scaled(256), 2);
    while (!assault.over) {
      for (const { socket } of open) socket.read(1024);
      await assault.rest(SLOW_MS);
    }
    for (const connection of open) connection.destroy();
  },
};

const slowBodies: Attack = {
  about: '1,000 uploads and crossings that announce a body and send a byte of it every half second',
  run: async (assault) => {
    const joined = await assault.joinAtLast();
    if (!joined) return;
    const open = await assault.openMany(assault.scaled(1000), assault.target.api, 'never');
    open.forEach((connection, i) => {
      const [line, length] =
        i % 2 === 0
          ? [`PUT /v1/sprites/${'0'.repeat(64)}`, 1 << 20]
          : [`POST /v1/desktops/${joined.desktop}/crossings`, 1000];
      connection.send(headOf(line, bearer(joined), `Content-Length: ${length}`));
    });
    while (!assault.over) {
      for (const connection of open) connection.send('x');
      await assault.rest(SLOW_MS);
    }
    for (const connection of open) connection.destroy();
  },
};

/** Desktops that attack together, and what each does at once. Limits that a desktop alone meets do not stop them. */
const DESKTOPS = 8;
const UPLOADS_EACH = 16;

const heldUploads: Attack = {
  byAddress: true,
  from: '127.0.0.3',
  about: '8 desktops of one address announce 16 different pictures of 1 MiB each and never send them',
  run: async (assault) => {
    const open: Connection[] = [];
    for (let n = 0; n < DESKTOPS; n++) {
      const joined = await assault.joinAtLast();
      if (!joined) break;
      for (const connection of await assault.openMany(UPLOADS_EACH, assault.target.api)) {
        const hash = createHash('sha256').update(`${joined.token} ${open.length}`).digest('hex');
        connection.send(headOf(`PUT /v1/sprites/${hash}`, bearer(joined), `Content-Length: ${1 << 20}`));
        assault.count('requests');
        open.push(connection);
      }
    }
    await assault.hold(open);
  },
};

/** Different pictures, and connections that begin with each: so several workers send it. */
const DIFFERENT = 80;
const READERS_EACH = 3;

/** Pictures that a connection asks for: the system's buffers take the first ones, and the next one waits in the relay. */
const REQUESTS_EACH = 12;

const differentPictures: Attack = {
  byAddress: true,
  from: '127.0.0.4',
  secondsMin: 10,
  about: '80 different pictures of 1 MiB are stored, and 240 connections ask for 12 of them each and do not read',
  run: async (assault) => {
    const stored: string[] = [];
    const store = async () => {
      // It never polls, so it ends soon.
      const joined = await assault.joinAtLast();
      const connection = joined && (await assault.open(assault.target.api));
      for (let n = 0; n < DIFFERENT / DESKTOPS && connection && !connection.over && !assault.over; n++) {
        const picture = largePicture(assault.random);
        const response = await connection.ask(put(joined, picture), assault.patience());
        if (response?.status === 201) stored.push(picture.hash);
      }
      connection?.destroy();
    };
    await Promise.all(Array.from({ length: DESKTOPS }, store));
    const open: Connection[] = [];
    for (let n = 0; n < stored.length * READERS_EACH; n++) {
      const [reader] = await assault.openMany(1, assault.target.api, 'never');
      if (reader === undefined) break;
      const first = Math.floor(n / READERS_EACH);
      for (let k = 0; k < REQUESTS_EACH; k++)
        reader.send(headOf(`GET /v1/sprites/${stored[(first + k) % stored.length]}`));
      assault.count('requests', REQUESTS_EACH);
      open.push(reader);
    }
    await assault.hold(open);
  },
};

export const PICTURE_ATTACKS: Record<string, Attack> = {
  'picture-bombs': pictureBombs,
  uploads,
  'file-pipelines': filePipelines,
  'slow-readers': slowReaders,
  'slow-bodies': slowBodies,
  'held-uploads': heldUploads,
  'different-pictures': differentPictures,
};
