import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import type { Logger } from 'pino';
import { Relay } from '../../domain/relay.ts';
import { PretendNetwork } from '../../test/pretend_network.ts';
import { GENERATION_KEY_BYTES } from '../../wire/generations.ts';
import { Master } from '../master.ts';
import { ANSWER_MS, Peering } from './peering.ts';

const log = { warn() {}, info() {}, debug() {}, error() {} } as unknown as Logger;

describe('peering', () => {
  it('waits ANSWER_MS for the answer to a frame: one below, at the limit, one above', async (t) => {
    for (const ms of [ANSWER_MS - 1, ANSWER_MS, ANSWER_MS + 1]) {
      const network = new PretendNetwork(() => 0.5);
      // Half of it each way.
      network.faults.delayMs = ms;
      const master = new Master(
        (answers) =>
          new Relay({
            ...{ slots: 1, slabBytes: 0, epoch: 1, generationKey: Buffer.alloc(GENERATION_KEY_BYTES), nowMs: 0 },
            ...{ random: () => 0.5, randomize: () => {}, answers },
          }),
      );
      const peering = new Peering({
        ...{ name: 'a', master, network: network.node(), log, data: tmpdir() },
        superseded: () => {},
      });
      t.after(() => peering.close());
      network.node().subscribe('sprites.frames.b', (bytes, answer) => answer?.(bytes));
      const { peers } = peering;
      const frame = { peer: 'b', number: 1, frame: Buffer.from('frame'), places: [] };
      t.mock.method(peers, 'popOutgoing', () => [frame], { times: 1 });
      const outcome = Promise.withResolvers<string>();
      t.mock.method(peers, 'answered', () => outcome.resolve('answered'));
      t.mock.method(peers, 'failed', (_: unknown, isCertain: boolean) => outcome.resolve(`failed, ${isCertain}`));
      peering.flush();
      network.advance(ms / 2);
      network.advance(ms);
      assert.equal(await outcome.promise, ms < ANSWER_MS ? 'answered' : 'failed, false', `after ${ms} ms`);
    }
  });
});
