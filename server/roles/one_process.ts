/**
 * One process: the worker inside the master (`--workers 0`). Both ports belong to one front, and no frame is sent.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Front } from '../front/front.ts';
import { openListener } from '../front/native.ts';
import type { WorkerAdmission } from '../http/admission.ts';
import { type ApiSetup, makeApiListener, openPictures } from '../http/api_listener.ts';
import { ClientAddresses, warnOfForwarded } from '../http/client_address.ts';
import type { SocketDesktops } from '../http/socket_desktop.ts';
import { Worker } from '../http/worker.ts';
import { workerGauges } from '../metrics/gauges.ts';
import { storeGauges } from '../metrics/store_gauges.ts';
import { type Refusals, type WorkerSample, workerRefusals } from '../metrics/worker_samples.ts';
import type { ModerationMessage } from '../moderation/moderator.ts';
import {
  addressesOf,
  connectionsPerAddress,
  eventsListener,
  type PreparedWorkers,
  type Workers,
  type WorkersOptions,
  type WorkersSetup,
  workerAdmission,
} from '../operator/workers.ts';
import { DirectUplink } from '../processes/direct_uplink.ts';
import { PendingRequests } from '../processes/pending.ts';
import { CLOSING_STEP_MS } from './closing.ts';

/** What the worker's end is made of. */
interface Parts {
  readonly worker: Worker;
  readonly sockets: SocketDesktops;
  readonly registry: Registry;
  readonly admission: WorkerAdmission | undefined;
}

export class OneProcess implements Workers {
  readonly front: Front;
  readonly ports: { readonly api: number; readonly events: number };
  readonly ipc = undefined;
  readonly pids = [];
  readonly readyCount = 1;
  readonly moderate: (message: ModerationMessage) => Promise<void>;
  readonly #parts: Parts;

  /** Resolves to what starts it. */
  static async prepare({ data, pictures, host, port }: WorkersOptions, log: Logger): Promise<PreparedWorkers> {
    const opened = await openPictures(data, pictures, log);
    // Shared: at a restart the next process listens there, too.
    const at: ApiSetup['at'] = { host, port, shared: true };
    return {
      listenBeside: async () => {
        at.descriptor = await openListener(host, port);
      },
      start: (setup) => OneProcess.#start(setup, opened, at),
    };
  }

  /** Resolves when both ports are open. Rejects with the system's error when one can't be. */
  static async #start(
    { master, plan, options, registry, log, bans }: WorkersSetup,
    pictures: Awaited<ReturnType<typeof openPictures>>,
    at: ApiSetup['at'],
  ): Promise<OneProcess> {
    const pending = new PendingRequests();
    const worker = new Worker(new DirectUplink(master, pending), pending, pictures.gate);
    worker.isInCluster = options.nats !== undefined;
    const addresses = addressesOf(options);
    const admission = workerAdmission(options);
    const { listener, sockets, moderate } = makeApiListener({
      worker,
      pictures,
      addresses,
      operator: options,
      at,
      log,
      clients: new ClientAddresses(options.trustProxy, warnOfForwarded(log)),
      admission,
    });
    await moderate({ type: 'bans', bans: bans() });
    const { crossing, saying, stage } = worker.handlers;
    const front = plan.make(
      [eventsListener(options), listener],
      { ...master.handlers, crossing, saying, stage },
      connectionsPerAddress(options),
    );
    workerGauges(registry, worker, sockets, front, admission);
    storeGauges(registry, pictures.store);
    master.turns.links.addFront(front);
    worker.setFront(front);
    [addresses.eventsPort, addresses.apiPort] = await front.listen();
    const ports = { api: addresses.apiPort, events: addresses.eventsPort };
    return new OneProcess(front, ports, moderate, { worker, sockets, registry, admission });
  }

  private constructor(front: Front, ports: Workers['ports'], moderate: OneProcess['moderate'], parts: Parts) {
    this.front = front;
    this.ports = ports;
    this.moderate = moderate;
    this.#parts = parts;
  }

  get refused(): Refusals {
    // The front of the master counts the connections.
    return workerRefusals(this.#parts.worker, undefined, this.#parts.admission);
  }

  takeMalformed(): WorkerSample['malformed'] {
    return this.#parts.worker.takeMalformed();
  }

  samples(): [] {
    return [];
  }

  metrics(): Promise<string> {
    return this.#parts.registry.metrics();
  }

  async giveWay(): Promise<void> {
    this.front.drain();
    await sleep(CLOSING_STEP_MS);
    this.drain();
  }

  drain(): void {
    this.#parts.worker.drain();
  }

  isBusy(): boolean {
    return this.#parts.worker.pendingCount > 0;
  }

  close(): void {
    this.#parts.sockets.close();
  }
}
