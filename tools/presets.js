/**
 * V8's flags for a relay: a preset by the machine's memory and the front, which an operator's own flags override.
 *
 * Plain JavaScript, because the launcher runs it under any Node. Pure: the caller passes the size of the memory. A preset never
 * adds a flag that makes V8 abort together with the operator's. v8-patches/README.md has the measurements.
 */

/**
 * The old space's share of the machine's memory. When polls of the portable front fill four fifths of the memory (24 KB each,
 * 10 KB of it on the heap), they need a third of it as heap; a tenth more is to spare.
 */
const OLD_SPACE_SHARE = 3 / 8;

/**
 * Half of the young space of the native front, in MiB. Its processes live on little memory, so that of a stranger's requests must not
 * become most of it: under a storm of connections a relay grew by 89 MiB with V8's own 32 MiB, and by 63 MiB with these.
 */
const NATIVE_SEMI_SPACE_MIB = 8;

/**
 * The native front's old space is collected when it has grown by this share, in percent. V8 lets a small heap grow severalfold: 20 s
 * of refused joins added 94 MiB to a relay of 129 MiB, and 29 MiB with this share. On the portable front, where each parked poll is
 * on the heap, it costs a fifth of the CPU.
 */
const NATIVE_HEAP_GROWING_PERCENT = 40;

/** A smaller heap is refused, in MiB: V8 aborts at the start below about 12, and the relay's own code takes 30. */
export const HEAP_MIB_LEAST = 64;

/** The flags that limit the heap, in MiB. */
const HEAP_SIZES = ['max-heap-size', 'max-old-space-size', 'max-semi-space-size'];

/** Flags of older V8s that people still use, and what to do instead. */
const GONE = {
  'nouse-idle-notification': 'idle notifications are gone from V8; leave it out',
  'use-idle-notification': 'idle notifications are gone from V8; leave it out',
  'scavenger-max-new-space-capacity-mb': 'use --max-semi-space-size',
  'huge-max-old-generation-size': 'use --max-old-space-size',
};

/** Always set: POST /admin/gc needs the first; the second hides a warning, because the site strips types with node:module. */
const ALWAYS = ['--expose-gc', '--disable-warning=ExperimentalWarning'];

/**
 * The preset's name and flags, without flags that the operator sets.
 *
 * Shape   `flags` go before the operator's on the command line; `why` is for people.
 */
export function presetFor(memoryMiB, front, own = []) {
  const { name, flags, why } = sized(memoryMiB, front);
  const named = new Set(own.map(nameOf));
  // V8 aborts on all three heap sizes together. An operator who gives one size for the whole heap sizes it alone.
  const ownHeap = named.has('max-heap-size') || named.has('max-old-space-size-percentage');
  const kept = [...flags, ...ALWAYS].filter(
    (flag) => !named.has(nameOf(flag)) && !(ownHeap && HEAP_SIZES.includes(nameOf(flag))),
  );
  return { name, flags: kept, why };
}

function sized(memoryMiB, front) {
  const memory = memoryMiB < 2048 ? `${Math.round(memoryMiB)} MiB` : `${Math.round(memoryMiB / 1024)} GiB`;
  if (front === 'native') {
    return {
      name: 'native front',
      flags: [
        `--max-semi-space-size=${NATIVE_SEMI_SPACE_MIB}`,
        `--heap-growing-percent=${NATIVE_HEAP_GROWING_PERCENT}`,
      ],
      why: "its polls are not on V8's heap, so a small heap does",
    };
  }
  return {
    name: `portable front, ${memory}`,
    flags: [`--max-old-space-size=${Math.max(HEAP_MIB_LEAST, Math.round(memoryMiB * OLD_SPACE_SHARE))}`],
    why: "its polls are objects on V8's heap",
  };
}

/** Why Node can't run with these flags, or would abort later; undefined when it can run. */
export function whyNot(flags) {
  const values = new Map(flags.map((flag) => [nameOf(flag), flag.slice(flag.indexOf('=') + 1)]));
  for (const name of values.keys()) {
    if (Object.hasOwn(GONE, name)) return `--${name} is not a flag of this V8: ${GONE[name]}`;
  }
  const sizes = HEAP_SIZES.filter((name) => values.has(name));
  if (sizes.filter((name) => Number(values.get(name)) !== 0).length === HEAP_SIZES.length) {
    return `${sizes.map((name) => `--${name}`).join(', ')}: V8 aborts when all three are given; leave one out`;
  }
  for (const name of sizes) {
    const value = values.get(name);
    if (!/^\d+$/.test(value)) return `--${name}: must be a whole number of MiB, like --${name}=4096`;
    if (name !== 'max-semi-space-size' && Number(value) > 0 && Number(value) < HEAP_MIB_LEAST) {
      return `--${name}=${value}: the relay needs ${HEAP_MIB_LEAST} MiB at the least; V8 aborts when the heap is full`;
    }
  }
  return undefined;
}

/** The flags in a variable such as SPRITES_NODE_FLAGS or NODE_OPTIONS. */
export function flagsIn(text = '') {
  return text.split(/\s+/).filter((flag) => flag !== '');
}

/** A flag's name. V8 treats dashes and underscores alike. */
function nameOf(flag) {
  return flag.replace(/^-+/, '').replace(/=.*/s, '').replaceAll('_', '-');
}
