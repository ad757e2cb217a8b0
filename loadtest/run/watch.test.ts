import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { folderOf } from '../test/command.ts';
import { watch } from './watch.ts';

describe('watch', () => {
  it('counts what a relay refuses, for every reason that it gives', async (t) => {
    // As many as there are scrapes, of two reasons, one of which a page of metrics has from the second on.
    let scrapes = 0;
    const relay = createServer((_request, answer) => {
      const later = scrapes > 0 ? `sprites_refused_total{reason="picture-refused"} ${20 * scrapes}\n` : '';
      answer.end(`sprites_desktops 2\nsprites_refused_total{reason="mailbox-full"} ${5 + scrapes++}\n${later}`);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    t.after(() => relay.close());
    const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    const adminTokenFile = join(folderOf(t), 'token');
    writeFileSync(adminTokenFile, 'secret\n');
    // The site is asked of a port that nobody listens on, so that only the metrics count.
    const watched = await watch(
      { url: 'http://127.0.0.1:9', adminUrl: url, adminTokenFile, durationS: 2, canaries: false },
      () => {},
    );
    const { 'mailbox-full': full, 'picture-refused': pictures } = watched.refusedByReason;
    assert.ok(full > 0 && pictures === 20 * full, JSON.stringify(watched.refusedByReason));
    assert.equal(watched.refused, full + pictures);
  });
});
