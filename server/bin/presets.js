/**
 * The flags of V8 a relay runs with: a preset by the machine's memory and the front, and what an operator's own change.
 *
 * Plain JavaScript, for the launcher needs it under any Node. Pure: whoever calls says how much memory there is. The
 * operator's flags win; a preset never adds one that would make them abort. v8-patches/README.md has the measurements.
 */

/**
 * Heap sizes by machine, largest first: the least memory that counts as such a machine (one of 8 GB shows some 7.6 GiB),
 * and the old space in MiB. What is left is for sockets in the kernel, mailboxes, and the workers.
 */
const MACHINES = [
  { name: '64 GB', memoryMiBLeast: 56 * 1024, oldSpaceMiB: 16_384, semiSpaceMiB: 64 },
  { name: '16 GB', memoryMiBLeast: 14 * 1024, oldSpaceMiB: 6144, semiSpaceMiB: 64 },
  { name: '8 GB', memoryMiBLeast: 7 * 1024, oldSpaceMiB: 3072, semiSpaceMiB: 32 },
];

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
  if (front === 'native') {
    return { name: 'native front', flags: [], why: 'its polls are not on the heap of V8' };
  }
  const machine = MACHINES.find(({ memoryMiBLeast }) => memoryMiB >= memoryMiBLeast);
  const gigabytes = `${Math.round(memoryMiB / 1024)} GiB of memory`;
  if (!machine) return { name: 'portable front, small', flags: [], why: `V8's own sizes suit ${gigabytes}` };
  return {
    name: `portable front, ${machine.name}`,
    flags: [`--max-old-space-size=${machine.oldSpaceMiB}`, `--max-semi-space-size=${machine.semiSpaceMiB}`],
    why: `its polls are objects on the heap of V8; ${gigabytes}`,
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
