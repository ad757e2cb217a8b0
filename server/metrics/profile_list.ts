/**
 * The functions of a recorded profile, or of two, as a list: how much of the time each had itself, and with what it called.
 *
 * Reads what `admin profile cpu` and `profile threads` write. Shares are those of a thread's whole time, so profiles of different lengths
 * can be compared.
 */
import { type CpuProfile, SpeedscopeFile } from './speedscope.ts';

interface SampledFile {
  shared: { frames: { name: string; file?: string; line?: number }[] };
  profiles: { name: string; samples: number[][]; weights: number[] }[];
}

/** Of one function of one thread, as shares of the thread's time. */
interface Share {
  own: number;
  whole: number;
}

export interface ListedFunction extends Share {
  /** `main thread · write (mailboxes.ts:249)` */
  readonly name: string;
  /** Its share of its own in the other profile; undefined without one. */
  readonly before?: number;
}

/** Reads a profile. Throws Error, a sentence, when the text is none. */
export function readProfile(text: string): SampledFile {
  let parsed: Partial<CpuProfile & SampledFile> | null;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error('it is no JSON');
  }
  if (Array.isArray(parsed?.profiles) && Array.isArray(parsed.shared?.frames)) return parsed as SampledFile;
  if (!Array.isArray(parsed?.nodes) || !Array.isArray(parsed.samples)) {
    throw new Error('it is neither a .cpuprofile nor a .speedscope.json');
  }
  const file = new SpeedscopeFile('');
  file.addCpuProfile('main thread', 0, parsed as CpuProfile);
  return JSON.parse([...file.text()].join(''));
}

/** The functions with most time of their own, at most `max`; beside another profile, those that have changed most. */
export function listFunctions(profile: SampledFile, max: number, before?: SampledFile): ListedFunction[] {
  const shares = sharesOf(profile);
  if (before === undefined) {
    const all = Array.from(shares, ([name, share]) => ({ name, ...share }));
    return all.sort((a, b) => b.own - a.own).slice(0, max);
  }
  const earlier = sharesOf(before);
  const names = new Set([...shares.keys(), ...earlier.keys()]);
  const all = Array.from(names, (name) => {
    const { own = 0, whole = 0 } = shares.get(name) ?? {};
    return { name, own, whole, before: earlier.get(name)?.own ?? 0 };
  });
  return all.sort((a, b) => Math.abs(b.own - b.before) - Math.abs(a.own - a.before)).slice(0, max);
}

function sharesOf({ shared: { frames }, profiles }: SampledFile): Map<string, Share> {
  const shares = new Map<string, Share>();
  for (const { name: thread, samples, weights } of profiles) {
    const sum = weights.reduce((total, weight) => total + weight, 0);
    if (sum === 0) continue;
    const add = (frame: number, part: 'own' | 'whole', weight: number) => {
      const { name, file, line } = frames[frame];
      const place = file === undefined ? '' : ` (${file.slice(file.lastIndexOf('/') + 1)}:${line})`;
      const key = `${thread} · ${name}${place}`;
      const share = shares.get(key) ?? { own: 0, whole: 0 };
      share[part] += weight / sum;
      shares.set(key, share);
    };
    for (const [index, stack] of samples.entries()) {
      const last = stack.at(-1);
      if (last !== undefined) add(last, 'own', weights[index]);
      // A function that calls itself counts once.
      for (const frame of new Set(stack)) add(frame, 'whole', weights[index]);
    }
  }
  return shares;
}
