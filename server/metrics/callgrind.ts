/**
 * A profile, or two beside each other, in callgrind's format, which KCachegrind and `callgrind_annotate` read.
 *
 * Shape   costs are µs of each second of a thread, now and earlier. What the format calls an object file is a thread; callgrind_annotate
 *         adds up functions of one name, so the name has the thread too. Calls are not counted.
 * Source  https://valgrind.org/docs/manual/cl-format.html
 */
import { functionsOf, type ProfiledFunction, type SampledFile } from './profile_list.ts';

export function* callgrindOf(profile: SampledFile, before?: SampledFile): Generator<string> {
  const columns = [profile, ...(before === undefined ? [] : [before])].map(functionsOf);
  const all = new Map<string, ProfiledFunction>(columns.toReversed().flatMap((functions) => [...functions]));
  const costs = (share: (functions: Map<string, ProfiledFunction>) => number | undefined) =>
    columns.map((functions) => Math.round((share(functions) ?? 0) * 1e6)).join(' ');
  yield `# callgrind format\nversion: 1\ncreator: sprites\npositions: line\nevents: ${before ? 'Now Earlier' : 'Now'}\n`;
  yield `summary: ${costs((functions) => sumOf(functions))}\n`;
  for (const [key, { thread, name, file = '', line = 0 }] of all) {
    yield `\nob=${thread}\nfl=${file}\nfn=${thread} · ${name}\n${line} ${costs((functions) => functions.get(key)?.own)}\n`;
    const callees = new Set(columns.flatMap((functions) => [...(functions.get(key)?.callees.keys() ?? [])]));
    for (const callee of callees) {
      const { name, file = '', line: at = 0 } = all.get(callee) as ProfiledFunction;
      const within = costs((functions) => functions.get(key)?.callees.get(callee));
      yield `cfi=${file}\ncfn=${thread} · ${name}\ncalls=1 ${at}\n${line} ${within}\n`;
    }
  }
}

function sumOf(functions: Map<string, ProfiledFunction>): number {
  let sum = 0;
  for (const { own } of functions.values()) sum += own;
  return sum;
}
