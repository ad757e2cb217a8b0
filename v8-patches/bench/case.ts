/** One case of the bench, in a process of its own under its own flags: prints what it measured as one line of JSON. */
import { buffersCase, type Maker } from './buffers.ts';
import { type Layout, topologyCase } from './topology.ts';

const [question, first, second] = process.argv.slice(2);
const pauses = question === 'topology' ? topologyCase(first as Layout) : buffersCase(first, second as Maker);
console.log(JSON.stringify(await pauses));
