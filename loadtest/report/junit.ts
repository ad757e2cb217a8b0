/**
 * The verdict as JUnit XML, which CI systems show: a test for completeness, one for the accounts, one for each threshold.
 *
 * Pure. Every text is escaped. A threshold that could not be judged is an error, not a failure.
 */
import { accountOf, accountsAgree } from './account.ts';
import { escaped } from './chart.ts';
import type { Report } from './merge.ts';
import { generatorSentence } from './verdict.ts';

interface Case {
  name: string;
  /** Empty when it held. */
  wrong: string;
  kind?: 'failure' | 'error';
}

export function junit(report: Report): string {
  const cases = casesOf(report);
  const count = (kind: Case['kind']) => cases.filter((one) => one.kind === kind).length;
  const seconds = report.seconds.at(-1)?.atS ?? 0;
  const suite = `name="${escaped(report.name)}" tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" time="${seconds.toFixed(3)}" timestamp="${report.startedAt.slice(0, 19)}"`;
  const lines = cases.map(({ name, wrong, kind }) => {
    const head = `    <testcase classname="swarm.${escaped(report.name)}" name="${escaped(name)}"`;
    return kind === undefined ? `${head}/>` : `${head}><${kind} message="${escaped(wrong)}"/></testcase>`;
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
  return [
    report.ok
      ? { name: 'the run is complete', wrong: '' }
      : { name: 'the run is complete', wrong: report.message, kind: 'failure' },
    accountsAgree(report)
      ? { name: 'the accounts agree', wrong: '' }
      : {
          name: 'the accounts agree',
          wrong: disagreements.map(({ equation, left, right }) => `${equation}: ${left} and ${right}`).join('; '),
          kind: 'failure',
        },
    ...report.judgements.map(({ threshold, value, outcome }): Case => {
      if (outcome === 'held') return { name: threshold, wrong: '' };
      if (outcome === 'broken') return { name: threshold, wrong: `it was ${value}`, kind: 'failure' };
      return { name: threshold, wrong: `not judged, it was ${value}. ${generatorSentence(report)}`, kind: 'error' };
    }),
  ];
}
