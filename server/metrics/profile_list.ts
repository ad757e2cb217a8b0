/**
 * The functions of a recorded profile, or of two, as a list: how much of the time each had itself, and with what it called.
 *
 * Reads what `admin profile cpu`, `profile threads` and `perf script` write. Shares are those of a thread's whole time, so profiles of
 * different lengths can be compared; threads of one name count as one, so those of different processes can.
 */
import { readPerfScript } from './perf_script.ts';
import { type CpuProfile, SpeedscopeFile } from './speedscope.ts';

export interface SampledFile {
  shared: { frames: { name: string; file?: string; line?: number }[] };
  profiles: { name: string; samples: number[][]; weights: number[] }[];
}

/** A function of a thread, with shares of the thread's time. */
export interface ProfiledFunction {
  /** `main thread · write (mailboxes.ts:249)` */
  readonly key: string;
  readonly thread: string;
  readonly name: string;
  readonly file?: string;
  readonly line?: number;
  own: number;
  whole: number;
  /** What it calls, by key, with the share within that. */
  readonly callees: Map<string, number>;
}

export interface ListedFunction {
  /** The key of the function. */
  readonly name: string;
  readonly own: number;
  readonly whole: number;
  /** Its share of its own in the other profile; undefined without one. */
  readonly before?: number;
}

/** Reads a profile. Throws Error, a sentence, when the text is none. */
export function readProfile(text: string): SampledFile {
  const native = readPerfScript(text);
  if (native !== undefined) return sampled(native);
  let parsed: Partial<CpuProfile & SampledFile> | null;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error('it is neither JSON nor what perf script prints of a recording with -e cpu-clock');
  }
  if (Array.isArray(parsed?.profiles) && Array.isArray(parsed.shared?.frames)) return parsed as SampledFile;
  if (!Array.isArray(parsed?.nodes) || !Array.isArray(parsed.samples)) {
    throw new Error('it is neither a .cpuprofile nor a .speedscope.json');
  }
  const file = new SpeedscopeFile('');
  file.addCpuProfile('main thread', 0, parsed as CpuProfile);
  return sampled(file);
}

const sampled = (file: SpeedscopeFile): SampledFile => JSON.parse([...file.text()].join(''));

/** The functions with most time of their own, at most `max`; beside another profile, those that have changed most. */
export function listFunctions(profile: SampledFile, max: number, before?: SampledFile): ListedFunction[] {
  const functions = functionsOf(profile);
  if (before === undefined) {
    const all = Array.from(functions, ([name, { own, whole }]) => ({ name, own, whole }));
    return all.sort((a, b) => b.own - a.own).slice(0, max);
  }
  const earlier = functionsOf(before);
  const names = new Set([...functions.keys(), ...earlier.keys()]);
  const all = Array.from(names, (name) => {
    const { own = 0, whole = 0 } = functions.get(name) ?? {};
    return { name, own, whole, before: earlier.get(name)?.own ?? 0 };
  });
  return all.sort((a, b) => Math.abs(b.own - b.before) - Math.abs(a.own - a.before)).slice(0, max);
}

/** Each function of each thread, by its name in the list. */
export function functionsOf({ shared: { frames }, profiles }: SampledFile): Map<string, ProfiledFunction> {
  const functions = new Map<string, ProfiledFunction>();
  const functionOf = (thread: string, { name, file, line }: SampledFile['shared']['frames'][number]) => {
    const at = line === undefined ? '' : `:${line}`;
    const place = file === undefined ? '' : ` (${file.slice(file.lastIndexOf('/') + 1)}${at})`;
    const key = `${thread} · ${name}${place}`;
    const known = functions.get(key);
    if (known !== undefined) return known;
    const added = { key, thread, name, file, line, own: 0, whole: 0, callees: new Map<string, number>() };
    functions.set(key, added);
    return added;
  };
  const times = new Map<string, number>();
  for (const { name, weights } of profiles) {
    const thread = withoutId(name);
    times.set(
      thread,
      weights.reduce((total, weight) => total + weight, times.get(thread) ?? 0),
    );
  }
  for (const { name, samples, weights } of profiles) {
    const thread = withoutId(name);
    const time = times.get(thread) || 1;
    for (const [index, stack] of samples.entries()) {
      const called = stack.map((frame) =>
        functionOf(thread, { ...frames[frame], name: withoutId(frames[frame].name) }),
      );
      addSample(called, weights[index] / time);
    }
  }
  return functions;
}

/** A thread's name without its number, which is another one in each process. */
const withoutId = (name: string) => name.replace(/ \(\d+\)$/, '');

function addSample(stack: readonly ProfiledFunction[], share: number): void {
  const last = stack.at(-1);
  if (last !== undefined) last.own += share;
  // A function that calls itself counts once.
  for (const called of new Set(stack)) called.whole += share;
  const calls = new Set<string>();
  for (const [depth, { key }] of stack.entries()) {
    const caller = stack[depth - 1];
    if (caller === undefined || calls.has(`${caller.key}\n${key}`)) continue;
    calls.add(`${caller.key}\n${key}`);
    caller.callees.set(key, (caller.callees.get(key) ?? 0) + share);
  }
}
