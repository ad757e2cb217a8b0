/** The words that the report has in common as text and as page: the verdict, the machine, what went wrong. */
import { accountOf, accountsAgree } from './account.ts';
import type { Machine, Report } from './merge.ts';
import { bytes, count } from './units.ts';
import { generatorSentence, relaySentence } from './verdict.ts';

/** VOID: no threshold was broken, but the swarm was the limit or machines were missing, so some could not be judged. */
export function verdictWord(report: Report): string {
  if (!report.ok) return 'INCOMPLETE';
  if (report.pass) return 'PASS';
  const isBroken = report.judgements.some(({ outcome }) => outcome === 'broken');
  return isBroken || !accountsAgree(report) ? 'FAIL' : 'VOID';
}

/** What each limit by address bounds, by the problem code of a relay that met it. */
const LIMITS_BY_ADDRESS: Record<string, string> = {
  'too-many-joins': 'joins a minute',
  'too-many-places': 'desktops in the public world',
  'too-many-worlds': 'private worlds',
  'too-many-connections': 'connections',
  'too-many-uploads': 'uploads a minute',
};

/** Which limits by address the swarm met, and how they are lifted; empty when it met none. */
export function addressLimitSentence({ refusedByCode, otherRefusedByCode }: Refused): string {
  const met = Object.entries(LIMITS_BY_ADDRESS).flatMap(([code, what]) => {
    const times = (refusedByCode[code] ?? 0) + (otherRefusedByCode[code] ?? 0);
    return times === 0 ? [] : [`${what} (${code}, ${count(times)} times)`];
  });
  if (met.length === 0) return '';
  const all = new Intl.ListFormat('en').format(met);
  return `The relay limits what one address may have, and the swarm met its limit of ${all}. The relay's operator lifts these limits by starting it with --admission open.`;
}

type Refused = Pick<Report, 'refusedByCode' | 'otherRefusedByCode'>;

/**
 * "2 × Intel Xeon, 24.0 GiB, Linux 6.18, Node v26.10.0, Sprites 0.2.0, commit 1a2b3c4d5e6f"; another machine than this one with its
 * name.
 */
export function describeMachine({ name, version, commit, ...machine }: Machine): string {
  const { cores, model, memoryBytes, system, node } = machine;
  const who = name === 'this machine' ? '' : `${name}: `;
  const sprites = version === undefined ? '' : `Sprites ${version}, `;
  return `${who}${cores} × ${model}, ${bytes(memoryBytes)}, ${system}, Node ${node}, ${sprites}commit ${commit}`;
}

/** Sentences that must stand before any figure; none when all went well. */
export function complaints(report: Report): string[] {
  return [
    report.ok ? '' : `This run is not complete: ${report.message}.`,
    report.voidReason === ''
      ? ''
      : `This run is void: ${report.voidReason}. Its figures are not those of the load above.`,
    ...accountOf(report)
      .filter(({ holds }) => !holds)
      .map(
        ({ equation, left, right }) => `The accounts do not agree: ${equation}: ${count(left)} and ${count(right)}.`,
      ),
    addressLimitSentence(report),
    generatorSentence(report),
    relaySentence(report),
  ].filter((sentence) => sentence !== '');
}
