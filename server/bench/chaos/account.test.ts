import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Account,
  type Custody,
  type Finding,
  type Flying,
  keyOf,
  MARGIN_MS,
  NOTES_MAX,
  type Throw,
  type Waiting,
} from './account.ts';
import { isExact, type Run, textReport } from './report.ts';

/** An account whose clock stands at `nowMs`, and one sprite, which desktop 1 has made. */
function accountOf(): { account: Account; clock: { nowMs: number }; sprite: number } {
  const clock = { nowMs: 0 };
  const account = new Account(() => clock.nowMs);
  return { account, clock, sprite: account.made(1) as number };
}

/** What a relay holds: the sprites of `held`, each as often as it is there. */
const custody = (held: number[], { sent = [], taken = [], flying = [], known = [] }: Holdings = {}): Custody => ({
  held: new Map(held.map((sprite) => [sprite, held.filter((one) => one === sprite).map(() => 'a mailbox in commons')])),
  sent: new Map(sent.map(([sprite, mailbox]) => [sprite, [mailbox]])),
  taken: new Map(taken.map(([sprite, frame]) => [sprite, [frame]])),
  flying: new Map(flying.map(({ sprite, ...one }) => [sprite, [one]])),
  known: new Set(known.map(keyOf)),
});

interface Holdings {
  sent?: [number, string][];
  taken?: [number, string][];
  flying?: (Flying & { sprite: number })[];
  known?: Throw[];
}

/** A throw that desktop 3 of a relay has sent, and that has no answer. */
function throwOf(account: Account, sprite: number, relay = 'r1'): Throw {
  const thrown = { sprite, relay, identity: { slot: 3, generation: 7, token: new Uint32Array(4) }, crossing: sprite };
  account.awaits(thrown);
  return thrown;
}

/** A throw in a frame without verdicts. */
const inFrame = (thrown: Throw, frame = 'start/1', isKept = false) => ({
  sprite: thrown.sprite,
  ...{ frame, thrown: keyOf(thrown), isKept },
});

/** Settles with this many copies of a sprite beside the one on its desktop. Returns whether they are allowed. */
function isAllowed(account: Account, sprite: number, copies: number): boolean {
  const more = Array.from({ length: copies }, () => inMailbox(sprite));
  const doubled = account.settle(more).filter((one) => one.sprite === sprite && one.wrong === 'doubled');
  return doubled[0].allowed !== undefined;
}

const shown = (findings: Finding[]) => findings.map(({ wrong, allowed }) => [wrong, allowed]);

const inMailbox = (sprite: number, isKept = false): Waiting => ({ sprite, relay: 'r1', world: 'commons', isKept });

const RUN: Run = {
  seed: 1,
  minutes: 1,
  machine: 'a machine',
  nats: '2',
  relays: [],
  desktops: 2,
  tookMs: 60_000,
  isInterrupted: false,
  failure: undefined,
  unsettled: [],
};

describe('the account of a chaos run', () => {
  it('is exact when a sprite that was thrown is on the other desktop', () => {
    const { account, sprite } = accountOf();
    account.thrown(sprite, 1, 'right');
    assert.deepEqual(account.settle([]), []);
    account.received(sprite, 2, 'seq 1');
    account.accepted(sprite, 1, 'to 2');
    assert.deepEqual(account.settle([]), []);
    assert.ok(isExact(RUN, account, []));
  });

  it('finds a sprite that is nowhere, and tells its history with the faults that were on', () => {
    const { account, clock, sprite } = accountOf();
    account.end(account.begin('kill-nats', undefined), 'long ago');
    clock.nowMs = 2 * MARGIN_MS;
    account.note(sprite, 'is looked at');
    const other = account.made(1) as number;
    const span = account.begin('kill-relay', 'r2');
    account.thrown(other, 1, 'right as #1');
    account.accepted(other, 1, 'to 2');
    clock.nowMs += 1_000;
    account.end(span, '');
    const [finding, ...more] = account.settle([]);
    assert.deepEqual([finding.wrong, finding.allowed, finding.where, more], ['lost', undefined, [], []]);
    assert.deepEqual(finding.history, [
      '6.000 s made by d1',
      '6.000 s d1 throws it right as #1',
      '6.000 s d1 is answered 202, to 2',
      '6.000 s FAULT kill-relay r2, healed at 7.000 s',
    ]);
    assert.ok(!isExact(RUN, account, [finding]));
    assert.match(
      textReport(RUN, account, [finding]),
      /sprite 1 is lost: nowhere\n {2}6.000 s made by d1\n[\s\S]*NOT EXACT/,
    );
  });

  it('finds a sprite that is on two desktops, on a desktop and in a mailbox, or in two mailboxes', () => {
    const { account, sprite } = accountOf();
    assert.deepEqual(shown(account.settle([inMailbox(sprite)])), [
      ['doubled', undefined],
      ['stranded', undefined],
    ]);
    account.received(sprite, 2, '');
    assert.deepEqual(shown(account.settle([])), [['doubled', undefined]]);
    account.accepted(sprite, 1, '');
    account.accepted(sprite, 2, '');
    const [doubled] = account.settle([inMailbox(sprite), inMailbox(sprite, true)]);
    assert.deepEqual(doubled.where, ['a mailbox at r1 in commons', 'a kept mailbox at r1 in commons']);
  });

  it('finds a sprite that waits although its world has desktops', () => {
    const { account, sprite } = accountOf();
    account.accepted(sprite, 1, '');
    assert.deepEqual(shown(account.settle([inMailbox(sprite, true)])), [['stranded', undefined]]);
  });

  it('allows a sprite to be lost that only the machine that died had, and no other', () => {
    const { account, sprite } = accountOf();
    const other = account.made(1) as number;
    for (const one of [sprite, other]) account.accepted(one, 1, '');
    assert.deepEqual(account.rolledBack('r1', custody([other]), custody([sprite, other])), { lost: 1, back: 0 });
    assert.deepEqual(shown(account.settle([])), [
      ['lost', 'the roll-back of r1 at 0.000 s'],
      ['lost', undefined],
    ]);
  });

  it('allows a sprite to be lost that its desktop acknowledged to the machine that died, and got no answer, and no other', () => {
    const { account, sprite } = accountOf();
    const [acknowledged, comesAgain] = [account.made(1), account.made(1)] as number[];
    const all = [sprite, acknowledged, comesAgain];
    account.rolledBack('r1', custody([comesAgain]), custody([]), [sprite, comesAgain]);
    for (const one of all) account.dropped(one, 1, '410 with an older cursor');
    assert.deepEqual(shown(account.settle([])), [
      ['lost', 'the roll-back of r1 at 0.000 s'],
      ['lost', undefined],
      ['lost', undefined],
    ]);
  });

  it('allows a sprite to be there once more for each time that an older copy brought it back', () => {
    const { account, sprite } = accountOf();
    account.rolledBack('r1', custody([sprite]), custody([]));
    account.received(sprite, 2, '');
    assert.deepEqual(shown(account.settle([])), [['doubled', 'the roll-back of r1 at 0.000 s']]);
    account.received(sprite, 3, '');
    assert.deepEqual(shown(account.settle([])), [['doubled', undefined]]);
    account.rolledBack('r2', custody([sprite]), custody([]));
    assert.deepEqual(shown(account.settle([])), [['doubled', 'the roll-back of r1 at 0.000 s']]);
  });

  it('allows a sprite to be there twice more when two copies of it are back', () => {
    const { account, sprite } = accountOf();
    account.rolledBack('r1', custody([sprite, sprite]), custody([]));
    for (const desktop of [2, 3]) account.received(sprite, desktop, '');
    assert.deepEqual(shown(account.settle([])), [['doubled', 'the roll-back of r1 at 0.000 s']]);
    account.received(sprite, 4, '');
    assert.deepEqual(shown(account.settle([])), [['doubled', undefined]]);
  });

  it('allows a sprite to come again that the machine sent to its desktop in the time that it lost, and no other', () => {
    const { account, sprite } = accountOf();
    const other = account.made(1) as number;
    const moved = account.made(1) as number;
    const all = [sprite, other, moved];
    const sentAs = (sent: [number, string][]) => custody(all, { sent });
    const earlier = sentAs([
      [other, 'one'],
      [moved, 'one'],
    ]);
    const then = sentAs([
      [sprite, 'one'],
      [other, 'one'],
      [moved, 'another'],
    ]);
    assert.deepEqual(account.rolledBack('r1', earlier, then).back, 2);
    assert.deepEqual(
      all.map((one) => isAllowed(account, one, 1)),
      [true, false, true],
    );
  });

  it('allows a sprite to be there once more whose frame from another relay was forgotten and is taken again', () => {
    const { account, sprite } = accountOf();
    const [stayed, waits, notAgain] = [account.made(1), account.made(1), account.made(1)] as number[];
    const takes = (sprites: number[], frame: string) => sprites.map((one): [number, string] => [one, frame]);
    const older = takes([stayed], 'r2/1');
    const then = [...older, ...takes([sprite, waits, notAgain], 'r2/2')];
    account.rolledBack('r1', custody([], { taken: older }), custody([waits], { taken: then }));
    const most = (one: number) => [0, 1, 2, 3].findLast((copies) => copies === 0 || isAllowed(account, one, copies));
    assert.equal(most(sprite), 0, 'not before it is taken again');
    account.took('r2', custody([], { taken: then }));
    account.took('r1', custody([], { taken: [...older, ...takes([sprite, waits], 'r2/2'), [notAgain, 'r2/3']] }));
    assert.deepEqual([sprite, stayed, waits, notAgain].map(most), [1, 0, 0, 0]);
    const again = custody([], { taken: takes([sprite], 'r2/3') });
    account.rolledBack('r1', custody([]), again);
    account.rolledBack('r1', custody([]), again);
    assert.equal(most(sprite), 2, 'taken again before the machine died once more');
  });

  it('allows a sprite to be there once more whose throw has no answer and was in a frame that only the machine knew', () => {
    const { account, sprite } = accountOf();
    const thrown = throwOf(account, sprite);
    account.rolledBack('r1', custody([]), custody([], { flying: [inFrame(thrown)] }));
    assert.deepEqual(
      [1, 2].map((copies) => isAllowed(account, sprite, copies)),
      [true, false],
    );
    account.accepted(sprite, 1, '');
    assert.deepEqual(shown(account.settle([])), [['lost', undefined]], 'it is thrown again, so it is not lost');
  });

  it('allows that once for each roll-back that forgets the number of the throw', () => {
    const { account, sprite } = accountOf();
    const thrown = throwOf(account, sprite);
    for (const frame of ['start/1', 'other start/1']) {
      account.rolledBack('r1', custody([]), custody([], { flying: [inFrame(thrown, frame)] }));
    }
    assert.deepEqual(
      [2, 3].map((copies) => isAllowed(account, sprite, copies)),
      [true, false],
    );
  });

  it('allows no double of a throw in a frame that is answered, that the older copy knows too, or that is of another relay', () => {
    const { account } = accountOf();
    const cases: Record<string, (thrown: Throw) => [string, Custody, Custody]> = {
      answered: (thrown) => {
        account.answered(thrown);
        return ['r1', custody([]), custody([], { flying: [inFrame(thrown)] })];
      },
      'in the frame of both': (thrown) => {
        const both = custody([], { flying: [inFrame(thrown)] });
        return ['r1', both, both];
      },
      'of another relay': (thrown) => ['r2', custody([]), custody([], { flying: [inFrame(thrown)] })],
      'never sent': () => ['r1', custody([]), custody([])],
    };
    for (const [name, caseOf] of Object.entries(cases)) {
      const sprite = account.made(1) as number;
      account.rolledBack(...caseOf(throwOf(account, sprite)));
      assert.equal(isAllowed(account, sprite, 1), false, name);
    }
  });

  it('allows a sprite to be lost that was in custody in a frame that only the machine knew, and no double of it', () => {
    const { account, sprite } = accountOf();
    const thrown = throwOf(account, sprite);
    account.answered(thrown);
    account.accepted(sprite, 1, '');
    account.rolledBack('r1', custody([]), custody([], { flying: [inFrame(thrown, 'start/1', true)] }));
    assert.deepEqual(shown(account.settle([])), [['lost', 'the roll-back of r1 at 0.000 s']]);
    assert.equal(isAllowed(account, sprite, 2), false);
  });

  it('allows a sprite to be there once more whose frame only the older copy has, or has under another number', () => {
    for (const then of [[], ['start/2']]) {
      const { account, sprite } = accountOf();
      const thrown = throwOf(account, sprite);
      const flying = then.map((frame) => inFrame(thrown, frame));
      account.rolledBack('r1', custody([], { flying: [inFrame(thrown)] }), custody([], { flying }));
      assert.deepEqual(
        [1, 2].map((copies) => isAllowed(account, sprite, copies)),
        [true, false],
        `${then}`,
      );
    }
  });

  it('allows a sprite to be there once more that was being handed on in a frame that only the machine knew', () => {
    const { account, sprite } = accountOf();
    const flying = [{ sprite, frame: 'start/1', thrown: undefined, isKept: false }];
    account.rolledBack('r1', custody([sprite]), custody([sprite], { flying }));
    assert.deepEqual(
      [1, 2].map((copies) => isAllowed(account, sprite, copies)),
      [true, false],
    );
  });

  it('allows a sprite to be there once more whose throw has no answer and a number that only the machine knew', () => {
    const { account, sprite } = accountOf();
    const [answered, older, waits, sent] = [0, 0, 0, 0].map(() => account.made(1) as number);
    const known = [sprite, answered, older, waits, sent].map((one) => throwOf(account, one));
    account.answered(known[1]);
    const then = custody([waits, sent], { known, sent: [[sent, 'one']] });
    account.rolledBack('r1', custody([], { known: [known[2]] }), then);
    for (const one of [sprite, answered, older, waits, sent]) {
      assert.equal(isAllowed(account, one, 1), one === sprite || one === sent, `sprite ${one}`);
      assert.equal(isAllowed(account, one, 2), false, `two more of ${one}`);
    }
  });

  it('is not exact when something happened that must not be, or when the run did not come to its end', () => {
    const { account } = accountOf();
    for (const wrong of [{ isInterrupted: true }, { failure: 'a relay does not start' }, { unsettled: ['a throw'] }]) {
      assert.ok(!isExact({ ...RUN, ...wrong }, account, []), JSON.stringify(wrong));
    }
    account.received(99, 1, '');
    assert.deepEqual(account.anomalies, ['0.000 s d1 received sprite 99, which nobody made']);
    assert.ok(!isExact(RUN, account, []));
  });

  it('measures a round trip apart while a fault is on its way, and for a while afterwards', () => {
    const { account, clock } = accountOf();
    const span = account.begin('kill-relay', 'r2');
    clock.nowMs = 500;
    account.trip(1, 400, 'r1', 'r1');
    account.trip(1, 450, 'r1', 'r2');
    account.trip(1, 460, 'r2', 'r2');
    account.end(span, '');
    clock.nowMs += MARGIN_MS + 10;
    account.trip(1, 20, 'r2', 'r2');
    assert.deepEqual([account.longestTrip.ms, account.longestTrip.disturbedMs], [400, 460]);
    clock.nowMs += 1_000;
    account.trip(2, 900, 'r2', 'r1');
    account.begin('silence', undefined, false);
    account.trip(1, 950, 'r1', undefined);
    assert.deepEqual(account.longestTrip, { ms: 950, disturbedMs: 460, who: 'd1 at r1 to undefined, 4.510 s' });
  });

  it('counts repeats of a throw in one line of the history', () => {
    const { account, sprite } = accountOf();
    for (let n = 0; n < 3; n++) account.repeated(sprite, 1);
    account.note(sprite, 'is answered');
    account.repeated(sprite, 1);
    assert.deepEqual(account.historyOf(sprite).slice(1), [
      '0.000 s d1 has no answer and repeats it (3 times)',
      '0.000 s is answered',
      '0.000 s d1 has no answer and repeats it (1 times)',
    ]);
    assert.equal(account.counts.repeated, 4);
  });

  it('keeps the newest lines of a long history', () => {
    const { account, sprite } = accountOf();
    for (let n = 0; n < NOTES_MAX; n++) account.note(sprite, `${n}`);
    const history = account.historyOf(sprite);
    assert.deepEqual(
      [history.length, history[0], history.at(-1)],
      [NOTES_MAX, '0.000 s 0', `0.000 s ${NOTES_MAX - 1}`],
    );
  });
});
