/**
 * The account that all tests of a process share, which moto simulates: it starts with the first test that needs it, and ends after the
 * last. Each suite has regions of its own, so it sees no fleet of another one.
 */
import { after } from 'node:test';
import { type Moto, startMoto } from './moto.ts';

let moto: Promise<Moto> | undefined;

export function sharedMoto(): Promise<Moto> {
  moto ??= startMoto();
  return moto;
}

after(async () => (await moto)?.stop());
