/**
 * Relays that share one world through a NATS server, for tests and benches. All have new data directories, which stop() removes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Contender, type Ports, type Shape, start } from './contender.ts';
import { NatsServer } from './nats_server.ts';

/** How long the relays may take until they know each other, in ms: a second, and more on a busy machine. */
const ACQUAINTED_MS_MAX = 60_000;

export interface Cluster {
  relays: readonly Contender[];
  nats: NatsServer;
  /** For each relay, the file with its admin token. */
  tokenFiles: readonly string[];
  stop(): Promise<void>;
}

/** Starts NATS and `count` relays of one shape, and waits until all know each other. With `ports`, relays tell others their addresses. */
export async function startCluster(shape: Shape, count: number, ports?: readonly Ports[]): Promise<Cluster> {
  const nats = await NatsServer.start();
  const folders: string[] = [];
  const relays: Contender[] = [];
  const stop = async () => {
    for (const relay of relays) await relay.stop();
    await nats.kill();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  };
  try {
    for (let n = 1; n <= count; n++) {
      const data = mkdtempSync(join(tmpdir(), 'sprites-cluster-'));
      folders.push(data);
      const own = ports?.[n - 1];
      const flags = [...(shape.flags ?? []), '--nats', nats.url, '--relay-name', `r${n}`, ...addressesOf(own)];
      relays.push(await start({ ...shape, flags, data, ports: own }));
    }
    await acquainted(relays);
  } catch (error) {
    await stop();
    throw error;
  }
  return { relays, nats, tokenFiles: folders.map((folder) => join(folder, 'admin-token')), stop };
}

function addressesOf(ports: Ports | undefined): string[] {
  if (ports === undefined) return [];
  const url = (port: number) => `http://127.0.0.1:${port}`;
  return ['--public-url', url(ports.api), '--public-events-url', url(ports.events)];
}

async function acquainted(relays: readonly Contender[]): Promise<void> {
  const untilMs = performance.now() + ACQUAINTED_MS_MAX;
  for (;;) {
    const metrics = await Promise.all(relays.map((relay) => relay.metrics()));
    const others = relays.length - 1;
    if (metrics.every((one) => one.get('sprites_peers') === others && one.get('sprites_peers_connected') === 1)) return;
    if (performance.now() > untilMs) throw new Error('the relays of the cluster do not find each other');
    await sleep(50);
  }
}
