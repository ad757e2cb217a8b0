/** Peeks over real sockets: long-polls and WebSockets watch and are watched, with workers and in one process. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PEEKS_BURST_MAX, STAGES_BURST_MAX } from '../domain/state/limits.ts';
import { type Edge, PEEK_BYTES_MAX, PEEK_LEASE_MS, STAGE_BYTES_MAX } from '../wire/rules.ts';
import {
  type Batch,
  crossingOf,
  type Event,
  FILE,
  type HttpResponse,
  type Joined,
  join,
  poll,
  pollFor,
  post,
  type StageEvent,
  sendRequest,
  typesOf,
} from './desktop_client.ts';
import { onTwoShapes } from './fronts.ts';
import { isProblem, isProblemDocument } from './problem_check.ts';
import { lastingPorts, type RelayProcess, startRelay, until } from './relay_process.ts';
import { SocketListener } from './socket_listener.ts';

const SPRITE = { id: 7, x: 1890, y: 1040, vx: 60, animation: 'walk' };

const stageOf = (x = SPRITE.x) => ({ width: 1920, height: 1080, files: [FILE], sprites: [{ ...SPRITE, x }] });

const at = (relay: RelayProcess, { desktop }: Joined, path: string) => `${relay.url}/v1/desktops/${desktop}/${path}`;

const peek = (relay: RelayProcess, desktop: Joined, edge: unknown): Promise<HttpResponse> =>
  sendRequest(at(relay, desktop, 'peeks'), { method: 'POST', token: desktop.token, body: { edge } });

const show = (relay: RelayProcess, desktop: Joined, body: object | string = stageOf()): Promise<HttpResponse> =>
  sendRequest(at(relay, desktop, 'stage'), { method: 'POST', token: desktop.token, body });

const switchStage = (relay: RelayProcess, desktop: Joined, body: object): Promise<HttpResponse> =>
  sendRequest(at(relay, desktop, 'stage'), { method: 'PUT', token: desktop.token, body });

const isStage = (event: Event): event is StageEvent => event.type === 'stage';

const isWatchedBy =
  (...edges: Edge[]) =>
  (event: Event) =>
    event.type === 'watched' && event.edges.join() === edges.join();

/** Polls until the stage has its sprite at `x`; resolves to that event. */
async function seeAt(desktop: Joined, x: number): Promise<StageEvent> {
  const is = (event: Event) => isStage(event) && event.sprites[0]?.x === x;
  return (await pollFor(desktop, desktop.cursor, is)).events.find(is) as StageEvent;
}

onTwoShapes('crossed', 'peeks', (shape) => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay(shape);
  });
  after(() => relay?.stop());

  it('show a long-poll its neighbour, from the first stage to the end', async () => {
    const world = 'polls';
    const ann = await join(relay.url, { name: 'Ann', world });
    const bob = await join(relay.url, { name: 'Bob', world });
    assert.equal(bob.stage, true);
    assert.deepEqual((await show(relay, bob)).json, { edges: [] });
    const answer = await peek(relay, ann, 'left');
    assert.deepEqual([answer.status, answer.json], [202, { edge: 'left', leaseMs: PEEK_LEASE_MS }]);
    await pollFor(bob, bob.cursor, isWatchedBy('right'));
    const shown = await show(relay, bob);
    assert.deepEqual([shown.status, shown.json], [202, { edges: ['right'] }]);
    const { ageMs, ...event } = await seeAt(ann, SPRITE.x);
    assert.ok(Number.isInteger(ageMs) && (ageMs as number) >= 0);
    const from = { desktop: bob.desktop, name: 'Bob' };
    assert.deepEqual(event, { type: 'stage', edge: 'left', from, ...stageOf() });
    assert.equal((await switchStage(relay, bob, { stage: false })).status, 204);
    const isEnd = (end: Event) => isStage(end) && end.from === undefined;
    const { events } = await pollFor(ann, ann.cursor, isEnd);
    assert.deepEqual(events.find(isEnd), { type: 'stage', edge: 'left', files: [], sprites: [] });
    await pollFor(bob, bob.cursor, isWatchedBy());
    assert.deepEqual((await show(relay, bob)).json, { edges: [] });
    isProblem(await peek(relay, ann, 'left'), 'stage-hidden');
    const look = await sendRequest(`${relay.url}/v1/desktops/${bob.desktop}`, { token: bob.token });
    assert.equal((look.json as Joined).stage, false);
  });

  it('go over sockets, where each message is answered', async (t) => {
    const world = 'sockets';
    const ann = new SocketListener(await join(relay.url, { world }));
    const bob = new SocketListener(await join(relay.url, { world }));
    t.after(() => [ann, bob].forEach((listener) => void listener.end()));
    await Promise.all([ann.opened(), bob.opened()]);
    ann.send({ peek: 'top' });
    assert.deepEqual(await ann.find(({ peek }) => peek === 'top'), { peek: 'top', leaseMs: PEEK_LEASE_MS });
    await bob.findEvent(isWatchedBy('bottom'));
    bob.send({ stage: 3, ...stageOf() });
    assert.deepEqual(await bob.find(({ stage }) => stage === 3), { stage: 3, edges: ['bottom'] });
    const event = (await ann.findEvent(isStage)) as StageEvent;
    assert.deepEqual([event.edge, event.sprites], ['top', [SPRITE]]);
    bob.send({ stage: 4, ...stageOf(), width: 0 });
    const refused = await bob.find(({ stage }) => stage === 4);
    isProblemDocument(refused.problem as never, 'malformed', 'width');
    bob.send({ stage: '5', ...stageOf() });
    assert.deepEqual((await bob.find(({ stage }) => stage === null)).edges, ['bottom']);
    ann.send({ peek: 'up' });
    isProblemDocument((await ann.find(({ peek }) => peek === null)).problem as never, 'malformed', 'edge');
    ann.messages.length = 0;
    ann.send({ peek: null });
    assert.deepEqual(await ann.find(({ peek }) => peek === null), { peek: null, leaseMs: 0 });
    await bob.findEvent(isWatchedBy());
    for (let n = 0; n < PEEKS_BURST_MAX * 4; n++) ann.send({ peek: 'right' });
    const last = await ann.find(({ peek, problem }) => peek === 'right' && problem !== undefined);
    isProblemDocument(last.problem as never, 'too-fast');
  });

  it('go from a long-poll to a socket and back, with stages of the largest size', async (t) => {
    const world = 'mixed';
    const ann = await join(relay.url, { world });
    const bob = new SocketListener(await join(relay.url, { world }));
    t.after(() => bob.end());
    await bob.opened();
    bob.send({ peek: 'left' });
    await pollFor(ann, ann.cursor, isWatchedBy('right'));
    await peek(relay, ann, 'left');
    await bob.findEvent(isWatchedBy('right'));
    const spaces = (text: string) => text.padEnd(STAGE_BYTES_MAX);
    assert.deepEqual((await show(relay, ann, spaces(JSON.stringify(stageOf(5))))).json, { edges: ['right'] });
    assert.equal(((await bob.findEvent(isStage)) as StageEvent).sprites[0].x, 5);
    const sprites = Array.from({ length: 32 }, (_, id) => ({ id: id + 1, x: 1, y: 1, animation: 'walk' }));
    bob.send({ stage: 1, ...stageOf(), sprites });
    const seen = await pollFor(ann, ann.cursor, isStage);
    assert.equal(seen.events.find(isStage)?.sprites.length, 32);
    isProblem(await show(relay, ann, `${spaces(JSON.stringify(stageOf()))} `), 'too-large');
  });

  it('give a watcher that does not poll the newest stage only, beside its sprites', async () => {
    const world = 'slow';
    const ann = await join(relay.url, { world });
    const bob = await join(relay.url, { world });
    await peek(relay, ann, 'left');
    for (let n = 1; n <= STAGES_BURST_MAX; n++) {
      assert.deepEqual((await show(relay, bob, stageOf(n * 100))).json, { edges: ['right'] });
    }
    assert.equal((await post(bob, crossingOf(1))).status, 202);
    const batch = (await poll(ann, ann.cursor)).json as Batch;
    assert.deepEqual(typesOf(batch), ['sprite', 'stage']);
    assert.equal(batch.events.find(isStage)?.sprites[0].x, STAGES_BURST_MAX * 100);
    const again = (await poll(ann, ann.cursor)).json as Batch;
    assert.deepEqual(typesOf(again), ['sprite'], 'the sprite is not acknowledged yet; the stage is not sent again');
  });

  it('are refused with the problem documents of the protocol', async () => {
    const alone = await join(relay.url, { world: 'alone' });
    isProblem(await peek(relay, alone, 'left'), 'no-neighbour');
    const told = await sendRequest(at(relay, alone, 'peeks'), {
      ...{ method: 'POST', token: alone.token, body: { edge: 'left', problem: true } },
    });
    const { problem, ...rest } = told.json as { problem: never };
    assert.deepEqual([told.status, rest], [202, { edge: 'left', leaseMs: 0 }]);
    isProblemDocument(problem, 'no-neighbour');
    const world = 'refusals';
    const ann = await join(relay.url, { world });
    const bob = await join(relay.url, { world });
    isProblem(await peek(relay, ann, 'up'), 'malformed', 'edge');
    isProblem(await peek(relay, ann, 'x'.repeat(PEEK_BYTES_MAX)), 'too-large');
    isProblem(await switchStage(relay, ann, { stage: 1 }), 'malformed', 'stage');
    isProblem(await show(relay, bob, { ...stageOf(), sprites: [{ ...SPRITE, id: -1 }] }), 'malformed', 'sprites[0].id');
    isProblem(await show(relay, bob, '{'), 'malformed', 'body');
    const url = (path: string) => at(relay, ann, path);
    isProblem(await sendRequest(url('peeks'), { method: 'POST', body: { edge: 'left' } }), 'unknown-desktop');
    isProblem(await sendRequest(url('stage'), { method: 'POST', body: stageOf() }), 'unknown-desktop');
    isProblem(await sendRequest(url('stage'), { method: 'PUT', body: { stage: true } }), 'unknown-desktop');
    isProblem(await sendRequest(url('peeks'), { token: ann.token }), 'method-not-allowed');
    isProblem(await sendRequest(url('stage'), { token: ann.token }), 'method-not-allowed');
    assert.equal((await peek(relay, ann, 'left')).status, 202);
    const shown = await Promise.all(Array.from({ length: STAGES_BURST_MAX * 12 }, () => show(relay, bob)));
    isProblem(shown.find(({ status }) => status !== 202) as HttpResponse, 'too-fast');
    const peeked = await Promise.all(Array.from({ length: PEEKS_BURST_MAX * 4 }, () => peek(relay, ann, 'left')));
    isProblem(peeked.find(({ status }) => status !== 202) as HttpResponse, 'too-fast');
    const [commons, other] = [await join(relay.url), await join(relay.url)];
    isProblem(await peek(relay, commons, 'right'), 'stage-hidden');
    await sendRequest(`${relay.url}/v1/desktops/${other.desktop}`, { method: 'DELETE', token: other.token });
    isProblem(await show(relay, other), 'desktop-ended');
  });

  it('are counted', async () => {
    const before = await relay.metrics();
    const world = 'counted';
    const ann = await join(relay.url, { world });
    const bob = await join(relay.url, { world });
    await peek(relay, ann, 'left');
    for (let n = 0; n < 3; n++) await show(relay, bob, { ...stageOf(), sprites: [{ id: 1, x: 5, y: 5 }] });
    await seeAt(ann, 5);
    const metrics = await relay.metrics();
    const more = (name: string) => (metrics.get(name) ?? 0) - (before.get(name) ?? 0);
    assert.equal(more('sprites_stages_posted_total'), 3);
    // The others are predicted, unless they come later than the refresh.
    assert.equal(more('sprites_stages_forwarded_total') + more('sprites_stages_filtered_total'), 3);
    assert.ok(more('sprites_stages_forwarded_total') >= 1);
    assert.ok(more('sprites_stages_sent_total') >= 1);
    assert.ok((metrics.get('sprites_peeks') ?? 0) >= 1 && (metrics.get('sprites_watched') ?? 0) >= 1);
  });

  it('end when the operator ends the neighbour', async () => {
    const world = 'ends';
    const ann = await join(relay.url, { world });
    const bob = await join(relay.url, { world });
    await peek(relay, ann, 'left');
    await show(relay, bob);
    await seeAt(ann, SPRITE.x);
    const kick = { method: 'POST', token: relay.adminToken, body: { desktop: bob.desktop } };
    assert.equal((await sendRequest(`${relay.adminUrl}/admin/kick`, kick)).status, 200);
    await pollFor(ann, ann.cursor, (event) => isStage(event) && event.from === undefined);
  });
});

describe('the choice to show a stage', { timeout: 900_000 }, () => {
  it('survives the death of the relay, and the watches do not', async (t) => {
    const data = mkdtempSync(joinPath(tmpdir(), 'sprites-peeks-'));
    const ports = await lastingPorts();
    let relay = await startRelay({ workers: 1, ports, data });
    t.after(async () => {
      await relay.stop();
      rmSync(data, { recursive: true, force: true });
    });
    const ann = await join(relay.url, { world: 'w' });
    const bob = await join(relay.url, { world: 'w' });
    const eve = await join(relay.url);
    assert.equal((await peek(relay, ann, 'left')).status, 202);
    assert.equal((await switchStage(relay, bob, { stage: false })).status, 204);
    assert.equal((await switchStage(relay, eve, { stage: true })).status, 204);
    relay.kill(relay.pids.master, 'SIGKILL');
    await relay.stop();
    relay = await startRelay({ workers: 1, ports, data });
    isProblem(await peek(relay, ann, 'left'), 'stage-hidden');
    const look = await sendRequest(`${relay.url}/v1/desktops/${eve.desktop}`, { token: eve.token });
    assert.equal((look.json as Joined).stage, true);
    assert.equal((await peek(relay, bob, 'left')).status, 202);
    assert.equal((await relay.metrics()).get('sprites_peeks'), 1);
  });
});

describe('--pictures', { timeout: 900_000 }, () => {
  for (const workers of [1, 0]) {
    it(`holds for stages, with ${workers} workers`, async (t) => {
      const relay = await startRelay({ workers, args: ['--pictures', 'shipped', '--stage-tolerance', 'off'] });
      t.after(() => relay.stop());
      const characters = (await sendRequest(`${relay.url}/sprites/index.json`)).json as { file: string }[];
      const ann = await join(relay.url, { world: 'w' });
      const bob = await join(relay.url, { world: 'w' });
      await peek(relay, ann, 'left');
      const files = [characters[0].file, FILE.replace('2', '3')];
      isProblem(await show(relay, bob, { ...stageOf(), files }), 'picture-refused');
      for (let n = 0; n < 2; n++) {
        assert.equal((await show(relay, bob, { ...stageOf(), files: files.slice(0, 1) })).status, 202);
      }
      await until('both were forwarded', async () => {
        return (await relay.metrics()).get('sprites_stages_forwarded_total') === 2;
      });
    });
  }
});
