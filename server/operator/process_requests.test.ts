import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { answerRequests, type ProcessRequest } from './process_requests.ts';

/** This process as a worker: what it sends goes to `receive`. */
let receive: (answer: Record<string, unknown>) => void;

describe('a worker that is asked', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sprites-requests-'));
  const path = join(folder, 'asked.recording');
  const master = { send: process.send, connected: process.connected };
  before(() => {
    Object.assign(process, { connected: true, send: (answer: Record<string, unknown>) => receive(answer) });
    answerRequests();
  });
  after(() => {
    process.removeAllListeners('message');
    Object.assign(process, master);
    rmSync(folder, { recursive: true });
  });

  let id = 0;
  const tell = (message: object) => process.emit('message', { ...message, id }, undefined);
  function ask(request: ProcessRequest) {
    id++;
    const answer = new Promise<Record<string, unknown>>((resolve) => {
      receive = resolve;
    });
    tell({ type: 'process-request', path, folder, request });
    return answer;
  }
  const PROFILE = { kind: 'profile', profile: 'cpu', seconds: 0.01 } as const;

  it('answers with a document', async () => {
    const { type, document } = await ask({ kind: 'heap' });
    assert.equal(type, 'process-answer');
    assert.ok(document);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('writes a recording to the file it was given, and answers with the name to save it under', async () => {
    const { fileName } = await ask(PROFILE);
    assert.match(`${fileName}`, /\.cpuprofile$/);
    assert.ok(JSON.parse(readFileSync(path, 'utf8')).nodes.length > 0);
    rmSync(path);
  });

  it('leaves no file when the request ends before the recording does', async () => {
    const answer = ask({ ...PROFILE, seconds: 600 });
    tell({ type: 'process-request-ended' });
    await answer;
    assert.deepEqual(readdirSync(folder), []);
  });

  it('answers with a problem when it cannot write, and leaves no file', async () => {
    writeFileSync(path, '');
    const { problem } = await ask(PROFILE);
    assert.equal((problem as { code: string }).code, 'internal');
    assert.deepEqual(readdirSync(folder), []);
  });
});
