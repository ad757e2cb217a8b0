/** The supervision of the relay: when it is started again, how soon, and how often. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DEATHS_MAX, EXIT_RESTART, pauseAfter, RESTART_MS, RESTART_MS_MAX } from './supervise.js';

const died = { code: null, wasReady: true, wasTold: false, deaths: 1 };

describe('the pause before a relay is started again', () => {
  it('doubles with each death in a row, up to its limit, until there were too many', () => {
    const pauses = Array.from({ length: DEATHS_MAX + 1 }, (_, n) => pauseAfter({ ...died, deaths: n + 1 }));
    assert.deepEqual(pauses.slice(0, 3), [RESTART_MS, 2 * RESTART_MS, 4 * RESTART_MS]);
    assert.equal(pauses[DEATHS_MAX - 1], RESTART_MS_MAX);
    assert.equal(pauses[DEATHS_MAX], undefined);
  });

  it('is none at all for one that was never ready, was told to stop, or stopped by itself', () => {
    assert.equal(pauseAfter({ ...died, code: 1, wasReady: false }), undefined);
    assert.equal(pauseAfter({ ...died, wasTold: true }), undefined);
    assert.equal(pauseAfter({ ...died, code: 0 }), undefined);
  });

  it('is 0 when the relay asks for it', () => {
    assert.equal(pauseAfter({ ...died, code: EXIT_RESTART, deaths: DEATHS_MAX + 1 }), 0);
    assert.equal(pauseAfter({ ...died, code: EXIT_RESTART, wasReady: false }), 0);
  });
});

/** Code with which the pauses of a supervisor never end by themselves. */
const ENDLESS_PAUSES = 'globalThis.setTimeout = () => setInterval(() => {}, 1000);';

/**
 * Runs a supervisor whose program is `script`; `before` is code of its own process. `shell`: as the child of a shell, as npm does.
 *
 * What it says goes the way of what its program prints, so it is read in the order in which it was written.
 */
function supervised(script: string, before = '', shell = false): ChildProcess & { text: string } {
  const module = join(import.meta.dirname, 'supervise.js');
  const args = ['--input-type=module', '-e', script];
  const own = `import { supervise } from ${JSON.stringify(module)};${before}
    supervise(process.execPath, ${JSON.stringify(args)}, (code) => process.exit(code ?? 1), { say: console.log, endsWithParent: ${shell} });`;
  const command = [process.execPath, '--input-type=module', '-e', own];
  const [file, ...rest] = shell ? ['sh', '-c', '"$@" & wait', 'sh', ...command] : command;
  const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const result = Object.assign(child, { text: '' });
  const add = (chunk: Buffer) => {
    result.text += chunk;
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return result;
}

async function sees(child: { text: string }, pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = pattern.exec(child.text);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const SHELL = { skip: process.platform === 'win32' && 'needs a shell' };
const BOUNDED = { timeout: 300_000 } as const;
const READY = "process.send('ready'); console.log('pid=' + process.pid + ';'); setInterval(() => {}, 1000);";

describe('a supervised program', BOUNDED, () => {
  it('is started again when it is killed, and this is said', async (t) => {
    const child = supervised(READY);
    t.after(() => child.kill('SIGKILL'));
    const [, pid] = await sees(child, /pid=(\d+);/);
    process.kill(Number(pid), 'SIGKILL');
    await sees(child, /The relay died \(SIGKILL\); starting it again in 0\.5 s\.[\s\S]*pid=\d+;/);
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it('is not started again when it never was ready', async () => {
    const child = supervised('process.exit(1)');
    const [code] = await once(child, 'close'); // when all that it printed has been read
    assert.equal(code, 1);
    assert.equal(child.text, '');
  });

  it('is not started again when it was killed before it was ready, and this is said', async () => {
    const child = supervised("process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);");
    const [code] = await once(child, 'close'); // when all that it printed has been read
    assert.equal(code, 1);
    assert.match(child.text, /^The relay was killed \(SIGKILL\) before it was ready; .*memory.*\n$/);
  });

  it('is not waited for when its supervisor is told to stop between two starts', async (t) => {
    const child = supervised("process.send('ready', () => process.exit(3));", ENDLESS_PAUSES);
    t.after(() => child.kill('SIGKILL'));
    await sees(child, /The relay died \(exit code 3\); starting it again/);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [3, null]);
  });

  it('is stopped, or started again, by a signal that comes before it has a handler', SHELL, async (t) => {
    const child = supervised("console.log('pid=' + process.pid + ';'); setInterval(() => {}, 1000);");
    t.after(() => child.kill('SIGKILL'));
    await sees(child, /pid=\d+;/);
    child.kill('SIGUSR2');
    await sees(child, /started again, as it was told[\s\S]*pid=\d+;/);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  /** Asks for its successor; says what it is told, and ends when that has loaded. `next` is what the successor does. */
  const replaced = (next: string) => `
    console.log(process.env.SPRITES_SUCCESSION + ' pid=' + process.pid + ';');
    process.on('message', (word) => {
      console.log(process.pid + ' is told ' + word + ';');
      if (word === 'prepared') process.exit(${EXIT_RESTART});
      if (word === 'go') process.send('ready');
    });
    if (process.env.SPRITES_SUCCESSION === 'offered') {
      process.send('ready');
      process.send('replace');
      process.send('replace');
    } else { ${next} }`;
  const PREPARED = "process.send('prepared');";

  it('is followed by one that has loaded beside it, when it asks for that, however often', async (t) => {
    const child = supervised(replaced(PREPARED));
    t.after(() => child.kill('SIGKILL'));
    const [, first, second] = await sees(child, /offered pid=(\d+);\s+next pid=(\d+);[\s\S]*\2 is told go;/);
    assert.ok(child.text.indexOf(`${first} is told prepared;`) < child.text.indexOf(`${second} is told go;`));
    assert.doesNotMatch(child.text, /next pid[\s\S]*next pid|died|started again/);
    child.kill('SIGTERM');
    await once(child, 'exit');
    assert.ok(!isAlive(Number(second)));
  });

  it('is followed by one that listens beside it, as soon as it has left, and ends by itself', async (t) => {
    const leaving = (goes: string) => `
      const name = process.env.SPRITES_SUCCESSION === 'next' ? 'second' : 'first';
      console.log(name + ' pid=' + process.pid + ';');
      const answers = name === 'second' ? { open: 'opened' } : { prepared: 'open', opened: 'left' };
      process.on('message', (word) => {
        console.log(name + ' hears ' + word + ';');
        if (answers[word]) process.send(answers[word]);
        if (word === 'go') { ${goes} }
        if (word === 'ready' || word === 'failed') process.exit(${EXIT_RESTART});
      });
      process.on('SIGTERM', () => process.exit(0));
      process.send(name === 'second' ? 'prepared' : 'ready', () => name === 'first' && process.send('replace'));`;
    const child = supervised(leaving("process.send('ready');"));
    t.after(() => child.kill('SIGKILL'));
    const [, first] = await sees(child, /first pid=(\d+);/);
    await sees(child, /first hears ready;/);
    const heard = [...child.text.matchAll(/(\w+) hears (\w+);/g)].map(([, name, word]) => [name, word]);
    assert.deepEqual(heard, [
      ['first', 'prepared'],
      ['second', 'open'],
      ['first', 'opened'],
      ['second', 'go'],
      ['first', 'ready'],
    ]);
    while (isAlive(Number(first))) await new Promise((resolve) => setTimeout(resolve, 10));
    const [, second] = await sees(child, /second pid=(\d+);/);
    assert.ok(isAlive(Number(second)));
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    assert.ok(!isAlive(Number(second)));
    assert.doesNotMatch(child.text, /died|started again|too early/);

    const unlucky = supervised(leaving('process.exit(1);'));
    t.after(() => unlucky.kill('SIGKILL'));
    await sees(unlucky, /first hears failed;/);
    await sees(unlucky, /The relay died \(exit code 1\); starting it again/);
    unlucky.kill('SIGTERM');
    await once(unlucky, 'exit');
  });

  it('goes on when the next one ends while it loads, or does not get ready, and is told', async (t) => {
    const hurry = 'const later = setTimeout; globalThis.setTimeout = (act, ms) => later(act, ms > 60_000 ? 0 : ms);';
    for (const [next, before, why] of [
      ['process.exit(3);', '', 'exit code 3'],
      ['setInterval(() => {}, 1000);', hurry, 'SIGKILL'],
    ]) {
      const child = supervised(replaced(next), before);
      t.after(() => child.kill('SIGKILL'));
      await sees(child, /(\d+) is told failed;/);
      assert.match(child.text, new RegExp(`The next relay ended too early \\(${why}\\)\\.`));
      const [, first] = await sees(child, /offered pid=(\d+);/);
      assert.ok(isAlive(Number(first)));
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  });

  it('is followed by the next one when it dies while that loads', SHELL, async (t) => {
    const child = supervised(replaced(`process.once('SIGHUP', () => { ${PREPARED} }); console.log('loads;');`));
    t.after(() => child.kill('SIGKILL'));
    const [, first, second] = await sees(child, /offered pid=(\d+);\s+next pid=(\d+);\s+loads;/);
    process.kill(Number(first), 'SIGKILL');
    await sees(child, /The relay died \(SIGKILL\); the next one goes on\./);
    process.kill(Number(second), 'SIGHUP');
    await sees(child, new RegExp(`${second} is told go;`));
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it('ends with the next one when its supervisor is told to stop', async (t) => {
    const child = supervised(replaced('setInterval(() => {}, 1000);'));
    t.after(() => child.kill('SIGKILL'));
    const [, first, second] = await sees(child, /offered pid=(\d+);\s+next pid=(\d+);/);
    child.kill('SIGTERM');
    await once(child, 'exit');
    while (isAlive(Number(first)) || isAlive(Number(second))) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  it('is stopped by the signal that its supervisor gets', async () => {
    const child = supervised(`process.on('SIGTERM', () => process.exit(0)); ${READY}`);
    await sees(child, /pid=/);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('is stopped when the shell in which npm has started its supervisor ends', SHELL, async (t) => {
    const script = `process.on('SIGTERM', () => { console.log('told'); process.exit(0); }); ${READY}`;
    const shell = supervised(script, '', true);
    const closed = once(shell, 'close'); // when the supervisor has ended too
    const [, pid] = await sees(shell, /pid=(\d+);/);
    t.after(() => isAlive(Number(pid)) && process.kill(Number(pid), 'SIGKILL'));
    shell.kill('SIGTERM');
    await closed;
    assert.match(shell.text, /told/);
  });

  it('notices the death of its supervisor', async () => {
    const child = supervised(`process.on('disconnect', () => { console.log('alone'); process.exit(); }); ${READY}`);
    await sees(child, /pid=/);
    child.kill('SIGKILL');
    await sees(child, /alone/);
  });
});
