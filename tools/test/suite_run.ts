/**
 * One run of one suite, in a process of its own, with its report as text: whole, so that suites which run at once do not mix theirs.
 */
import { join } from 'node:path';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';

const ROOT = join(import.meta.dirname, '../..');

/** It makes each suite cheaper. */
const LEAN_HTTP = import.meta.resolve('../lean_http.js');

export interface SuiteRun {
  readonly passed: boolean;
  /** What the spec reporter says of it. */
  readonly report: string;
  readonly seconds: number;
  /** How many tests it has. */
  readonly tests: number;
  /** Each test that was skipped, with the reason if it has one. */
  readonly skipped: readonly string[];
}

/** `file`: a path from the root. */
export async function runSuite(file: string): Promise<SuiteRun> {
  const startedMs = performance.now();
  const skipped: string[] = [];
  let passed = true;
  let tests = 0;
  let end = '';
  const events = run({
    files: [join(ROOT, file)],
    execArgv: ['--disable-warning=ExperimentalWarning', '--import', LEAN_HTTP],
  });
  async function* noted(all: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent> {
    for await (const event of all) {
      const { type, data } = event;
      if (type === 'test:fail') {
        passed = false;
        end ||= endOf(data.details.error);
      }
      if (type === 'test:pass' && data.skip !== undefined && data.skip !== false) {
        skipped.push(typeof data.skip === 'string' ? `${data.name}: ${data.skip}` : data.name);
      }
      if (type === 'test:summary' && data.file === undefined) tests = data.counts.tests;
      // The counts of a single suite; the end of the run has those of all.
      if (type !== 'test:diagnostic' || data.file !== undefined) yield event;
    }
  }
  const texts = await events.compose(noted).compose(spec).toArray();
  const report = `${texts.join('').trimEnd()}${end}`;
  return { passed, report, tests, skipped, seconds: (performance.now() - startedMs) / 1000 };
}

/** How the process of a suite ended when that is what failed, which the spec reporter does not say. */
function endOf(error: Error): string {
  const { exitCode, signal } = error as Error & { exitCode?: number | null; signal?: string | null };
  const how = signal ?? (exitCode && `exit code ${exitCode}`);
  return how ? `\n  Its process ended with ${how}.` : '';
}
