/**
 * The succession: the next process of a relay loads while this one serves, and goes on when this one has ended.
 *
 *     this process       'replace' ────▶ launcher, which starts the next one
 *     the next one       has loaded all that needs neither the journal nor a port: 'prepared' ────▶ launcher ────▶ this process, which stops
 *     launcher           this process has ended: 'go' ────▶ the next one, which reads the journal, and opens the ports
 *
 * Invariant: the journal has one writer, by the kernel's lock; the messages only say when to try. What fails before this process stops
 * changes nothing: the launcher says 'failed', and this one serves on. What fails later is a start like any other.
 */
import cluster from 'node:cluster';

/** Set by a launcher that can do this (tools/supervise.js): `offered`, and `next` for the next process. */
const role = cluster.isPrimary ? process.env.SPRITES_SUCCESSION : undefined;

/** Whether another process of this relay may serve yet. */
export const isNext = role === 'next';

/** Whether the launcher can start the next process beside this one. */
export const hasSuccession = (): boolean => role !== undefined && process.connected;

/** Resolves with the first of these words that the launcher says; rejects when it has ended. */
function hear(...words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      process.off('message', listen).off('disconnect', leave);
      done();
    };
    const listen = (word: unknown) => {
      if (words.includes(word as string)) settle(() => resolve(word as string));
    };
    const leave = () => settle(() => reject(new Error('the launcher has ended')));
    process.on('message', listen).once('disconnect', leave);
    if (!process.connected) leave();
  });
}

/** Has the next process started. Resolves, when it has loaded, to true; to false when it has ended, or the launcher has. */
export async function prepareNext(): Promise<boolean> {
  const answer = hear('prepared', 'failed').catch(() => 'failed');
  process.send?.('replace', undefined, undefined, () => {});
  return (await answer) === 'prepared';
}

/** This process has loaded. Resolves when it is to go on. Throws Error when its launcher has ended: nobody would end this process. */
export async function waitForTurn(): Promise<void> {
  if (!isNext) return;
  const turn = hear('go');
  process.send?.('prepared', undefined, undefined, () => {});
  await turn;
}
