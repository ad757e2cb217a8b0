/**
 * A worker process: a worker behind its own front, whose uplink is the IPC channel to the master.
 */
import type { Logger } from 'pino';
import { AggregatorRegistry, register } from 'prom-client';
import { planFront } from '../front/choice.ts';
import type { Answer } from '../wire/answer.ts';
import type { PublicAddresses } from './api.ts';
import { apiListener } from './api_listener.ts';
import { connectionsFor, fileLimit } from './capacity.ts';
import { workerGauges } from './gauges.ts';
import { IpcUplink } from './ipc.ts';
import { Worker } from './worker.ts';

/** What the master tells a worker at its birth, in the variable SPRITES_WORKER. */
export interface WorkerSettings {
  host: string;
  port: number;
  data: string;
  front: 'auto' | 'native' | 'portable';
  addresses: PublicAddresses;
}

/** What a worker tells the master beside frames. */
export type FromWorker = { type: 'ready'; port: number } | { type: 'failed'; why: string };

/** How long a worker that goes down still reads requests that have begun, in ms; the master takes as long over its last polls. */
const LAST_REQUESTS_MS = 400;

/** How long a worker that goes down waits for its answers and connections, in ms. */
const LAST_ANSWERS_MS = 3_000;
const CLOSING_STEP_MS = 20;

/** Tells the master something; when there is no master any more, this process is about to end. */
function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}

function sendFrame(frame: Buffer, unsent: () => void): void {
  if (!process.connected || !process.send) unsent();
  else process.send(frame, undefined, undefined, (error) => error && unsent());
}

export async function startWorker(settings: WorkerSettings, log: Logger): Promise<void> {
  const uplink = new IpcUplink(sendFrame, (requests) => worker.failed(requests));
  let answered: Answer = () => {};
  const worker = new Worker((call) => {
    answered = call;
    return uplink;
  });
  const at = { host: settings.host, port: settings.port, shared: true };
  const { listener, sockets } = await apiListener(worker, settings.data, settings.addresses, at, log);
  const connections = connectionsFor(fileLimit());
  // A worker hands most of what it gets on to express and ws, so its front runs where they do.
  const plan = planFront(settings.front, connections, connections, true);
  const front = plan.make([listener], { ...worker.handlers, poll: () => {}, closed: () => {}, outdated: () => {} });
  worker.face(front);
  new AggregatorRegistry();
  workerGauges(register, worker, sockets, () => front);

  process.on('message', (message: Uint8Array | { type: string }) => {
    if (message instanceof Uint8Array) {
      uplink.receive(message, answered);
      front.flush();
    } else if (message?.type === 'drain') void closeDown();
  });
  // Without a master there is nobody to ask: clients find the next worker, or the relay is gone.
  process.on('disconnect', () => process.exit(0));
  try {
    const [port] = await front.listen();
    settings.addresses.apiPort = port;
    send({ type: 'ready', port });
  } catch (error) {
    send({ type: 'failed', why: (error as Error).message });
    process.exitCode = 1;
    process.disconnect?.();
  }

  async function closeDown(): Promise<void> {
    worker.drain();
    front.drain();
    // A request that is half here is refused when it is whole, not cut off.
    await new Promise((resolve) => setTimeout(resolve, LAST_REQUESTS_MS));
    const untilMs = performance.now() + LAST_ANSWERS_MS;
    const busy = () => worker.pendingCount > 0 || front.gauges().waiting > 0;
    while (busy() && performance.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, CLOSING_STEP_MS));
    sockets.close();
    await new Promise((resolve) => setTimeout(resolve, CLOSING_STEP_MS));
    process.disconnect?.();
  }
}
