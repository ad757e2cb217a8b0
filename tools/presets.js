/**
 * The flags of V8 a relay runs with: a preset by the machine's memory and the front, and what an operator's own change.
 *
 * Plain JavaScript, for the launcher needs it under any Node. Pure: whoever calls says how much memory there is. The
 * operator's flags win; a preset never adds one that would make them abort. v8-patches/README.md has the measurements.
 */

/**
 * The old space's share of the machine's memory: what the portable front's polls need of it when four fifths of all are
 * full of polls (some 10 KB of heap in 24 KB of memory each), and a tenth to spare.
 */
const OLD_SPACE_SHARE = 3 / 8;

/** A heap below this is refused, in MiB: V8 aborts below some 12 while it starts, and the relay's own code takes 30. */
export const HEAP_MIB_LEAST = 64;

/** Each flag that V8 reads as a number of MiB and that decides how large the heap may get. */
const HEAP_SIZES = ['max-heap-size', 'max-old-space-size', 'max-semi-space-size'];

/** Flags of older V8s that people still carry along, and what became of them. */
const GONE = {
  'nouse-idle-notification': 'idle notifications are gone from V8; leave it out',
  'use-idle-notification': 'idle notifications are gone from V8; leave it out',
  'scavenger-max-new-space-capacity-mb': 'use --max-semi-space-size',
  'huge-max-old-generation-size': 'use --max-old-space-size',
};

/** Always: POST /admin/gc needs the first, and the site strips its types with node:module. */
const ALWAYS = ['--expose-gc', '--disable-warning=ExperimentalWarning'];

/**
 * The preset's name and flags, without those the operator names himself.
 *
 * Shape   `flags` come before the operator's on the command line; `why` is a sentence for people.
 */
export function presetFor(memoryMiB, front, own = []) {
  const { name, flags, why } = sized(memoryMiB, front);
  const named = new Set(own.map(nameOf));
  // All three heap sizes together abort; one of the operator's own means that he sizes the heap.
  const ownHeap = named.has('max-heap-size') || named.has('max-old-space-size-percentage');
  const kept = [...flags, ...ALWAYS].filter(
    (flag) => !named.has(nameOf(flag)) && !(ownHeap && HEAP_SIZES.includes(nameOf(flag))),
  );
  return { name, flags: kept, why };
}

function sized(memoryMiB, front) {
  const memory = `${Math.round(memoryMiB / 1024)} GiB`;
  if (front === 'native') {
    return { name: 'native front', flags: [], why: 'its polls are not on the heap of V8, whose own sizes will do' };
  }
  return {
    name: `portable front, ${memory}`,
    flags: [`--max-old-space-size=${Math.round(memoryMiB * OLD_SPACE_SHARE)}`],
    why: 'its polls are objects on the heap of V8',
  };
}

/** Why Node can't run with these flags, or would abort with them later; undefined when it can. */
export function whyNot(flags) {
  const values = new Map(flags.map((flag) => [nameOf(flag), flag.slice(flag.indexOf('=') + 1)]));
  for (const name of values.keys()) {
    if (Object.hasOwn(GONE, name)) return `--${name} is no flag of this V8: ${GONE[name]}`;
  }
  const sizes = HEAP_SIZES.filter((name) => values.has(name));
  if (sizes.filter((name) => Number(values.get(name)) !== 0).length === HEAP_SIZES.length) {
    return `${sizes.map((name) => `--${name}`).join(', ')}: V8 aborts when all three are given; leave one out`;
  }
  for (const name of sizes) {
    const value = values.get(name);
    if (!/^\d+$/.test(value)) return `--${name}: must be a whole number of MiB, like --${name}=4096`;
    if (name !== 'max-semi-space-size' && Number(value) > 0 && Number(value) < HEAP_MIB_LEAST) {
      return `--${name}=${value}: the relay needs ${HEAP_MIB_LEAST} MiB at the least; V8 aborts when it runs out`;
    }
  }
  return undefined;
}

/** The flags in a variable such as SPRITES_NODE_FLAGS or NODE_OPTIONS. */
export function flagsIn(text = '') {
  return text.split(/\s+/).filter((flag) => flag !== '');
}

/** A flag's name: V8 takes dashes and underscores alike, and `no` before it. */
function nameOf(flag) {
  return flag.replace(/^-+/, '').replace(/=.*/s, '').replaceAll('_', '-');
}
