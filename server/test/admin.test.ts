/** The admin port: collections, memory, and recordings that Chrome's DevTools open. One at a time, and each bounded. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import { after, before, describe, it } from 'node:test';
import { commit, VERSION } from '../../tools/version.js';
import { mustBeSmall, PROFILE_SECONDS_MAX, SNAPSHOT_HEAP_BYTES_MAX } from '../metrics/recording.ts';
import { LISTED_MAX } from '../operator/listings.ts';
import { type HttpResponse, type Joined, join, sendRequest } from './desktop_client.ts';
import { isProblem } from './problem_check.ts';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

/** A heap snapshot as DevTools read it. They trust its counts, so a test checks them. */
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

interface Speedscope {
  $schema: string;
  shared: { frames: { name: string }[] };
  profiles: {
    type: string;
    name: string;
    unit: string;
    samples: number[][];
    weights: number[];
    startValue: number;
    endValue: number;
  }[];
}

const isLinux = process.platform === 'linux';

describe('the admin port', BOUNDED, () => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay({ workers: 1 });
  });
  after(() => relay?.stop());

  it('says which version runs, in the log, to everybody at /healthz, and to the operator in the metrics', async () => {
    const { status, body } = await sendRequest(`${relay.adminUrl}/healthz`);
    const about = { version: VERSION, commit: commit() };
    assert.deepEqual([status, JSON.parse(String(body))], [200, { alive: true, ...about }]);
    const { version, commit: logged } = await relay.waitForLog(({ msg }) => msg === 'relay ready');
    assert.deepEqual({ version, commit: logged }, about);
    const labels = `version="${VERSION}",commit="${commit()}",node="${process.version}"`;
    assert.equal((await relay.metrics()).get(`sprites_build_info{${labels}}`), 1);
  });

  it('lists no files and no sockets when it is scraped: that would block the loop for as long as there are many', async () => {
    const names = [...(await relay.metrics()).keys()];
    assert.deepEqual(
      names.filter((name) => /^(process_open_fds|nodejs_active_)/.test(name)),
      [],
    );
    assert.ok(names.some((name) => name.startsWith('process_max_fds')));
  });

  const admin = (method: string, path: string, token: string = relay.adminToken): Promise<HttpResponse> =>
    sendRequest(`${relay.adminUrl}/admin/${path}`, { method, token });

  /** Starts a download. Resolves when the response begins; the caller reads the body. */
  const startDownload = (path: string) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${relay.adminToken}` };
      http
        .request(`${relay.adminUrl}/admin/${path}`, { method: 'POST', headers, agent: false }, resolve)
        .on('error', reject)
        .end();
    });

  const noFileIsLeft = () =>
    until(
      'the temporary file is gone',
      () => !readdirSync(relay.data).some((name) => /recording|profile|speedscope/.test(name)),
    );

  const isDownload = ({ status, headers }: HttpResponse, extension: string) => {
    assert.equal(status, 200);
    assert.match(
      String(headers['content-disposition']),
      new RegExp(`^attachment; filename="sprites-.+\\.${extension}"$`),
    );
    assert.equal(headers['cache-control'], 'no-store');
  };

  for (const kind of ['minor', 'major']) {
    it(`runs a ${kind} collection and reports memory before and after, and the longest block`, async () => {
      const { status, json } = await admin('POST', `gc?kind=${kind}`);
      const done = json as Record<string, number> & Record<'before' | 'after', NodeJS.MemoryUsage>;
      assert.equal(status, 200);
      assert.equal(done.kind, kind);
      for (const memory of [done.before, done.after]) assert.ok(memory.heapUsed > 2 ** 20 && memory.rss > 2 ** 24);
      assert.ok(done.longestBlockMs > 0 && done.tookMs > 0, JSON.stringify(done));
      if (kind === 'major') assert.ok(done.after.heapUsed < done.before.heapUsed, 'something was garbage');
    });
  }

  it('runs a minor collection when no kind is given, and refuses an unknown kind', async () => {
    assert.equal(((await admin('POST', 'gc')).json as { kind: string }).kind, 'minor');
    isProblem(await admin('POST', 'gc?kind=full'), 'malformed', 'kind');
    isProblem(await admin('POST', 'gc?kind=minor&kind=major'), 'malformed', 'kind');
  });

  it('reports what uses memory: V8 spaces, external, resident, mailboxes, and the kernel for the sockets', async () => {
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

  it('sends a heap snapshot that DevTools can open, and leaves no file behind', async () => {
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

  it('sends a CPU profile that DevTools can open', async () => {
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

  it('sends an allocation profile that DevTools can open', async () => {
    const profile = admin('POST', 'profile?seconds=1&kind=heap');
    // Joins give it something to sample.
    for (let n = 0; n < 50; n++) await join(relay.url);
    const answer = await profile;
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

  it('accepts a profile’s length from 1 to its limit, and its known kinds', async () => {
    for (const seconds of ['0', `${PROFILE_SECONDS_MAX + 1}`, '1.5', '-1', 'x', '']) {
      isProblem(await admin('POST', `profile?seconds=${seconds}`), 'malformed', 'seconds');
    }
    isProblem(await admin('POST', 'profile?kind=wall'), 'malformed', 'kind');
  });

  it('runs one of them at a time, and stops one whose client has disconnected', async () => {
    const headers = { authorization: `Bearer ${relay.adminToken}` };
    const url = `${relay.adminUrl}/admin/profile?seconds=${PROFILE_SECONDS_MAX}`;
    const first = http.request(url, { method: 'POST', headers, agent: false });
    first.on('error', () => {}).end();
    // When another one is refused, the first is running.
    await until('the profile runs', async () => (await admin('POST', 'gc')).status === 409);
    for (const path of ['gc', 'heap-snapshot', 'profile?seconds=1']) {
      isProblem(await admin('POST', path), 'already-running');
    }
    assert.equal((await admin('GET', 'heap')).status, 200);
    first.destroy();
    await until('the profile has stopped', async () => (await admin('POST', 'gc')).status === 200);
  });

  it('answers for a worker, by its name or its pid', async () => {
    const [pid] = relay.pids.workers;
    for (const name of ['worker:1', String(pid)]) {
      const heap = (await admin('GET', `heap?process=${name}`)).json as { memory: NodeJS.MemoryUsage; mailboxes: null };
      assert.ok(heap.memory.rss > 2 ** 24);
      assert.equal(heap.mailboxes, null, 'the mailboxes are the master’s');
    }
    const collected = (await admin('POST', 'gc?kind=major&process=worker:1')).json as { kind: string; tookMs: number };
    assert.ok(collected.kind === 'major' && collected.tookMs > 0);
    const master = (await admin('GET', 'heap?process=master')).json as { mailboxes: object };
    assert.ok(master.mailboxes);
    assert.ok((await admin('GET', `heap?process=${relay.pids.master}`)).status === 200);
  });

  it('refuses names that no process has', async () => {
    for (const name of ['', 'workers', 'worker:', 'worker:x', '-1', '1e3', 'worker:1&process=master']) {
      isProblem(await admin('GET', `heap?process=${name}`), 'malformed', 'process');
    }
    const { json } = await admin('GET', 'heap?process=worker:2');
    assert.match(
      (json as { detail: string }).detail,
      /no process worker:2; there are master \(\d+\), worker:1 \(\d+\)/,
    );
    // A process of this machine that is not the relay's.
    isProblem(await admin('GET', `heap?process=${process.pid}`), 'not-found');
  });

  it('sends recordings of a worker, and leaves no file behind', async () => {
    const [pid] = relay.pids.workers;
    const cpu = await admin('POST', 'profile?seconds=1&kind=cpu&process=worker:1');
    isDownload(cpu, 'cpuprofile');
    assert.match(String(cpu.headers['content-disposition']), new RegExp(`sprites-${pid}-`));
    assert.ok((cpu.json as CpuProfile).samples.length > 0);
    const snapshot = await admin('POST', 'heap-snapshot?process=worker:1');
    isDownload(snapshot, 'heapsnapshot');
    assert.ok((snapshot.json as HeapSnapshot).strings.includes('SocketDesktops'), 'the worker is in it');
    await noFileIsLeft();
  });

  it('stops a worker’s profile when the client has disconnected, and leaves no file behind', async () => {
    const headers = { authorization: `Bearer ${relay.adminToken}` };
    const url = `${relay.adminUrl}/admin/profile?seconds=${PROFILE_SECONDS_MAX}&process=worker:1`;
    const first = http.request(url, { method: 'POST', headers, agent: false });
    first.on('error', () => {}).end();
    await until('the profile runs', async () => (await admin('POST', 'gc')).status === 409);
    first.destroy();
    await until('the profile has stopped', async () => (await admin('POST', 'gc')).status === 200);
    await noFileIsLeft();
  });

  for (const process of ['master', 'worker:1']) {
    it(`sends a profile of all threads of ${process} that speedscope can open`, { skip: !isLinux }, async () => {
      const answer = await admin('POST', `profile?seconds=1&kind=threads&process=${process}`);
      isDownload(answer, 'speedscope.json');
      const { $schema, shared, profiles } = answer.json as Speedscope;
      assert.equal($schema, 'https://www.speedscope.app/file-format-schema.json');
      const names = profiles.map(({ name }) => name).join('\n');
      for (const thread of [/^JavaScript of the main thread$/m, /^node-MainThread \(\d+\)$/m, /^node-V8Worker/m]) {
        assert.match(names, thread);
      }
      assert.doesNotMatch(names, /thread-sampler/, 'it does not sample itself');
      for (const { type, unit, samples, weights, startValue, endValue } of profiles) {
        assert.deepEqual([type, unit], ['sampled', 'milliseconds']);
        assert.ok(samples.length > 0 && samples.length === weights.length);
        assert.ok(samples.flat().every((frame) => shared.frames[frame] !== undefined));
        const sum = weights.reduce((all, weight) => all + weight, 0);
        assert.ok(Math.abs(sum - (endValue - startValue)) < 1, `${sum} of ${endValue - startValue} ms`);
      }
      const main = profiles.find(({ name }) => name.startsWith('node-MainThread')) as Speedscope['profiles'][number];
      assert.ok(main.endValue >= 1000 && main.endValue < 20_000, `${main.endValue} ms`);
      assert.ok(
        shared.frames.some(({ name }) => name.startsWith('epoll_')),
        'an idle relay waits for sockets',
      );
      await noFileIsLeft();
    });
  }

  it('has a history that needs the token, and its newest samples alone', async () => {
    const refused = await admin('GET', 'history', 'wrong');
    isProblem(refused, 'admin-token');
    assert.equal(refused.headers['access-control-allow-origin'], undefined, 'pages of other origins read nothing here');
    interface History {
      first: number;
      times: number[];
      processes: Record<string, number>;
      series: Record<string, (number | null)[]>;
    }
    const read = async (after: number) => (await admin('GET', `history?after=${after}`)).json as History;
    const ofWorker = ['rss/worker:1', 'heap/worker:1', 'delay/worker:1'];
    // Those of the threads come some turns later.
    const rates = isLinux ? ['cpu/master/main', 'cpu/worker:1/main', 'machine/busy', 'machine/steal'] : [];
    const isThere = (value: number | null | undefined) => value !== undefined && value !== null;
    let history = await read(0);
    await until('there are two samples, the newest with the worker', async () => {
      history = await read(0);
      return (
        history.times.length >= 2 && [...ofWorker, ...rates].every((name) => isThere(history.series[name]?.at(-1)))
      );
    });
    const { first, times, processes, series } = history;
    assert.equal(first, 1);
    assert.deepEqual(processes, { master: relay.pids.master, 'worker:1': relay.pids.workers[0] });
    for (const values of Object.values(series)) assert.equal(values.length, times.length);
    for (const name of [
      'desktops',
      'parked',
      'waiting',
      'slab',
      'sprites/accepted',
      'refused/malformed',
      'delay/master',
    ])
      assert.ok(series[name], name);
    const newer = await read(first);
    assert.equal(newer.first, first + 1);
    for (const after of ['x', '-1', '1.5'])
      isProblem(await admin('GET', `history?after=${after}`), 'malformed', 'after');
  });

  it('counts desktops by their program, and what was refused to them', async () => {
    const response = await fetch(`${relay.url}/v1/desktops`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Sprites/0.9.0 (Linux)' },
      body: JSON.stringify({ name: 'Lin', screen: { width: 800, height: 600 } }),
    });
    const { crossings, token } = (await response.json()) as Joined;
    isProblem(
      await sendRequest(crossings, { method: 'POST', token, body: { crossing: 'x' } }),
      'malformed',
      'crossing',
    );
    const labels = 'client="linux",version="0.9.0"';
    // A page says its version in the body.
    const page = await fetch(`${relay.url}/v1/desktops`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
      body: JSON.stringify({ version: '0.9.1', screen: { width: 800, height: 600 } }),
    });
    assert.equal(page.status, 201);
    assert.equal((await relay.metrics()).get('sprites_client_desktops{client="page",version="0.9.1"}'), 1);
    await until('the worker has told of the malformed request', async () => {
      const metrics = await relay.metrics();
      return (
        metrics.get(`sprites_client_desktops{${labels}}`) === 1 &&
        metrics.get(`sprites_client_refused_total{${labels},reason="malformed"}`) === 1
      );
    });
  });

  it('works on after a client aborts a download', async () => {
    const response = await startDownload('heap-snapshot');
    response.once('data', () => response.destroy());
    await new Promise((resolve) => response.once('close', resolve));
    await until('the next one may start', async () => (await admin('POST', 'gc')).status === 200);
  });

  it('lists desktops in pages, starting at a slot', async () => {
    const { desktop } = await join(relay.url, { name: 'Ann', world: 'listed' });
    const { json } = await admin('GET', 'who');
    const list = json as { count: number; desktops: { desktop: string; name: string; world: string }[]; next: unknown };
    assert.ok(list.desktops.length <= LISTED_MAX && list.count === list.desktops.length);
    assert.ok(
      list.desktops.some((found) => found.desktop === desktop && found.name === 'Ann' && found.world === 'listed'),
    );
    assert.equal(list.next, null);
  });
});

describe('a worker that does not answer the admin port', BOUNDED, () => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay({ workers: 2 });
  });
  after(() => relay?.stop());

  const ask = (method: string, path: string) =>
    sendRequest(`${relay.adminUrl}/admin/${path}`, { method, token: relay.adminToken });

  it('is given up when it hangs, but not while it takes a snapshot, and the master’s own answers do not wait', async () => {
    const [snapshotting, hanging] = relay.pids.workers;
    relay.kill(snapshotting, 'SIGSTOP');
    const snapshot = ask('POST', `heap-snapshot?force=1&process=${snapshotting}`);
    await until('it is asked for', async () => (await ask('POST', 'gc')).status === 409);
    relay.kill(hanging, 'SIGSTOP');
    const late = ask('GET', `heap?process=${hanging}`);
    for (const path of ['heap', 'history', 'who']) assert.equal((await ask('GET', path)).status, 200, path);
    // The other one has been silent for longer by then.
    isProblem(await late, 'relay-busy');
    relay.kill(snapshotting, 'SIGCONT');
    assert.equal((await snapshot).status, 200);
    const died = relay.log.filter(({ msg }) => msg.startsWith('a worker died'));
    assert.deepEqual(
      died.map(({ workerPid, how }) => [workerPid, how]),
      [[hanging, 'silent']],
    );
  });

  it('does not keep it waiting when the worker dies, and the next worker gets its name', async () => {
    const [pid] = relay.pids.workers;
    const profile = ask('POST', `profile?seconds=${PROFILE_SECONDS_MAX}&process=worker:1`);
    await until('the profile runs', async () => (await ask('POST', 'gc')).status === 409);
    relay.kill(pid, 'SIGKILL');
    isProblem(await profile, 'relay-busy');
    await until('the next worker answers', async () => (await ask('GET', 'heap?process=worker:1')).status === 200);
    assert.deepEqual(
      readdirSync(relay.data).filter((name) => name.endsWith('.recording')),
      [],
    );
  });
});

describe('a heap too large for a snapshot', BOUNDED, () => {
  it('starts at one byte above the limit', () => {
    for (const bytes of [SNAPSHOT_HEAP_BYTES_MAX - 1, SNAPSHOT_HEAP_BYTES_MAX]) mustBeSmall(bytes);
    assert.throws(() => mustBeSmall(SNAPSHOT_HEAP_BYTES_MAX + 1), /64 MiB.*force=1/);
  });

  it('is refused, unless the snapshot is forced', async (t) => {
    // One array of numbers is large and quickly written.
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
