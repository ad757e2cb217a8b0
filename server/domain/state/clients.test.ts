import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CLIENT_KINDS, type Client } from '../../wire/client.ts';
import { CLIENT_ROWS_MAX, Clients } from './clients.ts';

const windows = (version: string): Client => ({ kind: 'windows', version });

/** The rows that have something, as `kind version desktops reason:times …`. */
function shown({ rows }: Clients): string[] {
  return rows
    .map(({ kind, version, desktops, refused }) => {
      const reasons = [...refused].filter(([, times]) => times > 0).map(([reason, times]) => `${reason}:${times}`);
      return desktops > 0 || reasons.length > 0 ? [kind, version, desktops, ...reasons].join(' ') : '';
    })
    .filter((row) => row !== '');
}

describe('clients', () => {
  it('are counted by kind and version while they are here, and by what was refused to them', () => {
    const clients = new Clients(8);
    clients.add(0, windows('1.0.0'));
    clients.add(1, windows('1.0.0'));
    clients.add(2, { kind: 'page', version: '' });
    clients.add(3);
    clients.refused(1, 'too-fast');
    clients.refused(1, 'malformed', 3);
    clients.refused(7, 'malformed');
    clients.refused(2 ** 32 - 1, 'malformed');
    clients.refusedJoin(windows('1.0.0'), 'relay-full');
    clients.remove(0);
    assert.deepEqual(clients.of(1).version, '1.0.0');
    assert.deepEqual(shown(clients), [
      'page  1',
      'unknown  1 malformed:2',
      'windows 1.0.0 1 malformed:3 too-fast:1 relay-full:1',
    ]);
  });

  it('of more versions than there is room for are counted by kind alone', () => {
    const clients = new Clients(100);
    const room = CLIENT_ROWS_MAX - CLIENT_KINDS.length;
    for (let n = 0; n < room; n++) clients.add(n, windows(`${n}`));
    clients.add(room, windows(`${room}`));
    assert.equal(clients.rows.length, CLIENT_ROWS_MAX);
    assert.deepEqual(clients.of(room), { ...clients.rows[CLIENT_KINDS.indexOf('windows')] });
  });

  it('that have gone make room for another version, and no refusal is forgotten', () => {
    const clients = new Clients(100);
    for (let n = 0; n < 3 * CLIENT_ROWS_MAX; n++) {
      clients.add(n, windows(`${n}`));
      clients.refused(n, 'too-fast');
      clients.remove(n);
    }
    clients.add(99, windows('new'));
    assert.equal(clients.rows.length, CLIENT_ROWS_MAX);
    assert.equal(clients.of(99).version, 'new');
    const refused = clients.rows.reduce((sum, row) => sum + (row.refused.get('too-fast') ?? 0), 0);
    assert.equal(refused, 3 * CLIENT_ROWS_MAX);
  });
});
