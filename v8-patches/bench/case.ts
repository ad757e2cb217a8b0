/** One case of the bench, in a process of its own under its own flags: prints what it measured as one line of JSON. */
import { buffersCase, type Maker } from './buffers.ts';
import { collectionCase } from './collections.ts';
import { type Layout, topologyCase } from './topology.ts';

const [question, first, second] = process.argv.slice(2);
const CASES: Record<string, () => Promise<object>> = {
  topology: () => topologyCase(first as Layout),
  collection: () => collectionCase(Number(first)),
  buffers: () => buffersCase(first, second as Maker),
};
console.log(JSON.stringify(await CASES[question]()));
