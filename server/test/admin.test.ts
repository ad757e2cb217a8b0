/** The admin port's work: collections, memory, and recordings that Chrome's DevTools open; one at a time, and bounded. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { LISTED_MAX } from '../roles/admin.ts';
import { mustBeSmall, PROFILE_SECONDS_MAX, SNAPSHOT_HEAP_BYTES_MAX } from '../roles/recording.ts';
import { type HttpResponse, join, sendRequest } from './desktop_client.ts';
import { isProblem } from './problem_check.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

/** A heap snapshot as DevTools read it; the counts are theirs to trust, so they are held here. */
interface HeapSnapshot {
  snapshot: { meta: { node_fields: string[]; edge_fields: string[] }; node_count: number; edge_count: number };
  nodes: number[];
  edges: number[];
  strings: string[];
}

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  startTime: number;
  endTime: number;
  samples: number[];
  timeDeltas: number[];
}

interface AllocationNode {
  id: number;
  selfSize: number;
  callFrame: { functionName: string };
  children: AllocationNode[];
}

describe('the admin port', BOUNDED, () => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay({ workers: 1 });
  });
  after(() => relay?.stop());

  const admin = (method: string, path: string, token: string = relay.adminToken): Promise<HttpResponse> =>
    sendRequest(`${relay.adminUrl}/admin/${path}`, { method, token });

  /** A download whose answer has begun; what follows is the caller's. */
  const begun = (path: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${relay.adminToken}` };
      http
        .request(`${relay.adminUrl}/admin/${path}`, { method: 'POST', headers, agent: false }, resolve)
        .on('error', reject)
        .end();
    });

  const isDownload = ({ status, headers }: HttpResponse, extension: string) => {
    assert.equal(status, 200);
    assert.match(
      String(headers['content-disposition']),
      new RegExp(`^attachment; filename="sprites-.+\\.${extension}"$`),
    );
    assert.equal(headers['cache-control'], 'no-store');
  };

  for (const kind of ['minor', 'major']) {
    it(`collects: ${kind}, with memory before and after and the longest block`, async () => {
      const { status, json } = await admin('POST', `gc?kind=${kind}`);
      const done = json as Record<string, number> & Record<'before' | 'after', NodeJS.MemoryUsage>;
      assert.equal(status, 200);
      assert.equal(done.kind, kind);
      for (const memory of [done.before, done.after]) assert.ok(memory.heapUsed > 2 ** 20 && memory.rss > 2 ** 24);
      assert.ok(done.longestBlockMs > 0 && done.tookMs > 0, JSON.stringify(done));
      if (kind === 'major') assert.ok(done.after.heapUsed < done.before.heapUsed, 'something was garbage');
    });
  }

  it('collects the nursery when no kind is named, and refuses a kind there is not', async () => {
    assert.equal(((await admin('POST', 'gc')).json as { kind: string }).kind, 'minor');
    isProblem(await admin('POST', 'gc?kind=full'), 'malformed', 'kind');
    isProblem(await admin('POST', 'gc?kind=minor&kind=major'), 'malformed', 'kind');
  });

  it('tells what memory is made of: spaces, external, resident, mailboxes, and the kernel for the sockets', async () => {
    await join(relay.url);
    const report = (await admin('GET', 'heap')).json as {
      memory: NodeJS.MemoryUsage;
      heap: Record<string, number>;
      spaces: { space_name: string; space_used_size: number }[];
      mailboxes: { usedBytes: number; bytes: number };
      kernel: Record<string, number> | null;
    };
    assert.ok(report.memory.rss > report.memory.heapUsed && report.memory.external > 0);
    assert.ok(report.heap.heap_size_limit > report.heap.used_heap_size);
    assert.ok(
      report.spaces.some(({ space_name, space_used_size }) => space_name === 'old_space' && space_used_size > 0),
    );
    assert.ok(report.mailboxes.bytes > report.mailboxes.usedBytes);
    if (process.platform !== 'linux') return;
    assert.ok(
      report.kernel && report.kernel.tcpSockets > 0 && report.kernel.slabBytes > 0,
      JSON.stringify(report.kernel),
    );
  });

  it('sends a heap snapshot of the form DevTools open, and leaves no file behind', async () => {
    const answer = await admin('POST', 'heap-snapshot');
    isDownload(answer, 'heapsnapshot');
    const { snapshot, nodes, edges, strings } = answer.json as HeapSnapshot;
    assert.ok(snapshot.node_count > 10_000);
    assert.equal(nodes.length, snapshot.node_count * snapshot.meta.node_fields.length);
    assert.equal(edges.length, snapshot.edge_count * snapshot.meta.edge_fields.length);
    assert.ok(strings.includes('Relay'), 'the relay is in it');
    assert.deepEqual(
      readdirSync(relay.data).filter((name) => name.endsWith('.heapsnapshot')),
      [],
    );
  });

  it('sends a profile of the CPU of the form DevTools open', async () => {
    const answer = await admin('POST', 'profile?seconds=1&kind=cpu');
    isDownload(answer, 'cpuprofile');
    const profile = answer.json as CpuProfile;
    const ids = new Set(profile.nodes.map(({ id }) => id));
    assert.equal(profile.nodes[0].callFrame.functionName, '(root)');
    assert.ok(profile.samples.length > 0 && profile.samples.every((id) => ids.has(id)));
    assert.equal(profile.timeDeltas.length, profile.samples.length);
    assert.ok(profile.nodes.every(({ children = [] }) => children.every((id) => ids.has(id))));
    assert.ok(profile.endTime - profile.startTime >= 1e6, 'a second, in µs');
  });

  it('sends a profile of allocations of the form DevTools open', async () => {
    const asked = admin('POST', 'profile?seconds=1&kind=heap');
    // Something to sample: each join is parsed, answered and told to the neighbours.
    for (let n = 0; n < 50; n++) await join(relay.url);
    const answer = await asked;
    isDownload(answer, 'heapprofile');
    const { head, samples } = answer.json as { head: AllocationNode; samples: { size: number; nodeId: number }[] };
    const ids = new Set<number>();
    const visit = (node: AllocationNode): void => {
      ids.add(node.id);
      node.children.forEach(visit);
    };
    visit(head);
    assert.equal(head.callFrame.functionName, '(root)');
    assert.ok(samples.every(({ nodeId, size }) => ids.has(nodeId) && size > 0));
  });

  it('takes a length of profile from 1 to its limit, and a kind there is', async () => {
    for (const seconds of ['0', `${PROFILE_SECONDS_MAX + 1}`, '1.5', '-1', 'x', '']) {
      isProblem(await admin('POST', `profile?seconds=${seconds}`), 'malformed', 'seconds');
    }
    isProblem(await admin('POST', 'profile?kind=wall'), 'malformed', 'kind');
  });

  it('runs one of them at a time, and lets go of one whose asker has gone', async () => {
    const headers = { authorization: `Bearer ${relay.adminToken}` };
    const url = `${relay.adminUrl}/admin/profile?seconds=${PROFILE_SECONDS_MAX}`;
    const first = http.request(url, { method: 'POST', headers, agent: false });
    first.on('error', () => {}).end();
    // The first is under way once another is refused.
    await until('it is profiled', async () => (await admin('POST', 'gc')).status === 409);
    for (const path of ['gc', 'heap-snapshot', 'profile?seconds=1']) {
      isProblem(await admin('POST', path), 'already-running');
    }
    assert.equal((await admin('GET', 'heap')).status, 200);
    first.destroy();
    await until('it has been let go', async () => (await admin('POST', 'gc')).status === 200);
  });

  it('goes on when a download is broken off in its middle', async () => {
    const response = await begun('heap-snapshot');
    response.once('data', () => response.destroy());
    await new Promise((resolve) => response.once('close', resolve));
    await until('the next may start', async () => (await admin('POST', 'gc')).status === 200);
  });

  it('lists desktops, a page at a time, from a slot on', async () => {
    const { desktop } = await join(relay.url, { name: 'Ann', world: 'listed' });
    const { json } = await admin('GET', 'desktops');
    const list = json as { count: number; desktops: { desktop: string; name: string; world: string }[]; next: unknown };
    assert.ok(list.desktops.length <= LISTED_MAX && list.count === list.desktops.length);
    assert.ok(
      list.desktops.some((found) => found.desktop === desktop && found.name === 'Ann' && found.world === 'listed'),
    );
    assert.equal(list.next, null);
  });
});

describe('a heap that is too large for a snapshot', BOUNDED, () => {
  it('is one byte above the limit', () => {
    for (const bytes of [SNAPSHOT_HEAP_BYTES_MAX - 1, SNAPSHOT_HEAP_BYTES_MAX]) mustBeSmall(bytes);
    assert.throws(() => mustBeSmall(SNAPSHOT_HEAP_BYTES_MAX + 1), /64 MiB.*force=1/);
  });

  it('stops nobody, unless it is forced', async (t) => {
    // One array of numbers: large, and soon written.
    const numbers = Math.ceil((SNAPSHOT_HEAP_BYTES_MAX * 1.1) / 8);
    const large = `--import=data:text/javascript,globalThis.kept=Array(${numbers}).fill(.5)`;
    const relay = await startRelay({ workers: 0, env: { SPRITES_NODE_FLAGS: large } });
    t.after(() => relay?.stop());
    const snapshot = (query: string) =>
      sendRequest(`${relay.adminUrl}/admin/heap-snapshot${query}`, { method: 'POST', token: relay.adminToken });
    isProblem(await snapshot(''), 'heap-too-large');
    isProblem(await snapshot('?force=0'), 'heap-too-large');
    assert.equal((await snapshot('?force=1')).status, 200);
  });
});
