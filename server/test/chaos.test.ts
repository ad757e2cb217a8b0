/**
 * Three relays and NATS as real processes, for some seconds of kills and restarts: the whole of `npm run bench -- chaos`, short.
 *
 * It shows that the command works and that its account is exact for faults that take nothing back; SEED repeats its faults.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { whyNoNats } from '../../tools/bench/nats_server.ts';
import { chaos } from '../bench/chaos.ts';
import { randomOf } from './random.ts';
import { BOUNDED } from './relay_process.ts';

const MINUTES = 0.25;

const skip = process.platform === 'linux' ? whyNoNats() : 'its processes are found in /proc, which only Linux has';

describe('a chaos run', { ...BOUNDED, skip }, () => {
  it('finds every sprite once, after relays were killed with all their processes and restarted', async (t) => {
    const seed = Math.floor(randomOf(t)() * 2 ** 31);
    const out = mkdtempSync(join(tmpdir(), 'sprites-chaos-report-'));
    t.after(() => rmSync(out, { recursive: true, force: true }));
    const faults = ['kill-relay', 'drain-restart'];
    const lines: string[] = [];
    t.mock.method(console, 'log', (line: string) => void lines.push(line));
    const isExact = await chaos({
      minutes: MINUTES,
      relays: 3,
      seed,
      front: 'portable',
      durability: undefined,
      faults,
      out,
    });
    assert.ok(isExact, lines.join('\n'));
    const report = JSON.parse(readFileSync(join(out, `chaos-${seed}.json`), 'utf8'));
    assert.ok(report.counts.accepted > 200 && report.spans.length > 0, JSON.stringify(report.counts));
    assert.deepEqual([report.findings, report.run.seed], [[], seed]);
  });
});
