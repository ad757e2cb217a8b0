/**
 * One process: the worker inside the master (`--workers 0`). Both ports belong to one front, and no frame is sent.
 */

import type { Logger } from 'pino';
import type { Front } from '../front/front.ts';
import { openListener } from '../front/native.ts';
import { type ApiSetup, makeApiListener, openPictures } from '../http/api_listener.ts';
import { ClientAddresses, warnOfForwarded } from '../http/client_address.ts';
import { type Malformed, Worker } from '../http/worker.ts';
import { type Refusals, type SampledParts, takeSample, type WorkerSample } from '../metrics/worker_samples.ts';
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

export class OneProcess implements Workers {
  readonly ports: { readonly api: number; readonly events: number };
  readonly ipc = undefined;
  readonly pids = [];
  readonly readyCount = 1;
  readonly moderate: (message: ModerationMessage) => Promise<void>;
  readonly #parts: SampledParts;

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
    { master, plan, options, log, bans }: WorkersSetup,
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
    master.turns.links.addFront(front);
    worker.setFront(front);
    [addresses.eventsPort, addresses.apiPort] = await front.listen();
    const ports = { api: addresses.apiPort, events: addresses.eventsPort };
    return new OneProcess(ports, moderate, { worker, front, sockets, store: pictures.store, admission });
  }

  private constructor(ports: Workers['ports'], moderate: OneProcess['moderate'], parts: SampledParts) {
    this.ports = ports;
    this.moderate = moderate;
    this.#parts = parts;
  }

  get front(): Front {
    return this.#parts.front;
  }

  get refused(): Refusals {
    // The master counts the connections of its front.
    return { ...this.#sample.refused, connections: 0 };
  }

  takeMalformed(): Malformed {
    return this.#parts.worker.takeMalformed();
  }

  samples(): WorkerSample[] {
    return [this.#sample];
  }

  giveWay(): Promise<void> {
    return this.#parts.worker.giveWay();
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

  /** The master reads the delay of the loop. */
  get #sample(): WorkerSample {
    return takeSample(this.#parts, Number.NaN);
  }
}
