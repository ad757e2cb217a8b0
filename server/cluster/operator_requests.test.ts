/** What an operator asks of the other relays: several relays without processes, on a pretend network. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { GONE_AFTER_STEPS, Membership } from '../domain/peers/membership.ts';
import { REASONS_KEPT, THROWERS_KEPT } from '../moderation/moderation_list.ts';
import { moderatedRelay } from '../test/moderated_relay.ts';
import { type Node, PretendNetwork } from '../test/pretend_network.ts';
import { hashOf } from '../test/spr_file.ts';
import { ProblemError } from '../wire/problem.ts';
import { ANSWER_MS, OperatorRequests, QUESTION_BYTES_MAX, REPORTS_ANSWERED_MAX } from './operator_requests.ts';

const BYTES = Buffer.from('a picture');
const PICTURE = 'a'.repeat(64);
const fileOf = (n: number) => n.toString(16).padStart(64, '0');
const isCode =
  (code: string, detail = /./) =>
  (error: unknown) =>
    error instanceof ProblemError && error.document.code === code && detail.test(error.message);

class Cluster {
  readonly network = new PretendNetwork(() => 0.5);
  readonly logged: string[] = [];
  readonly relays: ReturnType<Cluster['start']>[];
  nowMs = 0;

  constructor(t: TestContext, ...names: string[]) {
    this.relays = names.map((name) => this.start(t, name));
    this.beat(6, ...this.relays);
  }

  start(t: TestContext, name: string) {
    const data = mkdtempSync(join(tmpdir(), 'sprites-operator-'));
    t.after(() => rmSync(data, { recursive: true, force: true }));
    const keep = (fields: unknown, text?: string) => void this.logged.push(JSON.stringify([fields, text]));
    const log = { error: keep, warn: keep, info: keep, debug: keep } as unknown as Logger;
    const relay = moderatedRelay(data, log, () => this.nowMs);
    t.after(() => Promise.all([relay.list.close(), relay.gallery.close()]));
    const node: Node = this.network.node();
    const membership = new Membership({ name, life: 1, width: 1, step: 1 });
    const files = {
      fetch: async (file: string) => (file === hashOf(BYTES) ? BYTES : file === PICTURE ? BYTES : undefined),
    };
    const requests = new OperatorRequests({
      ...{ name, network: node, membership, log, files },
      moderator: relay.moderator,
    });
    return { ...relay, node, membership, requests };
  }

  /** Heartbeats of these relays, which those that are connected hear. */
  beat(steps: number, ...relays: { membership: Membership }[]): void {
    for (let step = 0; step < steps; step++) {
      for (const { membership } of relays) {
        const heartbeat = membership.tick(1);
        for (const other of relays) if (other.membership !== membership) other.membership.hear({ ...heartbeat });
      }
    }
  }

  /** Carries messages until the work is done. No time passes. */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    while (!isOver) {
      await nextTurn();
      this.network.advance(this.nowMs);
    }
    return work;
  }
}

describe('what an operator asks of all relays', () => {
  it('is the reports: one list, in which the reports of one picture are together', async (t) => {
    const cluster = new Cluster(t, 'r1', 'r2', 'r3');
    const [r1, r2, r3] = cluster.relays;
    r1.list.report(PICTURE, 'rude', '1-1');
    r1.list.report(fileOf(1), '');
    cluster.nowMs = 7;
    r2.list.report(PICTURE, 'very rude', '2-2');
    r2.list.report(PICTURE, 'rude', '1-1');
    const reports = [
      ...[{ file: PICTURE, count: 3, firstMs: 0, lastMs: 7, reasons: ['rude', 'very rude'], desktops: ['1-1', '2-2'] }],
      { file: fileOf(1), count: 1, firstMs: 0, lastMs: 0, reasons: [] },
    ];
    for (const { requests } of [r1, r2, r3]) {
      assert.deepEqual(await cluster.run(requests.reports()), { reports, unanswered: [] });
    }
  });

  it('is the reports, with the names of relays that do not answer or are gone', async (t) => {
    const cluster = new Cluster(t, 'r1', 'r2', 'r3');
    const [r1, r2, r3] = cluster.relays;
    r2.list.report(PICTURE, '');
    r3.node.isConnected = false;
    for (const steps of [0, GONE_AFTER_STEPS + 6]) {
      cluster.beat(steps, r1, r2);
      const { reports, unanswered } = await cluster.run(r1.requests.reports());
      assert.deepEqual([reports.map(({ file }) => file), unanswered], [[PICTURE], ['r3']]);
    }
  });

  it('is the reports, for which a relay has ANSWER_MS: one below, at the limit, one above', async (t) => {
    for (const [ms, isInTime] of [
      [ANSWER_MS - 1, true],
      [ANSWER_MS, false],
      [ANSWER_MS + 1, false],
    ] as const) {
      const cluster = new Cluster(t, 'r1', 'r2');
      const [r1, r2] = cluster.relays;
      r2.list.report(PICTURE, '');
      const { network } = cluster;
      // Half of it each way.
      network.faults.delayMs = ms;
      const asked = r1.requests.reports();
      while (network.onTheWay < 2) await nextTurn(); // the question, and the end of the time for its answer
      network.advance(ms / 2);
      while (network.onTheWay < 2) await nextTurn(); // the answer
      network.advance(ms);
      const { reports, unanswered } = await asked;
      assert.deepEqual([reports.length, unanswered], isInTime ? [1, []] : [0, ['r2']], `after ${ms} ms`);
    }
  });

  it('is only reports within the limits, whatever another relay answers', async (t) => {
    const cluster = new Cluster(t, 'r1', 'r2');
    const [r1] = cluster.relays;
    const good = { file: PICTURE, count: 1, firstMs: 1, lastMs: 1, reasons: ['rude'] };
    const bad = [
      ...[null, 7, { ...good, file: 'x' }, { ...good, count: 0.5 }, { ...good, lastMs: -1 }, { ...good, reasons: [7] }],
      { ...good, reasons: Array(REASONS_KEPT + 1).fill('a') },
      { ...good, reasons: ['x'.repeat(201)] },
      { ...good, desktops: Array(THROWERS_KEPT + 1).fill('1-1') },
      { ...good, desktops: ['Bob'] },
    ];
    const answers = [{ reports: [...bad, good] }, { reports: 7 }, {}, [], 'nonsense'];
    const listed: number[] = [];
    for (const answer of answers) {
      r1.node.request = async () => Buffer.from(JSON.stringify(answer));
      listed.push((await r1.requests.reports()).reports.length);
    }
    assert.deepEqual(listed, [1, 0, 0, 0, 0]);
    for (const count of [REPORTS_ANSWERED_MAX - 1, REPORTS_ANSWERED_MAX, REPORTS_ANSWERED_MAX + 1]) {
      const reports = Array.from({ length: count }, (_, n) => ({ ...good, file: fileOf(n) }));
      r1.node.request = async () => Buffer.from(JSON.stringify({ reports }));
      assert.equal((await r1.requests.reports()).reports.length, Math.min(count, REPORTS_ANSWERED_MAX));
    }
  });

  it('is to dismiss a report, wherever it is', async (t) => {
    const cluster = new Cluster(t, 'r1', 'r2', 'r3');
    const [r1, r2, r3] = cluster.relays;
    for (const { list } of [r2, r3]) list.report(PICTURE, '');
    await cluster.run(r1.requests.dismiss(PICTURE));
    for (const { list } of [r1, r2, r3]) assert.deepEqual(list.reports, []);
    await assert.rejects(cluster.run(r1.requests.dismiss(PICTURE)), isCode('not-found'));
    await assert.rejects(cluster.run(r1.requests.dismiss('x')), isCode('malformed'));
  });

  it('is to end a desktop, at whichever relay it is', async (t) => {
    const cluster = new Cluster(t, 'r1', 'r2', 'r3');
    const [r1, r2, r3] = cluster.relays;
    for (const at of [r1, r2]) {
      at.master.seats.seat({ name: 'Bob' });
      const desktop = at.master.relay.desktops.id(0);
      await cluster.run(r1.requests.kick(desktop));
      assert.equal(at.master.relay.desktops.count, 0);
      assert.deepEqual(at.sent.filter(({ type }) => type === 'ended').length, 1);
      await assert.rejects(cluster.run(r1.requests.kick(desktop)), isCode('not-found', /There is no desktop/));
    }
    r3.node.isConnected = false;
    await assert.rejects(cluster.run(r1.requests.kick('3-1')), isCode('relay-busy', /have not answered: r3/));
    await assert.rejects(cluster.run(r1.requests.kick('Bob')), isCode('malformed'));
  });

  it('is a picture that another relay has, unless other bytes come', async (t) => {
    const [{ requests }] = new Cluster(t, 'r1').relays;
    const found = await Promise.all([hashOf(BYTES), PICTURE, fileOf(1)].map((file) => requests.picture(file)));
    assert.deepEqual(found, [BYTES, undefined, undefined]);
  });

  it('is refused when it is anything else', async (t) => {
    const cluster = new Cluster(t, 'r1', 'r2');
    const [r1, r2] = cluster.relays;
    const ask = async (question: unknown) => {
      const bytes = Buffer.from(typeof question === 'string' ? question : JSON.stringify(question));
      return JSON.parse(Buffer.from(await cluster.run(r1.node.request('sprites.operator.r2', bytes, 1000))).toString());
    };
    r2.list.report(PICTURE, '');
    for (const question of [
      ...['', 'nonsense', [], {}, { version: 1, ask: 'stop' }, { version: 2, ask: 'dismiss', picture: PICTURE }],
      ...[
        { version: 1, ask: 'dismiss', picture: 'x' },
        { version: 1, ask: 'kick' },
      ],
    ]) {
      assert.deepEqual(await ask(question), { done: false });
    }
    assert.equal(r2.list.reports.length, 1);
    const question = JSON.stringify({ version: 1, ask: 'dismiss', picture: PICTURE });
    for (const [bytes, done] of [
      [QUESTION_BYTES_MAX + 1, false],
      [QUESTION_BYTES_MAX, true],
    ] as const) {
      assert.deepEqual(await ask(question.padEnd(bytes)), { done });
    }
    r2.list.report(PICTURE, '');
    assert.deepEqual(await ask(question.padEnd(QUESTION_BYTES_MAX - 1)), { done: true });
  });
});
