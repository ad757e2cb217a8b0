/**
 * One run of one suite, in a process of its own, with its report as text: whole, so that suites which run at once do not mix theirs.
 */
import { join } from 'node:path';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { isFault } from './builds.ts';

const ROOT = join(import.meta.dirname, '../..');

/** How long a suite may take, in ms: many times what the slowest takes. One that hangs is ended then, and named. */
export const SUITE_MS_MAX = 600_000;
export const LONG_SUITE_MS_MAX = 2_400_000;

/** It makes each suite cheaper. */
const LEAN_HTTP = import.meta.resolve('../lean_http.js');

export interface SuiteRun {
  /** False also when a test was skipped because of a fault in the sources. */
  readonly passed: boolean;
  /** What the spec reporter says of it. */
  readonly report: string;
  readonly seconds: number;
  /** How many tests it has. */
  readonly tests: number;
  /** Each test that was skipped, with the reason if it has one. */
  readonly skipped: readonly string[];
  /** Each test or hook that failed, with the first line of its error, or the reason for which it should not have been skipped. */
  readonly failed: readonly string[];
}

/** `file`: a path from the root. A suite that takes more than `msMax` fails, and its process is ended. */
export async function runSuite(file: string, msMax = SUITE_MS_MAX): Promise<SuiteRun> {
  const startedMs = performance.now();
  const skipped: string[] = [];
  const failed: string[] = [];
  let passed = true;
  let tests = 0;
  let end = '';
  const events = run({
    files: [join(ROOT, file)],
    signal: AbortSignal.timeout(msMax),
    execArgv: ['--disable-warning=ExperimentalWarning', '--import', LEAN_HTTP],
  });
  async function* noted(all: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
    for await (const event of all) {
      const { type, data } = event;
      if (type === 'test:fail') {
        passed = false;
        end ||= endOf(data.details.error, msMax);
        if (!isOfSubtests(data.details.error)) failed.push(`${data.name}: ${firstLineOf(data.details.error)}`);
      }
      if (type === 'test:pass' && data.skip !== undefined && data.skip !== false) {
        const one = typeof data.skip === 'string' ? `${data.name}: ${data.skip}` : data.name;
        skipped.push(one);
        if (isFault(one)) {
          passed = false;
          failed.push(one);
          end ||= `\n  What it tests was not built, and its sources are to blame: ${one}.`;
        }
      }
      if (type === 'test:summary' && data.file === undefined) tests = data.counts.tests;
      // The counts of a single suite; the end of the run has those of all.
      if (type !== 'test:diagnostic' || data.file !== undefined) yield event;
    }
  }
  const texts = await events.compose(noted).compose(spec).toArray();
  const report = `${texts.join('').trimEnd()}${end}`;
  return { passed, report, tests, skipped, failed, seconds: (performance.now() - startedMs) / 1000 };
}

/** How the process of a suite ended when that is what failed, which the spec reporter does not say. */
function endOf(error: Error, msMax: number): string {
  if (wasEnded(error)) {
    return `\n  It still ran after ${msMax / 1000} s and was ended: it waits for something, or has left something open.`;
  }
  const { exitCode, signal } = error as Error & { exitCode?: number | null; signal?: string | null };
  const how = signal ?? (exitCode && `exit code ${exitCode}`);
  return how ? `\n  Its process ended with ${how}.` : '';
}

/** Whether a group of tests failed because tests in it did. */
function isOfSubtests(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed';
}

function firstLineOf({ message, cause }: Error): string {
  return (cause instanceof Error ? cause.message : message).split('\n', 1)[0];
}

function wasEnded(error: Error): boolean {
  return error.name === 'TimeoutError' && 'failureType' in error && error.failureType === 'testAborted';
}
