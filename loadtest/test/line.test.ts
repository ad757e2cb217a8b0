/** The line of line.py: what is sent through it is late, each packet for itself, and some of it is lost. */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';

const PROGRAM = join(import.meta.dirname, 'line.py');
/** Of this run alone: another one may be on its way. */
const NAME = `l${process.pid}`;
const DATAGRAMS = 400;
const PORT = 7000;
/** Without a datagram for so long, in ms, none comes any more: far more than the delay there and back, also on a busy machine. */
const QUIET_MS = 2000;

/** Sends what arrives back. */
const ECHO = `const socket = require('node:dgram').createSocket('udp4', (text, { address, port }) => socket.send(text, port, address));
  socket.bind(${PORT}, () => console.log('ready'));`;

/** Sends numbers, and prints after how many ms each came back, in the order in which they came. */
const ASK = `const sentMs = [], came = [];
  let lastMs = 0;
  const socket = require('node:dgram').createSocket('udp4', (text) => {
    lastMs = performance.now();
    came.push([Number(text), lastMs - sentMs[text]]);
  });
  socket.connect(${PORT}, '10.77.0.1', () => {
    const timer = setInterval(() => {
      if (sentMs.length < ${DATAGRAMS}) socket.send(String(sentMs.push(performance.now()) - 1));
      else if (performance.now() - Math.max(lastMs, sentMs.at(-1)) > ${QUIET_MS}) { console.log(JSON.stringify(came)); clearInterval(timer); socket.close(); }
    }, 2);
  });`;

function whyNot(): string | false {
  if (process.getuid?.() !== 0) return 'namespaces want root';
  if (
    [
      ['python3', '--version'],
      ['ip', 'netns'],
    ].some(([program, word]) => spawnSync(program, [word]).status !== 0)
  )
    return 'python3 or ip is missing';
  try {
    accessSync('/dev/net/tun', constants.R_OK | constants.W_OK);
    return false;
  } catch {
    return 'there is no /dev/net/tun';
  }
}

const namespaces = () => execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' });

describe('the line', { skip: whyNot(), timeout: 60_000 }, () => {
  const line = { end: async () => '' };
  const within = (end: number, script: string) => ['netns', 'exec', `${NAME}-${end}`, process.execPath, '-e', script];
  before(async () => {
    const options = ['--name', NAME, '--delay', '40', '--jitter', '10', '--loss', '5', '--seed', '7'];
    const child = spawn('python3', [PROGRAM, ...options], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines: string[] = [];
    const output = createInterface(child.stdout).on('line', (text) => lines.push(text));
    const ended = once(child, 'close');
    line.end = async () => {
      child.stdin.end();
      await ended;
      return lines.at(-1) ?? '';
    };
    await Promise.race([once(output, 'line'), ended]);
    assert.match(lines[0] ?? '', /^The line is there, with the seed 7\.$/);
  });
  after(async () => {
    await line.end();
    assert.ok(!namespaces().includes(NAME), 'nothing is left of it');
  });

  it('carries each datagram at its own time, never earlier than the delay allows, and loses some', async () => {
    const echo = spawn('ip', within(1, ECHO), { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(echo.stdout, 'data');
      const came: [number, number][] = JSON.parse(execFileSync('ip', within(2, ASK), { encoding: 'utf8' }));
      assert.ok(
        came.every(([, ms]) => ms >= 60),
        `${Math.min(...came.map(([, ms]) => ms))} ms`,
      );
      assert.ok(
        came.some(([number], i) => i > 0 && number < came[i - 1][0]),
        'some overtake others',
      );
      // Of 400 there and back, 39 are lost on average; less than 10 or more than 80 are none of a billion runs.
      assert.ok(came.length < DATAGRAMS - 10 && came.length > DATAGRAMS - 80, `${came.length} came back`);
    } finally {
      echo.kill();
    }
    const second = spawnSync('python3', [PROGRAM, '--name', NAME], { encoding: 'utf8' });
    assert.match(second.stderr, /Cannot create namespace/);
    assert.ok(namespaces().includes(`${NAME}-1`), 'a line deletes only what it has made');
    const [, sent, lost] = /^(\d+) packets, (\d+) of them lost;/.exec(await line.end()) ?? [];
    assert.ok(Number(sent) > DATAGRAMS && Number(lost) >= 10, `${sent} sent, ${lost} lost`);
  });
});
