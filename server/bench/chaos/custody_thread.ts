/** The thread in which a journal is read: it answers its `workerData`, a question, with what the relay holds. */
import { parentPort, workerData } from 'node:worker_threads';
import { custodyOf, type Question } from './custody.ts';

parentPort?.postMessage(custodyOf(workerData as Question));
