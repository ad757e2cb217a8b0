/**
 * The verdict as JUnit XML, which CI systems show: a test for completeness, one for the accounts, one for each threshold.
 *
 * Pure. Every text is escaped. A threshold that could not be judged is an error, not a failure.
 */
import { accountOf } from './account.ts';
import { escaped } from './chart.ts';
import type { Report } from './merge.ts';
import { generatorSentence } from './verdict.ts';

interface Case {
  name: string;
  /** Undefined when it held. */
  wrong: string | undefined;
  kind: 'failure' | 'error';
}

export function junit(report: Report): string {
  const cases = casesOf(report);
  const count = (kind: Case['kind']) => cases.filter((one) => one.wrong !== undefined && one.kind === kind).length;
  const seconds = report.seconds.at(-1)?.atS ?? 0;
  const suite = `name="${escaped(report.name)}" tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" time="${seconds.toFixed(3)}" timestamp="${report.startedAt.slice(0, 19)}"`;
  const lines = cases.map(({ name, wrong, kind }) => {
    const head = `    <testcase classname="swarm.${escaped(report.name)}" name="${escaped(name)}"`;
    return wrong === undefined ? `${head}/>` : `${head}><${kind} message="${escaped(wrong)}"/></testcase>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite ${suite}>
${lines.join('\n')}
  </testsuite>
</testsuites>
`;
}

function casesOf(report: Report): Case[] {
  const disagreements = accountOf(report).filter(({ holds }) => !holds);
  const accounts = disagreements.map(({ equation, left, right }) => `${equation}: ${left} and ${right}`).join('; ');
  return [
    { name: 'the run is complete', wrong: report.ok ? undefined : report.message, kind: 'failure' },
    { name: 'the accounts agree', wrong: accounts || undefined, kind: 'failure' },
    ...report.judgements.map(({ threshold: name, value, outcome }): Case => {
      if (outcome !== 'void')
        return { name, wrong: outcome === 'held' ? undefined : `it was ${value}`, kind: 'failure' };
      return { name, wrong: `not judged, it was ${value}. ${generatorSentence(report)}`, kind: 'error' };
    }),
  ];
}
