import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_EDGE } from '../saying.ts';
import { type PeerSaying, PeerSayingsWriter, RUNS_MAX, type Run, readPeerSayings } from './peer_sayings.ts';

const HEAD_BYTES = 4 + 'r1'.length;

function sayingWith(runs: number): PeerSaying {
  const run = (place: number): Run => ({ place, count: 1, edge: NO_EDGE });
  const reference = Buffer.from('{"desktop":"1-1","name":"Ann"}');
  return { slot: 1, generation: 1, reference, text: 'Hi', runs: Array.from({ length: runs }, (_, n) => run(n)) };
}

/** A message whose saying has another run. */
function withOneMore(message: Buffer): Buffer {
  const runAt = HEAD_BYTES + 16;
  const bytes = Buffer.concat([message.subarray(0, runAt), Buffer.alloc(8), message.subarray(runAt)]);
  bytes.writeUInt16LE(bytes.readUInt16LE(HEAD_BYTES) + 8, HEAD_BYTES);
  bytes.writeUInt16LE(bytes.readUInt16LE(HEAD_BYTES + 2) + 1, HEAD_BYTES + 2);
  return bytes;
}

describe('the sayings of peers', () => {
  it('have RUNS_MAX runs at most', () => {
    for (const runs of [RUNS_MAX - 1, RUNS_MAX, RUNS_MAX + 1]) {
      const writer = new PeerSayingsWriter('r1');
      assert.equal(writer.add(sayingWith(runs)), runs <= RUNS_MAX);
      const read = readPeerSayings(writer.finish());
      assert.ok(typeof read !== 'string');
      assert.deepEqual(
        read.sayings.map((one) => one.runs.length),
        runs <= RUNS_MAX ? [runs] : [],
      );
    }
  });

  it('are malformed with more runs', () => {
    for (const runs of [RUNS_MAX - 2, RUNS_MAX - 1, RUNS_MAX]) {
      const writer = new PeerSayingsWriter('r1');
      writer.add(sayingWith(runs));
      const read = readPeerSayings(withOneMore(writer.finish()));
      if (runs + 1 > RUNS_MAX) assert.equal(read, 'malformed');
      else assert.ok(typeof read !== 'string' && read.sayings[0].runs.length === runs + 1);
    }
  });
});
