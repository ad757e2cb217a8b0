/** Sayings over real sockets: long-polls and WebSockets hear them, with workers and in one process. */

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { SAYINGS_BURST_MAX } from '../domain/state/limits.ts';
import { SAYING_BODY_BYTES_MAX } from '../wire/rules.ts';
import {
  type Batch,
  crossingOf,
  type HttpResponse,
  isSprite,
  type Joined,
  join,
  poll,
  pollFor,
  post,
  sendRequest,
  typesOf,
} from './desktop_client.ts';
import { onTwoShapes } from './fronts.ts';
import { isProblem } from './problem_check.ts';
import { BOUNDED, type RelayProcess, startRelay } from './relay_process.ts';
import { SocketListener } from './socket_listener.ts';

const at = (relay: RelayProcess, { desktop }: Joined, path: string) => `${relay.url}/v1/desktops/${desktop}/${path}`;

const say = (relay: RelayProcess, desktop: Joined, body: object | string) =>
  sendRequest(at(relay, desktop, 'sayings'), { method: 'POST', token: desktop.token, body });

/** Polls until the desktop has heard `count` sayings; resolves to their texts. */
async function hear(desktop: Joined, count: number): Promise<string[]> {
  let left = count;
  const { events } = await pollFor(desktop, desktop.cursor, ({ type }) => type === 'saying' && --left === 0);
  return events.flatMap((event) => (event.type === 'saying' ? [event.text] : []));
}

onTwoShapes('usual', 'sayings', (shape) => {
  let relay: RelayProcess;
  before(async () => {
    relay = await startRelay(shape);
  });
  after(() => relay?.stop());

  it('are heard by long-polls and sockets of a private world, and by nobody elsewhere', async (t) => {
    const world = 'talk';
    const ann = await join(relay.url, { name: 'Ann', world });
    const bob = await join(relay.url, { name: 'Bob', world });
    const carol = new SocketListener(await join(relay.url, { name: 'Carol', world }));
    const stranger = new SocketListener(await join(relay.url, { world: 'elsewhere' }));
    t.after(() => [carol, stranger].forEach((listener) => void listener.end()));
    await Promise.all([carol.opened(), stranger.opened()]);
    const heard = pollFor(bob, bob.cursor, ({ type }) => type === 'saying');
    const answer = await say(relay, ann, { saying: 1, text: ' Hi  "Bob" 😀 ' });
    assert.deepEqual([answer.status, answer.json], [202, { heard: 2 }]);
    const [event] = (await heard).events.filter(({ type }) => type === 'saying');
    const from = { desktop: ann.desktop, name: 'Ann' };
    assert.deepEqual(event, { type: 'saying', from, text: 'Hi  "Bob" 😀', edge: 'left' });
    const { events } = (await carol.hears('Hi  "Bob" 😀')) as unknown as Batch;
    assert.ok(events.some((said) => said.type === 'saying' && said.from.desktop === ann.desktop));
    // What follows is heard by the stranger, who has heard nothing before.
    assert.deepEqual(
      stranger.messages.filter((message) => JSON.stringify(message).includes('saying')),
      [],
    );
  });

  it('are said over a socket, and answered there under their number', async (t) => {
    const world = 'sockets';
    const ann = await join(relay.url, { world });
    const bob = new SocketListener(await join(relay.url, { world }));
    t.after(() => bob.end());
    await bob.opened();
    bob.send({ saying: 7, text: 'Over the socket' });
    assert.deepEqual(await bob.find(({ saying }) => saying === 7), { saying: 7, heard: 1 });
    assert.deepEqual(await hear(ann, 1), ['Over the socket']);
    bob.send({ saying: 8, text: 'a\nb' });
    const { problem } = (await bob.find(({ saying }) => saying === 8)) as {
      problem: { code: string; field: string };
    };
    assert.deepEqual([problem.code, problem.field], ['malformed', 'text']);
    bob.send({ saying: 'x', text: 'a' });
    assert.ok((await bob.find(({ saying }) => saying === null)).problem, 'a number that is none is answered null');
    // More than a busy machine is allowed meanwhile.
    for (let n = 0; n < 4 * SAYINGS_BURST_MAX; n++) bob.send({ saying: 9 + n, text: `${n}` });
    const refused = await bob.find(({ saying, problem: why }) => Number(saying) >= 9 && why !== undefined);
    assert.equal((refused.problem as { code: string }).code, 'too-fast');
  });

  it('are said once when they are repeated', async () => {
    const ann = await join(relay.url, { world: 'repeats' });
    assert.deepEqual((await say(relay, ann, { saying: 5, text: 'Once' })).json, { heard: 0 });
    assert.deepEqual((await say(relay, ann, { saying: 5, text: 'Once' })).json, { heard: 0 });
    assert.equal((await say(relay, ann, { saying: 6, text: 'Twice' })).status, 202);
    assert.deepEqual((await say(relay, ann, { saying: 5, text: 'Once' })).json, { heard: null });
    assert.deepEqual(await hear(ann, 2), ['Once', 'Twice']);
  });

  it('are refused with the problem documents of the protocol', async () => {
    const ann = await join(relay.url, { world: 'refusals' });
    isProblem(await say(relay, ann, {}), 'malformed', 'saying');
    isProblem(await say(relay, ann, { saying: 1, text: '' }), 'malformed', 'text');
    isProblem(await say(relay, ann, '{'), 'malformed', 'body');
    isProblem(await say(relay, ann, 'x'.repeat(SAYING_BODY_BYTES_MAX + 1)), 'too-large');
    const url = at(relay, ann, 'sayings');
    isProblem(await sendRequest(url, { method: 'POST', body: { saying: 1, text: 'a' } }), 'unknown-desktop');
    isProblem(await sendRequest(url, { method: 'GET', token: ann.token }), 'method-not-allowed');
    const said: HttpResponse[] = [];
    // A busy machine may speak no faster than the limit allows for a while, so it speaks until it is too fast.
    while (said.at(-1)?.status !== 429 && said.length < 20 * SAYINGS_BURST_MAX)
      said.push(await say(relay, ann, { saying: 100 * (said.length + 1), text: 'a' }));
    assert.ok(said.length > SAYINGS_BURST_MAX, `${said.length}`);
    const tooFast = said.at(-1) as HttpResponse;
    isProblem(tooFast, 'too-fast');
    assert.equal(tooFast.headers['retry-after'], '1');
    isProblem(await say(relay, ann, { saying: 1, text: 'a' }), 'saying-stale');
    await sendRequest(`${relay.url}/v1/desktops/${ann.desktop}`, { method: 'DELETE', token: ann.token });
    isProblem(await say(relay, ann, { saying: 100_000, text: 'a' }), 'desktop-ended');
  });

  it('come beside sprites, whose cursor they do not move, and are counted', async () => {
    const world = 'both';
    const ann = await join(relay.url, { world });
    const bob = await join(relay.url, { world });
    assert.equal((await say(relay, ann, { saying: 1, text: 'Catch!' })).status, 202);
    assert.equal((await post(ann, crossingOf(1))).status, 202);
    const batch = (await poll(bob, bob.cursor)).json as Batch;
    assert.deepEqual(typesOf(batch), ['sprite', 'saying']);
    const again = (await poll(bob, bob.cursor)).json as Batch;
    assert.equal(again.events.filter(isSprite).length, 1, 'the sprite is not acknowledged yet');
    assert.equal(again.events.filter(({ type }) => type === 'saying').length, 0);
    const metrics = await relay.metrics();
    const of = (name: string) => metrics.get(`sprites_hearings_${name}`) as number;
    assert.ok(of('sent_total') > 0);
    assert.equal(of('total'), of('sent_total') + of('missed_total') + of('given_up_total') + of('waiting'));
  });

  it('of a muted desktop are not heard; of a kicked one neither', async () => {
    const world = 'quiet';
    const ann = await join(relay.url, { world });
    const bob = await join(relay.url, { world });
    const mute = { method: 'POST', token: bob.token, body: { desktop: ann.desktop } };
    assert.equal((await sendRequest(at(relay, bob, 'mutes'), mute)).status, 204);
    assert.deepEqual((await say(relay, ann, { saying: 1, text: 'Psst' })).json, { heard: 1 });
    const kicked = await join(relay.url, { world });
    await say(relay, kicked, { saying: 1, text: 'Rude' });
    const kick = { method: 'POST', token: relay.adminToken, body: { desktop: kicked.desktop } };
    assert.equal((await sendRequest(`${relay.adminUrl}/admin/kick`, kick)).status, 200);
    isProblem(await say(relay, kicked, { saying: 2, text: 'More' }), 'desktop-ended');
    await say(relay, bob, { saying: 1, text: 'Finally' });
    const { events } = await pollFor(bob, bob.cursor, ({ type }) => type === 'saying');
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'saying' ? [event.text] : [])),
      ['Finally'],
    );
    assert.ok(events.some((event) => event.type === 'missed' && event.sayings === 1));
  });
});

it('sayings are off when the operator says so', BOUNDED, async (t) => {
  const relay = await startRelay({ workers: 1, args: ['--sayings', 'off'] });
  t.after(() => relay.stop());
  isProblem(await say(relay, await join(relay.url), { saying: 1, text: 'Hello' }), 'sayings-off');
});
