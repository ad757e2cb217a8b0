import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodePeerJoin,
  decodePeerJoinAnswer,
  encodePeerJoin,
  encodePeerJoinAnswer,
  PEER_JOIN_VERSION,
} from './peer_join.ts';

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a join that is passed on', () => {
  it('is read as it was written', () => {
    const joins = [
      { name: '', world: 'garden' },
      {
        ...{ name: 'Ann', world: 'garden', pictures: 'known' as const, stage: false, named: true },
        ...{ clientAddress: '2001:db8::7', address: '2001:db8::/64', client: { kind: 'page' as const, version: '' } },
        near: { slot: 6699, secret: [1, 2, 3, 0xffffffff], relay: 'r2' },
      },
    ];
    for (const join of joins) assert.deepEqual(decodePeerJoin(encodePeerJoin(join)), join);
  });

  it('is checked as one of a client is', () => {
    const body = { name: 'Ann', world: 'garden', screen: { width: 1, height: 1 } };
    const good = { version: PEER_JOIN_VERSION, body };
    assert.ok(decodePeerJoin(bytesOf(good)));
    const bad = [
      { ...good, version: PEER_JOIN_VERSION + 1 },
      { ...good, body: undefined },
      { ...good, body: { ...body, world: '' } },
      { ...good, body: { ...body, near: 'nonsense' } },
      [],
      null,
    ];
    for (const message of bad) assert.equal(decodePeerJoin(bytesOf(message)), undefined, JSON.stringify(message));
    assert.equal(decodePeerJoin(Buffer.from('{')), undefined);
    assert.equal(decodePeerJoin(bytesOf({ ...good, address: 'x'.repeat(65) }))?.address, undefined);
    assert.equal(decodePeerJoin(bytesOf({ ...good, address: 'x'.repeat(64) }))?.address?.length, 64);
  });

  it('has an answer that is read as it was written', () => {
    const at = { url: 'https://r2.example', apiPort: 8080, eventsPort: 8081, machine: 'm' };
    const answers = [
      { seat: { desktop: '1-1', token: '1-1.0', at } },
      { problem: { code: 'near-gone' as const, detail: 'It is gone.' } },
      { elsewhere: true as const },
    ];
    for (const answer of answers) assert.deepEqual(decodePeerJoinAnswer(encodePeerJoinAnswer(answer)), answer);
  });

  it('has an answer that is checked', () => {
    const version = PEER_JOIN_VERSION;
    const at = { apiPort: 8080, eventsPort: 8081, machine: 'm' };
    const seat = { desktop: '1-1', token: '1-1.0', at };
    assert.ok(decodePeerJoinAnswer(bytesOf({ version, seat })));
    for (const bad of [
      { version: version + 1, seat },
      { version },
      { version, seat: { ...seat, token: 1 } },
      { version, seat: { ...seat, at: { ...at, url: 'no address' } } },
      { version, seat: { ...seat, at: { ...at, apiPort: '8080' } } },
    ]) {
      assert.equal(decodePeerJoinAnswer(bytesOf(bad)), undefined, JSON.stringify(bad));
    }
    const later = { version, problem: { code: 'of-a-later-release', detail: 'Wait.' } };
    assert.deepEqual(decodePeerJoinAnswer(bytesOf(later)), { problem: { code: 'relay-busy', detail: 'Wait.' } });
  });
});
