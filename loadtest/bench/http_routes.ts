/**
 * Measures the transient routes as a user of Node would: with autocannon, one route after the other.
 *
 * The load is a closed loop: each connection sends its next request when it has its answer. So latency here is the time that
 * an answer takes, not the time that a visitor who arrives at any moment waits; the swarm measures that. Invariant: the bench
 * fails when any answer of a route is not a 2xx.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import autocannon from 'autocannon';

const CHARACTERS = join(import.meta.dirname, '../../server/web/sprites');

/** The relay's API, and its admin port for the health route; without an admin port that route is left out. */
export interface Bases {
  api: string;
  admin?: string;
}

export interface Route {
  name: string;
  url: string;
  method: 'GET' | 'POST';
  body?: string;
}

export interface RouteFigures {
  name: string;
  perSecond: number;
  bytesPerSecond: number;
  ms: { p50: number; p99: number; max: number };
  answers: number;
  /** Broken connections and time-outs. */
  errors: number;
  /** Answers that were not a 2xx. */
  refused: number;
}

/** The routes: join, site, a sprite file that ships with the relay, and health. */
export function routesOf({ api, admin }: Bases): Route[] {
  const [character] = readdirSync(CHARACTERS).filter((name) => name.endsWith('.spr'));
  const file = createHash('sha256')
    .update(readFileSync(join(CHARACTERS, character)))
    .digest('hex');
  return [
    { name: 'join', url: `${api}/v1/desktops`, method: 'POST', body: '{"screen":{"width":1920,"height":1080}}' },
    { name: 'site', url: `${api}/`, method: 'GET' },
    { name: 'sprite file', url: `${api}/v1/sprites/${file}`, method: 'GET' },
    ...(admin === undefined ? [] : [{ name: 'health', url: `${admin}/healthz`, method: 'GET' as const }]),
  ];
}

/** Measures one route. */
export async function benchRoute(
  { name, url, method, body }: Route,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<RouteFigures> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const result = await autocannon({ url, method, body, headers, connections, duration: seconds });
  return {
    name,
    perSecond: result.requests.average,
    bytesPerSecond: result.throughput.average,
    ms: { p50: result.latency.p50, p99: result.latency.p99, max: result.latency.max },
    answers: result.requests.total,
    errors: result.errors + result.timeouts,
    refused: result.non2xx,
  };
}
