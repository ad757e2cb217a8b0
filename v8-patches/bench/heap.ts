/** `npm run bench:heap`: what the shape of state, and V8's flags, do to pauses; all questions of this folder or one. */
import { parseArgs } from 'node:util';
import { buildEngine } from '../../tools/build.js';
import { externalBuffers, LOADS } from './buffers.ts';
import { collections } from './collections.ts';
import { RELAY_SETS, relayFlags } from './relay.ts';
import { topologies } from './topology.ts';

const USAGE = `Usage: npm run bench:heap -- [topology | collection]
       npm run bench:heap -- buffers [${Object.keys(LOADS).join(' | ')}] …
       npm run bench:heap -- relay [${RELAY_SETS.join(' | ')}] … [--rounds 1] [--workers 1] [--front portable]

topology   two million desktops as objects, and as typed arrays: pauses, and what gc() costs
collection a full collection on demand: gc(), and what POST /admin/gc does
buffers    Buffers beside two million objects, with each flag
relay      the relay itself, as many polls as one process may hold, with each flag alone and the launcher's preset

Without a question all of them, some 12 minutes. Let nothing else run on the machine meanwhile.`;

interface Options {
  rounds: string;
  workers: string;
  front: string;
}

const QUESTIONS: Record<string, (words: readonly string[], options: Options) => Promise<void>> = {
  topology: () => topologies(),
  collection: () => collections(),
  buffers: (words) => externalBuffers(known(words, Object.keys(LOADS))),
  relay: (words, { rounds, workers, front }) => {
    const why = buildEngine();
    if (why) throw new Error(`the swarm's engine is needed: ${why}`);
    return relayFlags(
      known(words, RELAY_SETS),
      Number(rounds),
      front === 'native' ? front : 'portable',
      Number(workers),
    );
  },
};

/** Words of the command line that must be of these; all of them when there are none. */
function known(words: readonly string[], names: readonly string[]): readonly string[] {
  const unknown = words.find((word) => !names.includes(word));
  if (unknown !== undefined) throw new Error(`${unknown}: must be one of ${names.join(', ')}`);
  return words.length > 0 ? words : names;
}

try {
  const { values, positionals } = parseArgs({
    options: {
      rounds: { type: 'string', default: '1' },
      workers: { type: 'string', default: '1' },
      front: { type: 'string', default: 'portable' },
      help: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [first, ...words] = positionals;
  if (values.help) console.log(USAGE);
  else {
    for (const question of first === undefined ? Object.keys(QUESTIONS) : known([first], Object.keys(QUESTIONS))) {
      await QUESTIONS[question](words, values);
    }
  }
} catch (error) {
  console.error(`The bench could not be finished: ${(error as Error).message}. See --help.`);
  process.exitCode = 1;
}
