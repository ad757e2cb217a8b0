/** `npm run bench:heap`: what the shape of state, and V8's flags, do to pauses; all benches of this folder or one. */
import { buildEngine } from '../../tools/build.js';
import { type Command, goingWith, Misused, oneOf, runCommand, whole } from '../../tools/command.ts';
import { externalBuffers, LOADS } from './buffers.ts';
import { collections } from './collections.ts';
import { RELAY_SETS, relayFlags } from './relay.ts';
import { DESKTOPS_MAX, topologies } from './topology.ts';

const OPTIONS = {
  ...goingWith(['topology', 'relay'], {
    rounds: whole('N', 'how often each case is measured', [1, 1000], 1),
  }),
  ...goingWith(['topology'], {
    desktops: whole('N', 'desktops', [2048, DESKTOPS_MAX], 2_000_000),
    heap: { ...whole('MIB', '--max-old-space-size of each case', [64, 1 << 20]), shown: "V8's own" },
  }),
  ...goingWith(['relay'], {
    workers: whole('N', 'worker processes of the relay; 0: everything in one process', [0, 64], 1),
    front: oneOf('KIND', 'front of the relay', ['portable', 'native'], 'portable'),
  }),
};

export const COMMAND: Command<typeof OPTIONS> = {
  usage: ['npm run bench:heap -- [BENCH [names] [options]]'],
  about: 'Measures pauses of V8. Without a bench it runs all of them, some 12 minutes. Let nothing else run meanwhile.',
  commands: {
    topology: ['', 'desktops as objects, and as typed arrays: pauses, and what gc() costs'],
    collection: ['', 'a full collection on demand: gc(), and what POST /admin/gc does'],
    buffers: ['[names]', `Buffers beside two million objects, with each flag; names: ${Object.keys(LOADS).join(', ')}`],
    relay: [
      '[names]',
      `the relay itself, with as many polls as one process may hold, with each flag alone and with the launcher's preset; names: ${RELAY_SETS.join(', ')}`,
    ],
  },
  options: OPTIONS,
  notes: ['--rounds belongs to topology and relay, --desktops and --heap to topology, the others to relay.'],
};

/** The words, which must be among `names`; all names when there are no words. Throws Misused. */
function known(words: readonly string[], names: readonly string[]): readonly string[] {
  const unknown = words.find((word) => !names.includes(word));
  if (unknown !== undefined) {
    throw new Misused(`${JSON.stringify(unknown)}: must be one of ${names.join(', ')}. See --help.`);
  }
  return words.length > 0 ? words : names;
}

if (import.meta.main) {
  process.exitCode = await runCommand(COMMAND, async ({ words: [bench, ...words], values }) => {
    const { rounds, workers, front, desktops, heap } = values;
    const buffers = known(bench === 'buffers' ? words : [], Object.keys(LOADS));
    const sets = known(bench === 'relay' ? words : [], RELAY_SETS);
    const isWanted = (name: string) => bench === undefined || bench === name;
    if (isWanted('topology')) await topologies({ desktops, heapMiB: heap, rounds });
    if (isWanted('collection')) await collections();
    if (isWanted('buffers')) await externalBuffers(buffers);
    if (isWanted('relay')) {
      const why = buildEngine();
      if (why) throw new Error(`The bench needs the swarm's engine: ${why}`);
      await relayFlags(sets, rounds, front, workers);
    }
    return undefined;
  });
}
