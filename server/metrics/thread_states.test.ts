import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { SpeedscopeFile } from './speedscope.ts';
import { syscallName } from './syscalls.ts';
import { ThreadStates } from './thread_states.ts';

const skip = process.platform === 'linux' ? false : 'needs /proc of Linux';

/** The threads of this name, as folders of /proc. */
function threadsOf(name: string): string[] {
  const threads = readdirSync('/proc/self/task').map((thread) => `/proc/self/task/${thread}`);
  return threads.filter((thread) => {
    try {
      return readFileSync(`${thread}/comm`, 'utf8').trim() === name;
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

/** The system calls in which the threads of this name wait. */
function callsOf(name: string): string[] {
  return threadsOf(name).map((thread) => syscallName(Number.parseInt(readFileSync(`${thread}/syscall`, 'utf8'), 10)));
}

describe('the states of threads', { skip }, () => {
  let sleeper: Worker;
  before(async () => {
    sleeper = new Worker('require("node:worker_threads").parentPort.on("message", () => {})', {
      eval: true,
      name: 'sleeper',
    });
    await new Promise((resolve) => sleeper.once('online', resolve));
    while (!callsOf('sleeper').some((call) => call.startsWith('epoll_'))) await new Promise(setImmediate);
  });
  after(() => sleeper.terminate());

  const profilesOf = (states: ThreadStates) => {
    const file = new SpeedscopeFile('test');
    states.addTo(file);
    const { profiles, shared } = JSON.parse([...file.text()].join(''));
    return profiles.map((profile: { name: string; samples: number[][]; weights: number[]; startValue: number }) => ({
      ...profile,
      stacks: profile.samples.map((stack) => stack.map((frame) => shared.frames[frame].name)),
    }));
  };

  it('say that this thread runs, and in which call another one sleeps', async () => {
    const states = new ThreadStates(100, 0, () => false);
    for (let i = 1; i <= 100; i++) states.sample(10 * i);
    states.close();
    const profiles = profilesOf(states);
    const main = profiles.find(({ name }: { name: string }) => name.endsWith(`(${process.pid})`));
    assert.deepEqual(main.stacks[0].slice(1), ['running, or ready to run']);
    assert.equal(
      main.weights.reduce((sum: number, weight: number) => sum + weight, 0),
      1000,
    );
    const other = profiles.find(({ name }: { name: string }) => name.startsWith('sleeper'));
    assert.match(other.stacks.join('\n'), /,sleeping,epoll_(p?wait2?)/);
  });

  it('keep at most as many samples as were asked for', () => {
    const states = new ThreadStates(3, 0, () => false);
    for (let i = 1; i <= 5; i++) states.sample(i);
    assert.ok(states.isFull);
    states.close();
    for (const { weights } of profilesOf(states)) {
      assert.equal(
        weights.reduce((sum: number, weight: number) => sum + weight, 0),
        3,
      );
    }
  });

  it('leave out the thread that samples, and keep no file open', () => {
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    const states = new ThreadStates(10, 0, (name) => name === 'sleeper');
    states.sample(1);
    assert.ok(open() > before);
    states.close();
    assert.equal(open(), before);
    assert.ok(!profilesOf(states).some(({ name }: { name: string }) => name.startsWith('sleeper')));
  });

  it('sample as many threads as the limit says, and count one more', () => {
    const count = readdirSync('/proc/self/task').length;
    for (const [limit, left] of [
      [count + 1, 0],
      [count, 0],
      [count - 1, 1],
    ]) {
      const states = new ThreadStates(1, 0, () => false, limit);
      states.sample(1);
      states.close();
      assert.deepEqual([profilesOf(states).length, states.left], [Math.min(limit, count), left]);
    }
  });

  it('go on when a thread has ended', async () => {
    const short = new Worker('setTimeout(() => {}, 1e6)', { eval: true, name: 'short' });
    await new Promise((resolve) => short.once('online', resolve));
    const states = new ThreadStates(10, 0, () => false);
    states.sample(10);
    await short.terminate();
    // The system still lists a thread for a moment after its end.
    while (threadsOf('short').length > 0) await new Promise(setImmediate);
    for (let i = 2; i <= 5; i++) states.sample(10 * i);
    states.close();
    const profile = profilesOf(states).find(({ name }: { name: string }) => name.startsWith('short'));
    assert.deepEqual(profile.weights, [10]);
  });
});

describe('the names of system calls', () => {
  it('are those of the architecture', () => {
    assert.equal(syscallName(232, 'x64'), 'epoll_wait');
    assert.equal(syscallName(22, 'arm64'), 'epoll_pwait');
    assert.equal(syscallName(9999, 'x64'), 'system call 9999');
    assert.equal(syscallName(1, 'riscv64'), 'system call 1');
  });
});
