import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { buildEngine, ENGINE } from '../tools/build.js';
import { withMachine } from './engine_machine.ts';

const MACHINE = { vcpus: 8, files: 1_048_576, addresses: ['10.0.0.5'] };
const added = (words: string, machine: Partial<typeof MACHINE> = {}) =>
  withMachine(words.split(' '), { ...MACHINE, ...machine })
    .join(' ')
    .slice(words.length)
    .trim();

describe('engine on an instance', () => {
  it('has a process for each vCPU', () => {
    assert.equal(added('--desktops 5000 --rate 100'), '--processes 8');
    assert.equal(added('--desktops 5000 --sitting', { vcpus: 1 }), '--processes 1');
  });

  it('has fewer when there is less to do than vCPUs', () => {
    for (const [words, processes] of [
      ['--desktops 7 --rate 1', 7],
      ['--desktops 8 --rate 1', 8],
      ['--desktops 9 --rate 1', 8],
      ['--desktops 5 --sitting', 5],
      ['--desktops 5000 --rate 1 --senders 3', 3],
      ['--desktops 5000 --rate 1 --throw-connections=2', 2],
      ['--desktops 1000 --rate 1 --mix sitting=999,throwing=1', 1],
      ['--desktops 1000 --sitting --mix sitting=999,slow=1', 8],
      ['--desktops 5000 --in-flight 4', 4],
    ] as const) {
      assert.equal(added(words), `--processes ${processes}`, words);
    }
  });

  it('keeps the processes and sources that the load names', () => {
    assert.equal(added('--desktops 10 --processes 3'), '');
    assert.equal(added('--sources 10.0.0.9 --processes=3', { addresses: ['10.0.0.5', '10.0.0.6'] }), '');
  });

  it('leaves the number to the engine when so few could not open all connections', () => {
    const words = '--desktops 1000 --rate 1 --senders 1000';
    assert.equal(added(words, { vcpus: 2, files: 1000 + 2 + 64 }), '--processes 2');
    assert.equal(added(words, { vcpus: 2, files: 1000 + 2 + 64 - 1 }), '');
    const sockets = `${words} --transport socket`; // a connection each
    assert.equal(added(sockets, { vcpus: 2, files: 500 + 2 + 64 }), '--processes 2');
    assert.equal(added(sockets, { vcpus: 2, files: 500 + 2 + 64 - 1 }), '');
  });

  it('connects from every address when there are several', () => {
    assert.equal(
      added('--desktops 100000 --sitting', { addresses: ['10.0.0.5', '10.0.0.6', '10.0.0.7'] }),
      '--processes 8 --sources 10.0.0.5,10.0.0.6,10.0.0.7',
    );
    assert.equal(added('--desktops 10 --sitting', { addresses: [] }), '--processes 8');
  });

  it('is accepted by the engine, whatever the load', { skip: buildEngine() ?? false }, () => {
    for (const words of [
      '--desktops 3 --rate 1',
      '--desktops 9 --sitting',
      '--desktops 20 --in-flight 5',
      '--desktops 50 --rate 1 --mix slow=9,throwing=1',
    ]) {
      const flags = withMachine(['--api', '127.0.0.1:1', ...words.split(' ')], {
        ...MACHINE,
        addresses: ['127.0.0.1', '127.0.0.2'],
      });
      const { status, stderr } = spawnSync(ENGINE, flags, { encoding: 'utf8' });
      assert.match(stderr, /cannot reach a relay/);
      assert.equal(status, 1, stderr);
    }
  });
});
