/**
 * What does a heartbeat cost NATS? All connections publish and subscribe, so NATS delivers each message to all others.
 *
 * The protocol of NATS is lines of text, so plain sockets are enough. CPU is user + system time of nats-server in the window.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../tools/bench/free_ports.ts';
import { findProgram } from '../../tools/machine.js';
import { processCpuSeconds } from './process_cpu.ts';

/** Each connection receives about as many heartbeats a second as a relay among six hundred. */
const CONNECTIONS = 64;
const PUBLISH_EVERY_MS = 25;

const WARM_UP_MS = 1_000;
const WINDOW_MS = 4_000;

/** CPU-µs of NATS for each delivery of a message of this size; undefined when this machine has no nats-server. */
export async function fanoutCost(bytes: Uint8Array): Promise<number | undefined> {
  const program = findProgram('nats-server');
  if (!program) return undefined;
  const [port] = await freePorts(1);
  const server = spawn(program, ['--addr', '127.0.0.1', '--port', `${port}`], { stdio: 'ignore' });
  const ended = once(server, 'close');
  let received = 0;
  const sockets: net.Socket[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    const message = Buffer.concat([
      Buffer.from(`PUB sprites.heartbeat ${bytes.length}\r\n`),
      bytes,
      Buffer.from('\r\n'),
    ]);
    const size = `MSG sprites.heartbeat 1 ${bytes.length}\r\n\r\n`.length + bytes.length;
    for (let n = 0; n < CONNECTIONS; n++) {
      const socket = await connected(port);
      socket.on('data', (chunk) => {
        received += chunk.length;
      });
      socket.write('CONNECT {"verbose":false,"echo":false}\r\nSUB sprites.heartbeat 1\r\n');
      sockets.push(socket);
    }
    let next = 0;
    timer = setInterval(() => {
      // A fifth of the connections in each tick, so that messages are spread as those of relays are.
      for (let n = 0; n < CONNECTIONS / 5; n++) sockets[next++ % CONNECTIONS].write(message);
    }, PUBLISH_EVERY_MS / 5);
    await sleep(WARM_UP_MS);
    const [from, before] = [cpuSeconds(server.pid), received];
    await sleep(WINDOW_MS);
    return ((cpuSeconds(server.pid) - from) * 1e6) / ((received - before) / size);
  } finally {
    clearInterval(timer);
    for (const socket of sockets) socket.destroy();
    server.kill('SIGKILL');
    await ended;
  }
}

function cpuSeconds(pid: number | undefined): number {
  return processCpuSeconds(pid as number) ?? Number.NaN;
}

/** Connects as soon as the server listens. */
async function connected(port: number): Promise<net.Socket> {
  for (;;) {
    const socket = net.connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    const opened = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (opened) return socket;
    await sleep(50);
  }
}
