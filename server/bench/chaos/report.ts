/** What a chaos run says at its end: as text for people, and as JSON. */
import { table } from '../../../tools/bench/table.ts';
import { type Account, type Finding, seconds, textOf } from './account.ts';

/** Histories in the text; the JSON has HISTORIES_MAX. */
const SHOWN_MAX = 20;
const HISTORIES_MAX = 2_000;

const KINDS = ['lost', 'doubled', 'stranded'] as const;

export interface Run {
  seed: number;
  minutes: number;
  machine: string;
  nats: string;
  relays: readonly { name: string; workers: number; front: string; durability: string; starts: number }[];
  desktops: number;
  tookMs: number;
  /** Ended before its time: what is known is not all. */
  isInterrupted: boolean;
  /** Why the run could not be brought to its end; undefined when it could. */
  failure: string | undefined;
  /** What still moved when the wait for the end was given up. */
  unsettled: string[];
}

/** Whether the account is exact: nothing is wrong that the documents do not allow. */
export function isExact(
  { failure, unsettled, isInterrupted }: Run,
  account: Account,
  findings: readonly Finding[],
): boolean {
  const isWrong = findings.some(({ allowed }) => allowed === undefined);
  return (
    !isWrong && failure === undefined && !isInterrupted && unsettled.length === 0 && account.anomalies.length === 0
  );
}

export function textReport(run: Run, account: Account, findings: readonly Finding[]): string {
  const { counts, longestWait, longestTrip } = account;
  const relays = run.relays.map(({ name, workers, front, durability, starts }) => {
    return `${name}: ${front}, ${workers === 0 ? 'one process' : `${workers} workers`}, durability ${durability}, ${starts} starts`;
  });
  const wrong = findings.filter(({ allowed }) => allowed === undefined);
  const lines = [
    `${run.machine}; nats-server ${run.nats}`,
    `seed ${run.seed}, ${run.minutes} minutes asked for, ${seconds(run.tookMs)} in all${run.isInterrupted ? ', INTERRUPTED: sprites on their way are not counted' : ''}`,
    `${relays.join('\n')}\n${run.desktops} desktops`,
    '',
    table(
      ['fault', 'times'],
      [...timesOf(account)].map(([name, times]) => [name, `${times}`]),
    ),
    '',
    `sprites made ${account.size}, thrown ${counts.thrown}, repeated ${counts.repeated}, accepted ${counts.accepted}, received ${counts.received}, ` +
      `acknowledged ${counts.acknowledged}, removed after a 410 ${counts.dropped}; joins ${counts.joins}, seats ended ${counts.ended}`,
    `refused: ${[...account.refused].map(([code, times]) => `${code} ${times}`).join(', ') || 'nothing'}`,
    `a sprite waited for at most ${seconds(longestWait.ms)} (sprite ${longestWait.sprite}, for ${longestWait.to})`,
    `longest round trip of a throw ${seconds(longestTrip.ms)} where no fault was on its way (${longestTrip.who}), ${seconds(longestTrip.disturbedMs)} elsewhere`,
    '',
    ...(run.isInterrupted ? [] : KINDS.map((kind) => summaryOf(kind, findings))),
    ...reasonsOf(findings),
    ...run.unsettled.map((what) => `NOT SETTLED: ${what}`),
    ...account.anomalies.slice(0, SHOWN_MAX).map((what) => `MUST NOT BE: ${what}`),
    ...(run.failure === undefined ? [] : [`FAILED: ${run.failure}`]),
    ...wrong.slice(0, SHOWN_MAX).flatMap(historyOf),
    ...(wrong.length > SHOWN_MAX ? [`… and ${wrong.length - SHOWN_MAX} more, in the JSON.`] : []),
    '',
    verdictOf(run, account, findings),
  ];
  return lines.join('\n');
}

export function jsonReport(run: Run, account: Account, findings: readonly Finding[]): object {
  const { counts, longestWait, longestTrip, anomalies, spans } = account;
  const wrongFirst = findings.toSorted((a, b) => Number(a.allowed !== undefined) - Number(b.allowed !== undefined));
  return {
    run,
    isExact: isExact(run, account, findings),
    faults: Object.fromEntries(timesOf(account)),
    sprites: account.size,
    counts,
    refused: Object.fromEntries(account.refused),
    longestWait,
    longestTrip,
    anomalies,
    findings: wrongFirst.slice(0, HISTORIES_MAX),
    findingsLeftOut: Math.max(0, findings.length - HISTORIES_MAX),
    spans: spans.map((span) => `${seconds(span.fromMs)} ${textOf(span)}`),
  };
}

function verdictOf(run: Run, account: Account, findings: readonly Finding[]): string {
  if (run.isInterrupted) return 'The run was interrupted, so there is no account.';
  return isExact(run, account, findings) ? 'The account is exact.' : 'THE ACCOUNT IS NOT EXACT.';
}

function timesOf({ spans }: Account): Map<string, number> {
  const times = new Map<string, number>();
  for (const { fault } of spans) times.set(fault, (times.get(fault) ?? 0) + 1);
  return new Map([...times].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function summaryOf(kind: Finding['wrong'], findings: readonly Finding[]): string {
  const all = findings.filter(({ wrong }) => wrong === kind);
  const allowed = all.filter((finding) => finding.allowed !== undefined);
  return `${kind}: ${all.length - allowed.length}${allowed.length > 0 ? `, and ${allowed.length} that the documents allow` : ''}`;
}

/** How many sprites each reason allows. */
function reasonsOf(findings: readonly Finding[]): string[] {
  const times = new Map<string, number>();
  for (const { wrong, allowed } of findings) {
    if (allowed !== undefined) times.set(`${wrong} by ${allowed}`, (times.get(`${wrong} by ${allowed}`) ?? 0) + 1);
  }
  return [...times].map(([reason, count]) => `  ${count} ${reason}`);
}

function historyOf({ sprite, wrong, where, history }: Finding): string[] {
  const places = where.length === 0 ? 'nowhere' : where.join(' and ');
  return ['', `sprite ${sprite} is ${wrong}: ${places}`, ...history.map((line) => `  ${line}`)];
}
