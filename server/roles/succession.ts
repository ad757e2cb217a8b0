/**
 * The succession: the next process of a relay loads while this one serves, and goes on when this one has given way.
 *
 *     this process       'replace' ────▶ launcher, which starts the next one
 *     the next one       has loaded all that needs neither the journal nor a port: 'prepared' ────▶ launcher ────▶ this process
 *     this process       'open' ────▶ the next one, which listens on the port of the API beside this one: 'opened'
 *     this process       accepts no more connections, and has closed its journal: 'left' ────▶ launcher
 *     launcher           'go' ────▶ the next one, which reads the journal, and accepts who waits: 'ready' ────▶ this process
 *     this process       tells its desktops to come back, and ends
 *
 * A next one that can't listen beside this one says 'unopened'; or nothing, because it or the launcher is of an earlier version. Then this
 * process ends first, and the launcher says 'go' when it has.
 *
 * Invariant: the journal has one writer, by the kernel's lock; the messages only say when to try. What fails before this process stops
 * changes nothing: the launcher says 'failed', and this one serves on. What fails later is a start like any other.
 */
import cluster from 'node:cluster';

/** Set by a launcher that can do this (tools/supervise.js): `offered`, and `next` for the next process. */
const role = cluster.isPrimary ? process.env.SPRITES_SUCCESSION : undefined;

/** How long the next process may take to listen, in ms: a hundred times what it takes. */
const OPENED_MS_MAX = 1_000;

/** How long it may take to read the journal, in ms: five times what two million desktops take. */
const READY_MS_MAX = 60_000;

/** Whether another process of this relay may serve yet. */
export const isNext = role === 'next';

/** Whether the launcher can start the next process beside this one. */
export const hasSuccession = (): boolean => role !== undefined && process.connected;

/** Resolves with the first of these words that the launcher says; rejects when it has ended, or says none within `ms`. */
function hear(words: readonly string[], ms?: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      clearTimeout(limit);
      process.off('message', listen).off('disconnect', leave);
      done();
    };
    const listen = (word: unknown) => {
      if (words.includes(word as string)) settle(() => resolve(word as string));
    };
    const fail = (why: string) => settle(() => reject(new Error(why)));
    const leave = () => fail('the launcher has ended');
    const limit = ms === undefined ? undefined : setTimeout(fail, ms, 'the launcher has not answered in time');
    process.on('message', listen).once('disconnect', leave);
    if (!process.connected) leave();
  });
}

function say(word: string): void {
  process.send?.(word, undefined, undefined, () => {});
}

/** Says a word; resolves to whether the answer is `good`, not another of `answers`, and not silence. */
async function ask(word: string, good: string, answers: readonly string[], ms?: number): Promise<boolean> {
  const answer = hear([good, ...answers], ms).catch(() => undefined);
  say(word);
  return (await answer) === good;
}

/** Has the next process started. Resolves, when it has loaded, to true; to false when it has ended, or the launcher has. */
export const prepareNext = (): Promise<boolean> => ask('replace', 'prepared', ['failed']);

/** Resolves to whether the next process listens beside this one from now on. */
export const openNext = (): Promise<boolean> => ask('open', 'opened', ['unopened', 'failed'], OPENED_MS_MAX);

/** The journal is the next process's now. Resolves to whether that is ready. */
export const leaveToNext = (): Promise<boolean> => ask('left', 'ready', ['failed'], READY_MS_MAX);

/**
 * This process has loaded. Resolves when it is to go on, to whether it listens already. `listen`: listens beside the process before; false when it
 * can't. Throws Error when its launcher has ended: nobody would end this process.
 */
export async function waitForTurn(listen: false | (() => Promise<void>)): Promise<boolean> {
  if (!isNext) return false;
  const word = hear(['open', 'go']);
  say('prepared');
  if ((await word) === 'go') return false;
  const turn = hear(['go']);
  // What keeps it from listening now is said when it opens its ports.
  const listens =
    listen !== false &&
    (await listen().then(
      () => true,
      () => false,
    ));
  say(listens ? 'opened' : 'unopened');
  await turn;
  return listens;
}
