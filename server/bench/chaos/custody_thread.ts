/** The thread in which a journal is read: it answers its `workerData`, a data directory, with what the relay holds. */
import { parentPort, workerData } from 'node:worker_threads';
import { custodyOf } from './custody.ts';

parentPort?.postMessage(custodyOf(String(workerData)));
