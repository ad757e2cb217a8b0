import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { Misused } from '../../tools/command.ts';
import { merge } from '../report/merge.ts';
import { resultOf, secondOf } from '../test/results.ts';
import { metricsUrl, OTLP_EVERY_SECONDS, OtlpExporter, readHeaders } from './otlp_exporter.ts';

const ORIGIN = { scenario: 'x', transport: 'poll', desktops: 10, run: 1, machine: 'm', startedAtMs: 1 };
const REPORT = merge([resultOf([1000])], { name: 'x', command: '', machines: [] });

interface Posted {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A collector that answers as `answer` does. */
async function startCollector(t: TestContext, answer: (response: ServerResponse, nth: number) => void) {
  const posted: Posted[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    posted.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString() });
    answer(response, posted.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posted, server };
}

const accept = (response: ServerResponse) => response.end('{}');

describe('OTLP exporter', () => {
  it('posts every so many seconds and at the end, as JSON, with the headers that are given', async (t) => {
    const { url, posted, server } = await startCollector(t, accept);
    const warnings: string[] = [];
    const exporter = new OtlpExporter(url, 'api-key=a%20secret,tenant=t', ORIGIN, (why) => warnings.push(why));
    for (let i = 1; i < OTLP_EVERY_SECONDS; i++) exporter.second(secondOf(i, [1000]));
    assert.equal(posted.length, 0);
    const first = once(server, 'request');
    exporter.second(secondOf(OTLP_EVERY_SECONDS, [1000]));
    await first;
    await exporter.end(REPORT);
    assert.equal(warnings.length, 0);
    assert.equal(posted.length, 2);
    for (const { path, headers, body } of posted) {
      assert.equal(path, '/v1/metrics');
      assert.equal(headers['content-type'], 'application/json');
      assert.equal(headers['api-key'], 'a secret');
      assert.equal(headers.tenant, 't');
      assert.ok(JSON.parse(body).resourceMetrics[0].scopeMetrics[0].metrics.length > 0);
    }
    assert.match(posted[0].body, /"asInt":"10"/);
    assert.match(posted[1].body, /sprites\.swarm\.pass/);
  });

  it('has one request under way at a time, and skips an interval that finds one', async (t) => {
    const waiting: ServerResponse[] = [];
    const { url, posted, server } = await startCollector(t, (response) => waiting.push(response));
    const exporter = new OtlpExporter(url, '', ORIGIN, (why) => assert.fail(why));
    const first = once(server, 'request');
    for (let i = 1; i <= 3 * OTLP_EVERY_SECONDS; i++) exporter.second(secondOf(i, [1000]));
    await first;
    const ended = exporter.end(REPORT);
    while (waiting.length < 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(posted.length, 1);
    accept(waiting[0]);
    while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve));
    accept(waiting[1]);
    await ended;
    assert.equal(posted.length, 2);
  });

  it('tries the end again while the collector is busy, but nothing that it refuses', async (t) => {
    const busy = await startCollector(t, (response, nth) => {
      if (nth < 3) response.writeHead(503, { 'retry-after': '0.01' });
      response.end('{}');
    });
    const warnings: string[] = [];
    await new OtlpExporter(busy.url, '', ORIGIN, (why) => warnings.push(why)).end(REPORT);
    assert.equal(busy.posted.length, 3);
    assert.equal(warnings.length, 0);
    const refusing = await startCollector(t, (response) => response.writeHead(400, 'No').end());
    await new OtlpExporter(refusing.url, '', ORIGIN, (why) => warnings.push(why)).end(REPORT);
    assert.equal(refusing.posted.length, 1);
    assert.match(warnings[0], /^the collector at http:\/\/127\.0\.0\.1:\d+ has not taken the metrics: 400 No$/);
  });

  it('warns once about a collector that is gone or took a part only, without its secrets', async (t) => {
    const warnings: string[] = [];
    const gone = new OtlpExporter('http://127.0.0.1:1/?key=secret', 'k=secret', ORIGIN, (why) => warnings.push(why));
    await gone.end(REPORT);
    await gone.end(REPORT);
    assert.equal(warnings.length, 1);
    assert.doesNotMatch(warnings[0], /secret/);
    const { url } = await startCollector(t, (response) =>
      response.end('{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}'),
    );
    await new OtlpExporter(url, '', ORIGIN, (why) => warnings.push(why)).end(REPORT);
    assert.match(warnings[1], /too old$/);
  });

  it('keeps the path and headers that are given', () => {
    assert.equal(metricsUrl('http://c:4318').href, 'http://c:4318/v1/metrics');
    assert.equal(metricsUrl('https://c/otlp/v1/metrics').href, 'https://c/otlp/v1/metrics');
    assert.deepEqual(readHeaders(''), {});
    assert.deepEqual(readHeaders(' a = b=c , d=e%2C'), { a: 'b=c', d: 'e,' });
    assert.throws(() => readHeaders('a=%'), Misused);
  });
});
