/** Two slices with the real engine against one relay, as on two instances: they measure at the same time or not at all. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { merge } from '../loadtest/report/merge.ts';
import { placesOf } from '../loadtest/run/share.ts';
import { startFaultyRelay } from '../loadtest/test/faulty_relay.ts';
import { buildEngine } from '../tools/build.js';
import { type EngineResult, readResult } from '../tools/engine_result.ts';
import { enginePlanOf, type Go, type Load, type ThrowSignal, writeJob } from './job.ts';

const why = buildEngine();

/** The longest that a slice may take, in ms. Normally it takes a few seconds. */
const SLICE_MS_MAX = 90_000;

describe('slice', { skip: why ?? false, timeout: 900_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-slice-'));
  /** The bucket: what the fleet command wrote, and what slices posted, by key. */
  const objects = new Map<string, string>();
  let posted: (key: string) => void = () => {};
  let bucket: http.Server;
  let url = '';

  before(async () => {
    bucket = http.createServer(async (request, response) => {
      if (request.method === 'GET') {
        const body = objects.get((request.url as string).slice(1));
        response.writeHead(body === undefined ? 404 : 200).end(body);
        return;
      }
      const form = await new Response(request as never, { headers: request.headers as never }).formData();
      assert.equal(form.get('Policy'), 'e30=');
      const key = form.get('key') as string;
      objects.set(key, await (form.get('file') as File).text());
      response.writeHead(204).end();
      posted(key);
    });
    bucket.listen(0, '127.0.0.1');
    await once(bucket, 'listening');
    url = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`;
  });
  after(() => {
    bucket.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function slice(id: string, job: object) {
    const [file, out] = [join(folder, `${id}.job`), join(folder, `${id}.json`)];
    writeFileSync(file, writeJob({ bundle: '-', sha256: '-', ports: [1], waitSeconds: 60, arguments: [], ...job }));
    const words = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'slice.ts'), 'run'];
    const child = spawn(process.execPath, [...words, '--job', file, '--id', id, '--out', out], {
      env: { ...process.env, SPRITES_RESULTS: url, SPRITES_PREFIX: 'runs/f/', SPRITES_FIELDS: 'Policy=e30=\nx=a=b' },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: SLICE_MS_MAX,
    });
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
    const [code] = await once(child, 'close');
    const result = existsSync(out) ? readResult(readFileSync(out, 'utf8'), id) : undefined;
    return { code, log, result };
  }

  /**
   * Two slices in the world that two relays share, one of which takes a second longer to connect. `signal` is given when both have
   * parked.
   */
  async function two(signal: () => ThrowSignal) {
    const relays = await Promise.all([startFaultyRelay(), startFaultyRelay()]);
    const load: Load = {
      ...{ relays: relays.map((relay) => new URL(relay.url)), desktops: 40, rate: 100, seconds: 3, warmUpSeconds: 0.2 },
      ...{ connectRate: 1000, thresholds: [], more: { settle: 0, drain: 1 } },
    };
    const places = placesOf(2);
    const slices = {
      'i-fast': enginePlanOf(load, 'f', 'i-fast', places[0]),
      'i-slow': enginePlanOf({ ...load, connectRate: 40 }, 'f', 'i-slow', places[1]),
    };
    objects.clear();
    const go: Go = { startAtMs: Date.now(), slices };
    objects.set('go.json', JSON.stringify(go));
    posted = () => {
      if (!['i-fast', 'i-slow'].every((id) => objects.has(`runs/f/${id}.parked.json`))) return;
      objects.set('throw.json', JSON.stringify(signal()));
    };
    const job = { go: `${url}/go.json`, throw: `${url}/throw.json` };
    return Promise.all([slice('i-fast', job), slice('i-slow', job)]).finally(() =>
      Promise.all(relays.map((relay) => relay.end())),
    );
  }

  it('throws at the time that all slices agree on, so their windows coincide however slowly one connects', async () => {
    let startAtMs = 0;
    const ran = await two(() => {
      startAtMs = Date.now() + 4_000;
      return { startAtMs };
    });
    for (const { code, log } of ran) assert.equal(code, 0, log);
    const parts = ran.map(({ result }) => result as EngineResult);
    // The report cuts two times to whole milliseconds.
    for (const { window } of parts) assert.ok(window.fromMs + 2 >= startAtMs + 200, `${window.fromMs} ${startAtMs}`);
    const report = merge(parts, { name: '', command: '', machines: [] });
    assert.equal(report.voidReason, '');
    assert.ok(report.accepted > 500 && (report.visitors ?? 0) > 0, `${report.accepted}, ${report.visitors}`);
    assert.deepEqual([report.delivered, report.lost, report.foreign], [report.accepted, 0, 0], 'one account');
    assert.match(ran[0].log, /all desktops are parked\n[\s\S]*throws from \d{4}-/);
    assert.match(ran[0].log, /"startOnStdin":true.*"processes":[1-9]/);
  });

  it('throws nothing when the fleet does not, and has a result that says so', async () => {
    for (const { code, log, result } of await two(() => ({ startAtMs: null }))) {
      assert.equal(code, 1, log);
      assert.match(log, /the fleet does not throw/);
      assert.equal(result?.sent, 0);
      assert.match(result?.message as string, /the signal to start never came/);
    }
  });

  it('is left out when go.json does not name it', async () => {
    objects.set('go.json', JSON.stringify({ startAtMs: 0, slices: {} }));
    const { code, log } = await slice('i-late', { go: `${url}/go.json`, throw: `${url}/throw.json` });
    assert.equal(code, 4);
    assert.match(log, /started without this instance/);
  });
});
