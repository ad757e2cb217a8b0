/**
 * Native stacks of every thread, of V8, libuv and the front: what `perf script` prints of a recording with `-e cpu-clock -g`.
 *
 * Such a sample is a thread on a core. Whatever is missing to the time of the whole recording, the thread was not on one.
 * Source  perf-script(1): a line for each sample, its stack from the inside out, an empty line.
 */
import { SpeedscopeFile } from './speedscope.ts';

/** Thread, its id, time in s, period in ns. */
const SAMPLE = /^(\S.*?) +(?:\d+\/)?(\d+) +(?:\[\d+\] +)?(\d+\.\d+): +(\d+) +(?:cpu|task)-clock\b/;
/** The function, and the file that has it. */
const FRAME = /^\s+[0-9a-f]+ (.+) \(([^()]*)\)$/;
const OFFSET = /\+0x[0-9a-f]+$/;
/** Where V8 has the machine code that it makes. */
const MADE_BY_V8 = /^\/\/anon$|^\[anon\b|\/perf-\d+\.map$/;

interface Thread {
  name: string;
  stacks: number[][];
  weightsMs: number[];
}

/** Returns undefined when the text has no sample of a clock. */
export function readPerfScript(text: string): SpeedscopeFile | undefined {
  const file = new SpeedscopeFile('perf');
  const threads = new Map<string, Thread>();
  const timesMs: number[] = [];
  for (const block of text.split(/\n\s*\n/)) {
    const [head, ...lines] = block.replace(/^(?:#.*\n|\n)*/, '').split('\n');
    const [, name, id, seconds, periodNs] = SAMPLE.exec(head) ?? [];
    if (name === undefined) continue;
    const thread = threads.get(id) ?? { name: `${name} (${id})`, stacks: [], weightsMs: [] };
    threads.set(id, thread);
    const frames = lines.map((line) => FRAME.exec(line)).filter((frame) => frame !== null);
    const stack = frames.map(([, symbol, from]) =>
      file.frame(MADE_BY_V8.test(from) ? { name: '(JavaScript)' } : { name: symbol.replace(OFFSET, ''), file: from }),
    );
    thread.stacks.push(stack.reverse());
    thread.weightsMs.push(Number(periodNs) / 1e6);
    timesMs.push(Number(seconds) * 1000);
  }
  if (timesMs.length === 0) return undefined;
  const fromMs = timesMs.reduce((first, time) => Math.min(first, time));
  const wholeMs = timesMs.reduce((last, time) => Math.max(last, time)) - fromMs;
  const elsewhere = [file.frame({ name: '(not on a core)' })];
  for (const { name, stacks, weightsMs } of threads.values()) {
    const onCoreMs = weightsMs.reduce((sum, weight) => sum + weight, 0);
    stacks.push(elsewhere);
    file.add(name, 0, [...weightsMs, Math.max(0, wholeMs - onCoreMs)], (i) => stacks[i]);
  }
  return file;
}
