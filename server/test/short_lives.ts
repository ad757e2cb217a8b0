/**
 * Import it in a test that starts thousands of relays: it makes their ends cheaper.
 *
 * A relay has memory of 64 KiB or more a page beside the heap, whatever it uses of it. V8 collects all garbage whenever 64 MiB of it were added, which
 * takes a third of such a test; from now on that memory only counts towards the limit of the heap.
 */
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--external-memory-accounted-in-global-limit');
