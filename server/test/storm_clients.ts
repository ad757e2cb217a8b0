/**
 * Clients that stress a front, in a process with its own file table and without the sanitizer.
 *
 * `storm_clients.ts rage <port> <port> <seed>` connects and disconnects in many ways, on both listeners, and exits.
 * `storm_clients.ts crowd <port> <count>` parks `count` polls and exits when all of them have ended.
 */
import net from 'node:net';
import { pickFrom, randomFrom } from './random.ts';

/** Connections of `rage`: in all, and at once. */
const RAGE_CONNECTIONS = 5_000;
const AT_ONCE = 100;

const [kind, port, second, seed] = process.argv.slice(2);
if (kind === 'rage') await rage([Number(port), Number(second)], pickFrom(randomFrom(Number(seed))));
else await crowd(Number(port), Number(second));
process.exit(0);

function request(line: string, slot: number, rest = '\r\n'): string {
  const id = `${slot.toString(16)}-1`;
  const head = `Host: relay\r\nAuthorization: Bearer ${id}.${'0'.repeat(32)}\r\n`;
  return `${line.replace('ID', id)} HTTP/1.1\r\n${head}${rest}`;
}

function poll(slot: number): string {
  return request('GET /v1/desktops/ID/events', slot);
}

function post(slot: number, body: string): string {
  return request('POST /v1/desktops/ID/crossings', slot, `Content-Length: ${body.length}\r\n\r\n${body}`);
}

async function rage(ports: [number, number], pick: (n: number) => number): Promise<void> {
  let left = RAGE_CONNECTIONS;
  const one = async () => {
    while (left-- > 0) await connectOnce(ports, pick);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** Makes one connection: it may send a request or a part of one, may read, and closes at a random moment. */
function connectOnce(ports: [number, number], pick: (n: number) => number): Promise<void> {
  return new Promise((resolve) => {
    const listener = pick(2);
    const slot = pick(50);
    const whole = listener === 0 ? poll(slot) : post(slot, '{"crossing":1}');
    const sent = [
      '',
      whole.slice(0, 1 + pick(whole.length)),
      whole,
      whole.repeat(1 + pick(5)),
      `${whole}\n\n garbage`,
      'GET / HTTP/1.1\r\nHost: relay\r\n\r\n',
      `PUT /x HTTP/1.1\r\nHost: relay\r\nContent-Length: 10\r\n\r\n${'x'.repeat(pick(11))}`,
    ][pick(7)];
    const socket = net.connect({ port: ports[listener], host: '127.0.0.1', noDelay: true });
    const leave = () => {
      const way = pick(4);
      if (way === 0) socket.destroy();
      else if (way === 1) socket.end();
      else socket.resetAndDestroy();
      if (way === 1) setTimeout(() => socket.destroy(), 20);
    };
    socket.on('error', () => {});
    socket.once('close', () => resolve());
    socket.once('connect', () => {
      socket.write(sent);
      if (pick(3) === 0) leave();
      else setTimeout(leave, pick(20));
    });
    // Some connections stop reading, or close, in the middle of a response.
    const reading = pick(4);
    if (reading < 2) socket.once('data', () => (reading === 0 ? socket.pause() : leave()));
    else if (reading === 2) socket.pause();
    else socket.resume();
  });
}

async function crowd(port: number, count: number): Promise<void> {
  const sockets: net.Socket[] = [];
  let ended = 0;
  const over = new Promise<void>((resolve) => {
    const end = () => {
      if (++ended === count) resolve();
    };
    const add = () => {
      const slot = sockets.length;
      const socket = net.connect({ port, host: '127.0.0.1' }, () => {
        socket.write(poll(slot));
        if (sockets.length < count) add();
      });
      socket.on('error', () => {});
      socket.once('close', end);
      socket.resume();
      sockets.push(socket);
    };
    for (let n = 0; n < AT_ONCE && n < count; n++) add();
  });
  process.once('message', () => {
    for (const socket of sockets) socket.resetAndDestroy();
  });
  await over;
}
