/** The words that the report has in common as text and as page: the verdict, the machine, what went wrong. */
import type { Machine, Report } from './merge.ts';
import { bytes } from './units.ts';
import { generatorSentence, relaySentence } from './verdict.ts';

/** VOID: no threshold was broken, but the swarm was the limit or machines were missing, so some could not be judged. */
export function verdictWord({ ok, pass, judgements }: Pick<Report, 'ok' | 'pass' | 'judgements'>): string {
  if (!ok) return 'INCOMPLETE';
  if (pass) return 'PASS';
  return judgements.some(({ outcome }) => outcome === 'broken') ? 'FAIL' : 'VOID';
}

/** "2 × Intel Xeon, 24.0 GiB, Linux 6.18, Node v26.10.0, commit 1a2b3c4" */
export function describeMachine({ cores, model, memoryBytes, system, node, commit }: Machine): string {
  return `${cores} × ${model}, ${bytes(memoryBytes)}, ${system}, Node ${node}, commit ${commit}`;
}

/** Sentences that must stand before any figure; none when all went well. */
export function complaints(report: Report): string[] {
  return [
    report.ok ? '' : `This run is not complete: ${report.message}.`,
    report.voidReason === ''
      ? ''
      : `This run is void: ${report.voidReason}. Its figures are not those of the load above.`,
    generatorSentence(report),
    relaySentence(report),
  ].filter((sentence) => sentence !== '');
}
