/** BEHAVIOUR.md, moves.vectors.json and the browser's moves agree. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { isLost, MOVES_MAX, MOVES_MS, Moves, relayToJoin } from '../../server/web/relay/moves.ts';
import { LOST_LEASES } from '../../server/wire/rules.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const vectors = JSON.parse(read('../moves.vectors.json'));

describe('moving to another relay', () => {
  it('has the same constants in the browser and in BEHAVIOUR.md as in the vectors', () => {
    assert.deepEqual({ MOVES_MAX, MOVES_MS, LOST_LEASES }, vectors.constants);
    const text = read('../BEHAVIOUR.md').split('\n## Moving to another relay\n')[1].split('\n## ')[0];
    const rows = [...text.matchAll(/^\| `([A-Z_]+)` \| ([\d ]+) \|/gm)];
    const written = Object.fromEntries(rows.map(([, name, value]) => [name, Number(value.replaceAll(' ', ''))]));
    assert.deepEqual(written, vectors.constants);
  });

  for (const { name, relay, join, to } of vectors.addresses) {
    it(`browser › an address › ${name}`, () => assert.equal(relayToJoin(relay, join) ?? null, to));
  }

  for (const { name, bytes, isFollowed } of vectors.lengths) {
    it(`browser › a long address › ${name}`, () => {
      const join = 'http://r2.example/'.padEnd(bytes, 'x');
      assert.equal(relayToJoin('http://r1.example', join) !== undefined, isFollowed);
    });
  }

  for (const { name, atMs, follows } of vectors.moves) {
    it(`browser › moves › ${name}`, () => {
      const moves = new Moves('http://r1.example');
      const follow = (ms: number) =>
        moves.follow('http://r1.example', 'http://r2.example/v1/desktops', ms) !== undefined;
      assert.deepEqual(atMs.map(follow), follows);
    });
  }

  it('browser › an address that it must not follow to is not counted as a move', () => {
    const moves = new Moves('http://r1.example');
    for (let n = 0; n < 9; n++) assert.equal(moves.follow('https://r1.example', 'http://r2.example', 0), undefined);
    assert.equal(moves.follow('https://r1.example', 'https://r2.example', 0), 'https://r2.example');
  });

  for (const { name, began, relay, join, site } of vectors.links) {
    it(`browser › links for friends › ${name}`, () => {
      const moves = new Moves(began);
      assert.ok(moves.follow(relay, join, 0));
      assert.equal(moves.site, site);
    });
  }

  for (const { name, began, relay, leaseSeconds, silentMs, isLost: expected } of vectors.lost) {
    const seat = { crossings: `${relay}/v1/desktops/1-1/crossings`, leaseSeconds };
    it(`browser › a relay that is gone › ${name}`, () => assert.equal(isLost(began, seat, silentMs), expected));
  }
});
