/** Runs one case of a bench in this process, with this process's flags, and prints the result as one line of JSON. */
import { buffersCase, type Maker } from './buffers.ts';
import { collectionCase } from './collections.ts';
import { type Layout, topologyCase } from './topology.ts';

const [question, first, second] = process.argv.slice(2);
const CASES: Record<string, () => Promise<object>> = {
  topology: () => topologyCase(first as Layout, Number(second)),
  collection: () => collectionCase(Number(first)),
  buffers: () => buffersCase(first, second as Maker),
};
console.log(JSON.stringify(await CASES[question]()));
