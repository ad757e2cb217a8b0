/**
 * A page in a real browser throws a sprite to somebody who is not a neighbour, and lets pass what others throw to each other.
 *
 * Ida has a page; the others, who joined after her, have none. In their world of six she is beside all but Cid, who is one to the right and
 * one down.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Companion, Company } from '../web/relay/transport.ts';
import { faultsOf } from './axe.ts';
import { joinPage, noBrowser, openMenuOf, shoot } from './browser_page.ts';
import { closePages, sharedSite } from './browser_site.ts';
import { crossingOf, DesktopClient, post, sendRequest } from './desktop_client.ts';
import { type RelayProcess, until } from './relay_process.ts';

declare global {
  var namesSeen: Set<string>;
}

describe('a sprite for a friend, in a browser', { timeout: 900_000, skip: noBrowser }, () => {
  let relay: RelayProcess;
  let browser: Browser;
  let ida: Page;
  let others: DesktopClient[];
  let eveThrew = 0;
  const faults: string[] = [];
  before(async () => {
    ({ relay, browser } = await sharedSite());
    ida = await joinPage(browser, `${relay.url}/?world=friends`, 'Ida', faults);
    others = [];
    for (const name of ['Ann', 'Bob', 'Cid', 'Dan', 'Eve']) {
      others.push(await DesktopClient.join(relay.url, { name, world: 'friends' }));
    }
    await ida.locator('.edge[data-edge="bottom"] .neighbour', { hasText: 'Bob' }).waitFor();
    await ida.locator('.edge[data-edge="left"] .neighbour', { hasText: 'Eve' }).waitFor();
    // Keeps the name of each sprite that is shown, however briefly.
    await ida.evaluate(() => {
      const seen = new Set<string>();
      globalThis.namesSeen = seen;
      const look = () => {
        for (const { name } of globalThis.sprites.sprites()) seen.add(name);
        requestAnimationFrame(look);
      };
      look();
    });
  });
  after(async () => {
    await Promise.all((others ?? []).map((one) => one.leave()));
    await closePages();
  });

  /** Eve, to Ida's left, throws a sprite over her right edge, for somebody one down from Ida. */
  async function throwByEve(name: string, friend: string, animation = 'fall'): Promise<void> {
    const goal = { name: friend, column: 0, row: 1 };
    const crossing = crossingOf(++eveThrew, 'right', name);
    const answer = await post(others[4].joined, { ...crossing, sprite: { ...crossing.sprite, animation }, goal });
    assert.equal(answer.status, 202);
    assert.equal((answer.json as { to: { name: string } }).to.name, 'Ida');
  }

  const hasSeen = (name: string) => ida.evaluate((one) => globalThis.namesSeen.has(one), name);

  it('goes the first step when a person is chosen in the panel, with the rest of the way in its crossing', async () => {
    const [ann] = others;
    await ida.locator('#company-toggle', { hasText: '6 here' }).click();
    await shoot(ida, 'friends-1-the-panel');
    await ida.getByRole('button', { name: 'Throw a sprite to Cid' }).click();
    await until('Ann has it', () => ann.received.length > 0);
    assert.deepEqual(ann.received[0].goal, { name: 'Cid', column: 0, row: 1 });
    await ida.locator('.notice', { hasText: 'is on its way to Cid.' }).waitFor();
  });

  it('is seen when it passes, and goes on to the friend', async () => {
    const [, bob] = others;
    await throwByEve('Rosa', 'Bob', 'hot-potato-99');
    await until('Bob has it', () => bob.received.length > 0);
    const [{ sprite, from, edge, goal }] = bob.received;
    assert.deepEqual([sprite.name, from.name, edge, goal], ['Rosa', 'Ida', 'top', { name: 'Bob', column: 0, row: 0 }]);
    assert.equal(sprite.animation, 'hot-potato-99', 'its game goes on with it');
    assert.ok(await hasSeen('Rosa'));
  });

  it('is not seen by who shows no neighbour the own sprites, and goes on all the same', async () => {
    const [, bob] = others;
    await ida.click('#stage');
    await ida.locator('.notice', { hasText: 'Nobody looks in any more' }).waitFor();
    await throwByEve('Nora', 'Bob', 'keep-up-3');
    await until('Bob has it', () => bob.received.length > 1);
    assert.deepEqual([bob.received[1].sprite.name, bob.received[1].sprite.animation], ['Nora', 'keep-up-3']);
    assert.ok(!(await hasSeen('Nora')));
  });

  it('stays when the friend is not there any more, and one that came by the last step is with its friend', async () => {
    await throwByEve('Otto', 'Zoe');
    await throwByEve('Mia', 'Ida');
    await until('both are here', async () => (await hasSeen('Otto')) && (await hasSeen('Mia')));
    const here = await ida.evaluate(() => globalThis.sprites.sprites().map(({ name }) => name));
    assert.deepEqual(here.filter((name) => name === 'Otto' || name === 'Mia').sort(), ['Mia', 'Otto']);
  });

  it('tells where it has been when it is selected or the pointer rests on it, and is thrown on with one desktop more', async () => {
    const journey = { hops: 2, since: Math.floor(Date.now() / 1000), by: 'Zoe', from: ['Ada', '<b>Bob'] };
    const crossing = crossingOf(++eveThrew, 'right', 'Kira');
    const answer = await post(others[4].joined, { ...crossing, sprite: { ...crossing.sprite, journey } });
    assert.equal(answer.status, 202);
    await ida.waitForFunction(() =>
      globalThis.sprites.sprites().some(({ name, mode }) => name === 'Kira' && mode === 'idle'),
    );
    const words = 'Kira, drawn by Zoe, 2 desktops since today; from Ada by way of <b>Bob';
    const told = ida.locator('#announcements p', { hasText: words });
    const { x, y } = await ida.evaluate(() => globalThis.sprites.sprites().find(({ name }) => name === 'Kira')!);
    await ida.mouse.move(x, y - 8); // with reduced motion, as by default, it stands there
    await told.waitFor({ state: 'attached' });
    await shoot(ida, 'friends-2-a-journey');
    const at = await ida.evaluate(() => globalThis.sprites.sprites().findIndex(({ name }) => name === 'Kira'));
    const [ann] = others;
    await ida.evaluate((index) => globalThis.sprites.throw(index, 'right'), at);
    await until('Ann has it', () => ann.received.length > 1);
    assert.deepEqual(ann.received[1].sprite.journey, { ...journey, hops: 3, from: ['Ada', '<b>Bob', 'Ida'] });
    const { hops, from } = ann.received[0].sprite.journey as NonNullable<(typeof ann.received)[0]['sprite']['journey']>;
    assert.deepEqual([hops, from], [1, ['Ida']], 'that of the first sprite has begun here');
  });

  it('leaves out the name of a person who has chosen that in the menu of a sprite, until they choose otherwise', async () => {
    const [ann] = others;
    const choose = async (text: string) => {
      const [{ file }] = await ida.evaluate(() => globalThis.sprites.sprites());
      await (await openMenuOf(ida, file, text)).click();
    };
    const newestOf = async () => {
      const count = ann.received.length;
      await ida.evaluate(() => globalThis.sprites.throw(0, 'right'));
      await until('Ann has it', () => ann.received.length > count);
      return ann.received[count].sprite.journey?.from.at(-1);
    };
    await choose('Throw without my name');
    await ida.locator('.notice', { hasText: 'does not tell others farther away who you are' }).waitFor();
    assert.notEqual(await newestOf(), 'Ida');
    await choose('Throw with my name');
    assert.equal(await newestOf(), 'Ida');
  });

  it('plays hot potato and keep up with what crosses', async () => {
    const [ann] = others;
    const throwHere = async (name: string, animation: string) => {
      const crossing = crossingOf(++eveThrew, 'right', name);
      const answer = await post(others[4].joined, { ...crossing, sprite: { ...crossing.sprite, animation } });
      assert.equal(answer.status, 202);
    };
    /** Throws a sprite on as soon as it is here. Resolves to the animation with which Ann gets it. */
    const throwOn = async (name: string) => {
      await ida.waitForFunction((one) => {
        const index = globalThis.sprites.sprites().findIndex((sprite) => sprite.name === one);
        if (index >= 0) globalThis.sprites.throw(index, 'right');
        return index >= 0;
      }, name);
      await until(`Ann has ${name}`, () => ann.received.some(({ sprite }) => sprite.name === name));
      return ann.received.find(({ sprite }) => sprite.name === name)?.sprite.animation;
    };
    await throwHere('Spud', 'hot-potato-1');
    await ida.locator('.notice', { hasText: 'Spud, the hot potato, went off here.' }).waitFor();
    await throwHere('Tuber', 'hot-potato-400');
    assert.match((await throwOn('Tuber')) ?? '', /^hot-potato-[23]\d\d$/);
    await throwHere('Pan', 'fall');
    const stands = (name: string) =>
      globalThis.sprites.sprites().find((sprite) => sprite.name === name && sprite.mode === 'idle');
    await ida.waitForFunction(stands, 'Pan');
    const { x, y } = await ida.evaluate(stands, 'Pan').then((sprite) => sprite!);
    await ida.mouse.click(x, y - 8, { button: 'right' });
    await ida.getByRole('menuitem', { name: 'Make it a hot potato' }).click();
    await shoot(ida, 'friends-3-a-hot-potato');
    assert.match((await throwOn('Pan')) ?? '', /^hot-potato-[1-4]\d\d$/);
    await throwHere('Kite', 'keep-up-3');
    assert.equal(await throwOn('Kite'), 'keep-up-4');
  });

  /** What a desktop without a page sends about changing places. */
  const swap = ({ joined }: DesktopClient, method: string, body: object) =>
    sendRequest(joined.crossings.replace(/crossings$/, 'swap'), { method, token: joined.token, body });
  const idaFrom = async ({ joined }: DesktopClient) => {
    const { json } = await sendRequest(joined.crossings.replace(/crossings$/, 'company'), { token: joined.token });
    return (json as Company).company.find(({ name }) => name === 'Ida') as Companion;
  };
  const idaId = () => ida.evaluate(() => document.body.dataset.desktop);

  it('asks to change seats, and sits there when that is accepted', async () => {
    const [, , cid] = others;
    const line = ida.locator('#company-list li', { hasText: 'Cid' });
    await line.filter({ hasText: '1 to the right, 1 down' }).waitFor();
    await ida.getByRole('button', { name: 'Change seats with Cid' }).press('Enter');
    await ida.locator('.notice', { hasText: 'Cid is asked to change seats with you.' }).waitFor();
    assert.equal((await swap(cid, 'PUT', { from: await idaId(), accept: true })).status, 204);
    await ida.locator('.notice', { hasText: 'You have changed seats with Cid.' }).waitFor();
    await ida.locator('.edge[data-edge="left"] .neighbour', { hasText: 'Bob' }).waitFor();
  });

  it('is asked to change seats, and answers by keyboard; a question that is over is taken away', async () => {
    const [, bob] = others;
    const wish = await idaFrom(bob);
    const question = ida.getByRole('region', { name: 'Change seats?' });
    await swap(bob, 'POST', wish);
    await question.getByText('Bob would like to change seats with you.').waitFor();
    await ida
      .locator('#announcements p', { hasText: 'Bob would like to change seats with you.' })
      .waitFor({ state: 'attached' });
    await shoot(ida, 'friends-4-a-question');
    assert.deepEqual(await faultsOf(ida), []);
    // The question is taken away at once. Bob's next one must not reach the relay before the answer to this one.
    const answered = ida.waitForResponse((one) => one.request().method() === 'PUT' && one.url().endsWith('/swap'));
    await question.getByRole('button', { name: 'Stay here' }).press('Enter');
    await question.waitFor({ state: 'detached' });
    await answered;
    await swap(bob, 'POST', wish);
    await question.waitFor();
    await bob.leave();
    await question.waitFor({ state: 'detached' });
    const [ann] = others;
    await swap(ann, 'POST', await idaFrom(ann));
    await question.getByRole('button', { name: 'Change seats' }).press('Enter');
    await ida.locator('.notice', { hasText: 'You have changed seats with Ann.' }).waitFor();
  });

  it('logged no error', () => assert.deepEqual(faults, []));
});
