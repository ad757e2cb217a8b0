/**
 * The report as text, for a terminal and for `report.txt`, and the files that `--out` keeps. page.ts makes the page.
 *
 * Pure, except `keep`. An unknown figure is shown as a dash, never as zero.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bucket } from '../../tools/engine_result.ts';
import { accountOf, notArrived } from './account.ts';
import { capacityPicture, capacityTexts } from './capacity.ts';
import { hgrm } from './hgrm.ts';
import { binned } from './histogram.ts';
import { junit } from './junit.ts';
import type { Judgement, Report } from './merge.ts';
import { page } from './page.ts';
import type { RelayAccount } from './relay_account.ts';
import { costRows, oddities, percentileRows, runRow, spriteRows } from './rows.ts';
import { aligned, bytes, count, duration, time } from './units.ts';
import { complaints, describeMachine, verdictWord } from './words.ts';

const WIDTH = 96;
const LABEL = 14;
const COST_LABEL = 16;

/** Writes the report in every form into `folder`; makes the folder if it does not exist. */
export function keep(report: Report, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'report.txt'), text(report));
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, 1)}\n`);
  writeFileSync(join(folder, 'report.html'), page(report));
  writeFileSync(join(folder, 'latency.hgrm'), hgrm(report));
  writeFileSync(join(folder, 'junit.xml'), junit(report));
  if (report.capacity) writeFileSync(join(folder, 'capacity.svg'), capacityPicture(report.capacity));
}

/** The report: some forty lines of at most 96 characters. */
export function text(report: Report): string {
  const sections = [
    head(report),
    complaintsOf(report),
    capacity(report),
    sprites(report),
    accounts(report),
    latency(report),
    costs(report),
    connections(report),
    runsTable(report),
    thresholds(report),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function head(report: Report): string {
  const title = `Swarm: ${report.name}`;
  const word = verdictWord(report);
  const machines = report.machines.map(describeMachine);
  const lines = [
    `${title}${word.padStart(WIDTH - title.length)}`,
    '═'.repeat(WIDTH),
    ...(report.shows === '' ? [] : [...wrap(report.shows, WIDTH), '']),
    field('load', report.load),
    field('relay', report.relayIs),
    ...machines.map((machine, i) => field(i === 0 ? 'machine' : '', machine)),
    field('began', `${report.startedAt.slice(0, 19).replace('T', ' ')} UTC, seed ${report.seed}`),
    field('again', report.command),
  ];
  return lines.join('\n');
}

function complaintsOf(report: Report): string {
  return complaints(report)
    .flatMap((sentence) => wrap(sentence, WIDTH - 2).map((line) => `! ${line}`))
    .join('\n');
}

function capacity({ capacity: found }: Report): string {
  if (!found) return '';
  const points = capacityTexts(found).map(({ sentences, table }) =>
    [...sentences.flatMap((one) => wrap(one, WIDTH - 2)).map((line) => `  ${line}`), '', ...table].join('\n'),
  );
  return [rule('Capacity'), points.join('\n\n')].join('\n');
}

function sprites(report: Report): string {
  if (report.mode === 'sitting') return '';
  return [
    rule('Sprites'),
    ...spriteRows(report).map(([name, n, beside]) => field(name, `${n.padStart(14)}   ${beside}`)),
    field(
      'besides',
      oddities(report)
        .map(([name, n]) => `${n} ${name}`)
        .join(', '),
    ),
  ].join('\n');
}

/** The second account: figures from different counters, side by side. */
function accounts(report: Report): string {
  if (accountOf(report).length === 0) return '';
  return [
    rule('Accounts, each side from other counters'),
    ...accountOf(report).map(
      ({ equation, left, right, holds }) =>
        `  ${holds ? '✓' : '✗'} ${equation.padEnd(66)}${count(left).padStart(12)}${holds && left === right ? '' : count(right).padStart(13)}`,
    ),
  ].join('\n');
}

function latency(report: Report): string {
  const { latencyUs, latencyBucketsNs: buckets, awayUs, slipUs } = report;
  if (latencyUs.count === 0) return '';
  const missing = notArrived(report);
  const cells = percentileRows(report);
  const line = (i: number) => cells.map((cell) => cell[i].padStart(11)).join('');
  return [
    rule(`Latency of ${count(latencyUs.count)} sprites, from when each was due to its arrival`),
    line(0),
    line(1),
    '',
    ...bars(buckets),
    '',
    ...(missing === 0
      ? []
      : [
          `  ${count(missing)} throws due in the window did not arrive. The percentiles count them as slower than all others.`,
        ]),
    ...(awayUs.count === 0
      ? []
      : [
          `  ${count(awayUs.count)} more arrived at desktops that storm, churn or read late: p50 ${time(awayUs.p50)}, p99 ${time(awayUs.p99)}, max ${time(awayUs.max)}.`,
        ]),
    `  The swarm itself was late with its throws by ${time(slipUs.p50)} (p50), ${time(slipUs.p99)} (p99).`,
  ].join('\n');
}

const BAR = 52;
const ROWS_MAX = 16;
/** Finest first. */
const ROWS_PER_DECADE = [50, 20, 10, 5, 4, 3, 2, 1];

/** The distribution: rows in equal steps of the logarithm, as fine as ROWS_MAX allows, each with its share of all values. */
function bars(buckets: readonly Bucket[]): string[] {
  const fineness = ROWS_PER_DECADE.map((n) => binned(buckets, n));
  const rows = fineness.find(({ length }) => length <= ROWS_MAX) ?? fineness[fineness.length - 1];
  const total = rows.reduce((sum, [, , n]) => sum + n, 0);
  const highest = Math.max(...rows.map(([, , n]) => n));
  return rows.map(([, high, n]) => {
    const upTo = time(high / 1000);
    const bar = '█'.repeat(Math.round((BAR * n) / highest)) || (n > 0 ? '▏' : '');
    return `  ≤ ${upTo.padStart(8)}  ${bar.padEnd(BAR)} ${share(n, total).padStart(9)}`.trimEnd();
  });
}

function share(n: number, total: number): string {
  if (n === 0) return '';
  const percent = (100 * n) / total;
  return percent >= 0.01 ? `${percent.toFixed(2)} %` : count(n);
}

function costs(report: Report): string {
  const { kernel, desktops } = report;
  const rows = [['', 'relay', 'swarm'], ...costRows(report)];
  const slab = Math.max(0, kernel.slabBytes - kernel.slabBytesBefore);
  return [
    rule('Cost'),
    ...rows.map(([name, ours, theirs]) => `  ${name.padEnd(COST_LABEL)}${ours.padEnd(24)}${theirs}`.trimEnd()),
    field(
      'kernel',
      `${bytes(slab)} more with all parked, ${bytes(slab / desktops)} a desktop, both ends that are here`,
    ),
  ].join('\n');
}

/** The tables of counts in the section about desktops, with the words for each count. */
const COUNTED = {
  polls: {
    answered: 'answered',
    withSprites: 'with sprites',
    withPing: 'with a ping',
    refused: 'refused',
    cut: 'cut',
    dropped: 'dropped by the swarm',
    overdue: 'overdue',
  },
  joins: {
    accepted: 'accepted',
    refused: 'refused',
    failed: 'failed',
    desktopsEnded: 'ended by the relay',
    moved: 'moved to another relay',
    left: 'left',
  },
  connections: {
    connects: 'opened',
    failed: 'failed',
    cuts: 'cut by the relay',
    badAnswers: 'answers not of the protocol',
  },
  sockets: {
    opened: 'opened',
    refused: 'upgrades refused',
    pings: 'pings answered',
    closes: 'closed by the relay',
    paced: 'times throws waited for the pace of their socket',
  },
  sayings: {
    accepted: 'accepted',
    skipped: 'skipped',
    refused: 'refused',
    owed: 'hearings owed',
    heard: 'heard',
    missed: 'missed, and told so',
    gone: 'gone with a connection or a desktop',
    underWay: 'still under way',
    lost: 'lost',
    again: 'heard twice or out of order',
    corrupted: 'corrupted',
  },
  peeks: {
    accepted: 'accepted',
    posted: 'of them stages',
    skipped: 'skipped',
    hidden: 'without a neighbour or its stage',
    refused: 'refused',
    failed: 'failed',
    seen: 'stages seen',
    old: 'seen out of order',
    corrupted: 'corrupted',
    ended: 'watches ended by the relay',
  },
  behaviours: { reconnects: 'reconnects', strikes: 'hostile strikes', strikesParried: 'of them answered or closed' },
};

/** What is said of a table whose counts are all 0; of the others nothing is. */
const NOTHING: Record<string, string> = { polls: 'all held, none answered', joins: 'none', connections: 'none' };

function connections(report: Report): string {
  const heard = report.hearingUs;
  const counted = (Object.keys(COUNTED) as (keyof typeof COUNTED)[]).flatMap((name) => {
    const some = Object.entries(COUNTED[name]).filter(([key]) => (report[name][key] ?? 0) > 0);
    const said = some.map(([key, word]) => `${count(report[name][key])} ${word}`).join(', ') || NOTHING[name];
    return said === undefined ? [] : [field(name, said)];
  });
  return [
    rule('Desktops'),
    field('parked', `${count(report.parked)} of ${count(report.desktops)}, after ${duration(report.connectSeconds)}`),
    ...(report.relayAccount?.counted ? [field('counted', countedSentence(report.relayAccount.counted))] : []),
    ...(report.recoverySeconds === null
      ? []
      : [field('restart', `all parked again ${duration(report.recoverySeconds)} after the first lost its poll`)]),
    ...counted,
    ...(heard.count === 0 ? [] : [field('heard', `after ${time(heard.p50)} (p50), ${time(heard.p99)} (p99)`)]),
  ].join('\n');
}

function countedSentence({ times, least, most }: NonNullable<RelayAccount['counted']>): string {
  const said = least === most ? `${count(least)} each time` : `from ${count(least)} to ${count(most)}`;
  return `by the relay, asked ${count(times)} times in the window: ${said}`;
}

function runsTable({ runs }: Report): string {
  if (runs.length < 2) return '';
  const columns = ['', 'desktops', 'sprites/s', 'p50', 'p99', 'p99.9', 'max', 'relay', 'CPU-µs', 'lost', 'limit'];
  return [rule('Runs'), ...aligned([columns, ...runs.map(runRow)]).map((line) => `  ${line}`)].join('\n');
}

const MARKS: Record<Judgement['outcome'], string> = { held: '✓', broken: '✗', void: '?' };

function thresholds({ judgements, voidReason }: Report): string {
  if (judgements.length === 0) return '';
  return [
    rule('Thresholds'),
    ...judgements.map(({ threshold, value, outcome }) => {
      const cause = voidReason === '' ? 'the swarm was the limit' : 'the run is void';
      const why = outcome === 'void' ? `   not judged: ${cause}` : '';
      return `  ${MARKS[outcome]} ${threshold.padEnd(28)}${value}${why}`;
    }),
  ].join('\n');
}

function rule(title: string): string {
  return `${title} ${'─'.repeat(Math.max(0, WIDTH - title.length - 1))}`;
}

function field(name: string, value: string): string {
  return `  ${name.padEnd(LABEL)}${value}`.trimEnd();
}

function wrap(sentence: string, width: number): string[] {
  const lines = [''];
  for (const word of sentence.split(' ')) {
    const line = lines[lines.length - 1];
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
