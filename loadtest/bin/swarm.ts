/** `npm run swarm`: reads the scenario, plans, runs, judges and reports. Progress goes to stderr, the report to stdout. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { buildEngine, buildFloor } from '../../tools/build.js';
import {
  type Command,
  type CommandLine,
  EXIT,
  flagOf,
  form,
  Misused,
  makeFolder,
  readInput,
  repeated,
  runCommand,
  sentenceOf,
  text as textOption,
  toggle,
  type Values,
  whole,
} from '../../tools/command.ts';
import { type EngineSecond, readResult } from '../../tools/engine_result.ts';
import { comparisonOfFiles, textOf } from '../report/compare.ts';
import { comparePage } from '../report/compare_page.ts';
import { isPageDue, keepPage, PAGE_REFRESH_SECONDS } from '../report/growing.ts';
import { historyPage, historyText, readHistory } from '../report/history.ts';
import { type Figures, merge, overRuns, overSweep, type Report, samplesWithin, soFar } from '../report/merge.ts';
import { growingPage } from '../report/page.ts';
import { relayAccountOf, withGaugeOfFleet } from '../report/relay_account.ts';
import type { RelaySample } from '../report/relay_sample.ts';
import { keep, text } from '../report/report.ts';
import { count, duration } from '../report/units.ts';
import { judge, readThreshold } from '../report/verdict.ts';
import { keepWatch, watchLine, watchPage, watchText } from '../report/watched.ts';
import { ABORT_SECONDS } from '../run/abort.ts';
import { checkSearchable, findCapacity, type Measured } from '../run/capacity.ts';
import { runOnHosts, shellOver } from '../run/hosts.ts';
import { isInside, runIsolated, setUpNamespace } from '../run/isolate.ts';
import { liveLine } from '../run/live.ts';
import { idleSeconds, machineFacts, thisMachine } from '../run/machine.ts';
import { describeLoad, describeMix, type Plan, secondsLeft } from '../run/plan.ts';
import { charactersOf, openRelay } from '../run/relay_target.ts';
import { type CompletedRun, onInterrupt, run, SAMPLE_EVERY_MS } from '../run/run.ts';
import {
  isRestarted,
  keptScenarios,
  openScenario,
  readScenario,
  type Scenario,
  SECTIONS,
  SETTINGS,
} from '../run/scenario.ts';
import { isWorldShared, refusalsOf } from '../run/share.ts';
import { checkSources } from '../run/sources.ts';
import { watch } from '../run/watch.ts';

const RESTARTS = {
  restart: 'The relay is restarted: the next one loads beside it.',
  'kill master': 'The master of the relay is killed, and the relay is started again.',
  'kill all': 'All processes of the relay are killed, and it is started again.',
} as const;

const THRESHOLD = repeated(
  textOption(
    'SENTENCE',
    'what the run must meet, such as "p99 < 50ms", "lost == 0", "parked == desktops", "refused <= 1% of offered", "achieved >= 99%" or "rss < 300MiB"',
  ),
);

const ABORT = repeated(
  textOption(
    'SENTENCE',
    `end the run when this has not held for ${ABORT_SECONDS} seconds in a row, such as "p99 < 1s" or "refused <= 100"`,
  ),
);

/** Settings of a swarm over several machines. */
const HOSTS = {
  hosts: {
    ...form(
      'LIST',
      "one's own machines, over ssh: each plays its share in a world of its own, and all throw from the same moment",
      'host names, or USER@HOST, with commas between them',
      (given) => (/^[\w.@:-]+(,[\w.@:-]+)*$/.test(given) ? given.split(',') : undefined),
      [],
    ),
    shown: '',
  },
  ssh: textOption('COMMAND', 'how they are reached', 'ssh -o BatchMode=yes'),
};

/** A setting of `watch` alone. */
const WATCH = {
  canaries: toggle('watch lets two desktops, in a world of their own, throw a sprite there and back once a second'),
};

/** Settings of `capacity` alone. */
const CAPACITY = {
  maxSeconds: whole('N', 'capacity ends within so many seconds', [30, 7 * 24 * 3600], 600),
  floor: toggle('capacity finds that of the C floor too, at the same number of desktops'),
};

const OPTIONS = { ...SETTINGS, threshold: THRESHOLD, abort: ABORT, ...CAPACITY, ...WATCH, ...HOSTS };

export const COMMAND: Command<typeof OPTIONS> = {
  usage: [
    'npm run swarm -- [SCENARIO] [settings]',
    'npm run swarm -- capacity [SCENARIO] [settings]',
    'npm run swarm -- [SCENARIO] --hosts A,B,C --url URL [settings]',
    'npm run swarm -- merge A/engine-1.json B/engine-1.json … [--threshold SENTENCE] [--out DIR]',
    'npm run swarm -- compare A/report.json B/report.json [--out DIR]',
    'npm run swarm -- history DIR… [--out DIR]',
    'npm run swarm -- watch --url URL --admin-url URL --admin-token-file FILE [--duration T] [--canaries] [--out DIR] [--quiet]',
  ],
  about: [
    'Fake desktops that hold long-polls and throw sprites, and a report of what a relay did with every one of them.',
    'SCENARIO is a JSON file with the same settings, or one of those kept here:',
    `  ${keptScenarios().join(', ')}.`,
    'Settings on the command line win.',
    'capacity finds the highest rate at which the thresholds hold, for each number of desktops; with --rate, the most desktops.',
    'watch records a relay that people use, until --duration is over or it is interrupted.',
  ].join('\n'),
  takesWords: true,
  options: OPTIONS,
  sections: {
    ...SECTIONS,
    Thresholds: { threshold: THRESHOLD, abort: ABORT },
    Capacity: CAPACITY,
    Watch: WATCH,
    'Several machines': HOSTS,
  },
  failed: 'also when a threshold did not hold, the run is not complete, or compare found something worse',
};

/** Does what a command line asks for. Throws Misused when it can't be done. */
export async function carryOut({ words, ...flags }: CommandLine<typeof OPTIONS>): Promise<number> {
  if (words[0] === 'compare') {
    const comparison = comparisonOfFiles(words.slice(1));
    console.log(textOf(comparison));
    keepPageIn(flags.values.out, 'compare.html', comparePage(comparison));
    return comparison.isWorse ? EXIT.failed : EXIT.done;
  }
  if (words[0] === 'history') {
    const all = readHistory(words.slice(1));
    console.log(historyText(all));
    keepPageIn(flags.values.out, 'history.html', historyPage(all));
    return EXIT.done;
  }
  if (words[0] === 'merge') return mergeFiles(words.slice(1), flags.values);
  if (words[0] === 'watch') {
    if (words.length > 1) throw new Misused(`watch takes settings only, not ${words.slice(1).join(' ')}.`);
    return watchRelay(flags);
  }
  const isSearch = words[0] === 'capacity';
  const names = isSearch ? words.slice(1) : words;
  if (names.length > 1) throw new Misused(`Give one scenario at a time, not ${names.join(' and ')}.`);
  const [word] = names;
  const scenario = readScenario(word === undefined ? undefined : openScenario(word), flags);
  const { out, isolate, sources } = scenario.settings;
  const over = flags.given.has('rate') ? 'desktops' : 'rate';
  if (isSearch) checkSearchable(scenario, over, flags.values.floor);
  else if (flags.given.has('maxSeconds') || flags.values.floor)
    throw new Misused('--max-seconds and --floor go with capacity: npm run swarm -- capacity --floor');
  if (out !== '') makeFolder(out, '--out');
  trust(scenario.settings.ca);
  if (!isolate) await checkSources(sources);
  const why = buildEngine() ?? (flags.values.floor || scenario.settings.front === 'floor' ? buildFloor() : undefined);
  if (why) throw new Error(`the swarm's engine cannot be built: ${why}`);
  if (flags.values.hosts.length > 0) {
    if (isSearch) throw new Misused('capacity runs on one machine: leave --hosts out.');
    return runHosts(scenario, flags.values);
  }
  if (isolate) {
    if (!isInside()) return runIsolated();
    setUpNamespace();
    await checkSources(sources);
  }
  if (isSearch) return searchCapacity(scenario, over, flags.values);
  return runAll(withWorld(scenario));
}

function keepPageIn(out: string, name: string, html: string): void {
  if (out === '') return;
  makeFolder(out, '--out');
  writeFileSync(join(out, name), html);
}

const commandLine = (): string => ['npm run swarm --', ...process.argv.slice(2).map(quoted)].join(' ');

/** Adds up what engines of several machines printed, as `--out` keeps it. They had no barrier that is known. */
function mergeFiles(files: readonly string[], { threshold, out }: Values<typeof OPTIONS>): number {
  if (files.length === 0)
    throw new Misused('merge takes results of engines: npm run swarm -- merge A/engine-1.json B/engine-1.json');
  const results = files.map((file) => {
    try {
      return readResult(readInput(file).toString('utf8'), file);
    } catch (error) {
      throw new Misused(sentenceOf(error));
    }
  });
  const desktops = results.reduce((sum, result) => sum + result.desktops, 0);
  const merged = merge(results, {
    name: 'merged',
    command: commandLine(),
    machines: [],
    unaligned: true,
    load: `${count(desktops)} desktops, of ${files.join(', ')}`,
  });
  return tell(judge(merged, threshold.map(readThreshold)), out);
}

/** Prints a report and keeps it. */
function tell(report: Report, out: string): number {
  if (out !== '') {
    makeFolder(out, '--out');
    keep(report, out);
  }
  console.log(`\n${text(report)}`);
  const picture = report.capacity ? ', capacity.svg' : '';
  if (out !== '') console.log(`Kept: ${join(out, 'report.html')}, report.txt, report.json${picture}.`);
  return report.pass ? EXIT.done : EXIT.failed;
}

/** Runs the scenario on several machines, and reports it as one. */
async function runHosts(scenario: Scenario, { hosts: names, ssh, out }: Values<typeof OPTIONS>): Promise<number> {
  const { urls, isolate } = scenario.settings;
  if (urls.length === 0)
    throw new Misused('--hosts needs a relay that all of them reach, or several of a cluster: give --url or --urls.');
  if (isolate) throw new Misused('--hosts are other machines: leave --isolate out.');
  for (const [setting, why] of refusalsOf(scenario, urls)) throw new Misused(`--hosts: ${setting}: ${why}.`);
  const relay = await openRelay(scenario, scenario.settings.desktops[0]);
  const pictures = scenario.settings.lively ? await charactersOf(relay.target) : [];
  const samples: RelaySample[] = [];
  const sampling = setInterval(async () => {
    const sample = await relay.sample();
    if (sample) samples.push(sample);
  }, SAMPLE_EVERY_MS);
  const interrupt = new AbortController();
  const stopListening = onInterrupt(() => interrupt.abort());
  const target = { ...relay.target, pictures, pids: [], local: false };
  const ran = await runOnHosts(scenario, {
    names,
    shell: shellOver(ssh),
    target,
    signal: interrupt.signal,
    tell: (line) => console.error(line),
  }).finally(() => {
    clearInterval(sampling);
    stopListening();
  });
  if (ran.results.length === 0) throw new Error(ran.missing);
  const { results, at } = relay.hasGauges
    ? withGaugeOfFleet(ran.results, samples)
    : { results: ran.results, at: undefined };
  const { name, shows } = scenario;
  const merged = merge(results, {
    name,
    command: commandLine(),
    samples,
    missing: ran.missing,
    relay: relay.description,
    shows: `${shows === '' ? '' : `${shows} `}${names.length} machines, ${isWorldShared(urls) ? 'all in one world' : 'each with its own world'}.`,
    machines: ran.hosts.map(({ machine }) => machine),
    load: `${names.length} times: ${ran.load}`,
    // Others may throw at the relay too, so what it accepted is not compared.
    relayAccount: relayAccountOf(undefined, at, false, samplesWithin(results, samples)),
  });
  for (const [i, result] of results.entries()) if (out !== '') keepResult(out, i + 1, JSON.stringify(result));
  return tell(judge(merged, scenario.thresholds), out);
}

/** Finds a capacity and reports it. An interrupt ends the search with what is known. */
async function searchCapacity(
  scenario: Scenario,
  over: 'rate' | 'desktops',
  { maxSeconds, floor, out }: Values<typeof OPTIONS>,
): Promise<number> {
  const interrupt = new AbortController();
  const stopListening = onInterrupt(() => interrupt.abort());
  const report = await findCapacity(scenario, (one, desktops, signal) => measured(withWorld(one), desktops, signal), {
    over,
    secondsMax: maxSeconds,
    machine: machineFacts(),
    signal: interrupt.signal,
    contenders: floor ? ['relay', 'floor'] : ['relay'],
    tell: (line) => console.error(`=> ${line}\n`),
  }).finally(stopListening);
  if (!report) throw new Error('the search was interrupted before a run had ended');
  tell(report, out);
  const isKnown = report.capacity?.points.every(({ perSecond, desktops }) => perSecond > 0 && desktops > 0);
  return isKnown && !interrupt.signal.aborted ? EXIT.done : EXIT.failed;
}

/** One run of a search, without a line a second, and how much of the machine was idle in its window. */
async function measured(scenario: Scenario, desktops: number, signal: AbortSignal): Promise<Measured> {
  const idle: { atMs: number; seconds: number }[] = [];
  const ran = await run(
    scenario,
    desktops,
    machineFacts(),
    {
      begins: (plan, relay) => {
        console.error(`${describeLoad(scenario, plan)}. Relay: ${relay}.`);
        for (const warning of plan.warnings) console.error(`Warning: ${warning}.`);
      },
      second: ({ phase }) => {
        if (phase === 'measure') idle.push({ atMs: performance.now(), seconds: idleSeconds() });
      },
      aborts: (why) => console.error(`The run is ${why}.`),
      restarts: () => {},
      restarted: () => {},
    },
    signal,
  );
  const [first, last] = [idle[0], idle.at(-1)];
  const report = judge(reportOf(ran, scenario), scenario.thresholds);
  if (!first || !last || first === last) return { report };
  return { report, idleCores: (1000 * (last.seconds - first.seconds)) / (last.atMs - first.atMs) };
}

/** Trusts the certificates in a PEM file besides those that Node trusts, for the relay's site and its metrics. */
function trust(file: string): void {
  if (file === '') return;
  try {
    const certificates = readInput(file).toString('utf8');
    if (!certificates.includes('-----BEGIN CERTIFICATE-----')) throw new Error(`${file} has no certificate in PEM.`);
    setDefaultCACertificates([...getCACertificates(), certificates]);
  } catch (error) {
    throw new Misused(`--ca: ${sentenceOf(error)}`);
  }
}

/** Records a live relay and reports it. */
async function watchRelay({ values, given }: Pick<CommandLine<typeof OPTIONS>, 'values' | 'given'>): Promise<number> {
  for (const name of ['url', 'adminUrl', 'adminTokenFile'] as const) {
    if (values[name] === '')
      throw new Misused(`watch needs --${flagOf(name)}: the relay's own figures come from there.`);
  }
  const { url, adminUrl, adminTokenFile, canaries, out, quiet } = values;
  if (adminUrl.includes(',')) throw new Misused('watch records one relay: give one --admin-url.');
  trust(values.ca);
  if (out !== '') makeFolder(out, '--out');
  const durationS = given.has('duration') ? values.duration : undefined;
  let lines = 0;
  const watched = await watch({ url, adminUrl, adminTokenFile, durationS, canaries }, (soFar) => {
    if (!quiet) console.error(watchLine(lines++, soFar));
    if (out !== '' && isPageDue(soFar.seconds.length)) keepPage(out, watchPage(soFar, PAGE_REFRESH_SECONDS));
  });
  if (out !== '') keepWatch(watched, out);
  console.log(`\n${watchText(watched)}`);
  return watched.seconds.length > 0 ? EXIT.done : EXIT.failed;
}

/** Does every run of the scenario, one after the other. When a run fails, the runs before it are reported all the same. */
async function runAll(scenario: Scenario): Promise<number> {
  const { settings } = scenario;
  const reports: Report[] = [];
  let failed = '';
  for (const desktops of settings.desktops) {
    const runs: Report[] = [];
    for (let i = 0; i < settings.runs && failed === ''; i++) {
      try {
        const before = [...reports, ...runs].flatMap((report) => report.runs);
        const number = reports.length * settings.runs + i + 1;
        const ran = await runOne(scenario, desktops, before);
        if (settings.out !== '') keepResult(settings.out, number, ran.text);
        runs.push(reportOf(ran, scenario));
        failed = ran.result.message;
      } catch (error) {
        if (reports.length + runs.length === 0) throw error;
        failed = sentenceOf(error).replace(/\.$/, '');
      }
    }
    if (runs.length > 0) reports.push(judge(overRuns(runs), scenario.thresholds));
  }
  return tell(overSweep(reports, failed), settings.out);
}

/** `before` are the runs that have ended already: the history on the page that grows. */
async function runOne(scenario: Scenario, desktops: number, before: readonly Figures[]): Promise<CompletedRun> {
  let lines = 0;
  const { out, quiet, seed } = scenario.settings;
  const seconds: EngineSecond[] = [];
  const samples: RelaySample[] = [];
  let relayIs = '';
  let planned: Plan | undefined;
  let phase = { name: '', fromS: 0 };
  const machine = thisMachine();
  return run(scenario, desktops, machineFacts(), {
    begins: (plan, relay) => {
      planned = plan;
      relayIs = relay;
      console.error(`\n${describeLoad(scenario, plan)}.`);
      console.error(`Relay: ${relay}. Swarm: ${describeMix(plan)}.`);
      for (const warning of plan.warnings) console.error(`Warning: ${warning}.`);
      console.error('');
    },
    second: (second, sample) => {
      if (phase.name !== second.phase) phase = { name: second.phase, fromS: second.atS - 1 };
      const left = planned ? secondsLeft(scenario, planned, phase.name, second.atS - phase.fromS) : 0;
      if (!quiet) console.error(liveLine(lines++, scenario, second, sample, left));
      seconds.push(second);
      if (sample && sample !== samples.at(-1)) samples.push(sample);
      if (out === '' || !planned || !isPageDue(seconds.length)) return;
      const { name, shows, load } = scenario;
      const startedAtMs = Date.now() - second.atS * 1000;
      const growing = {
        ...soFar(startedAtMs, seconds, samples),
        name,
        shows,
        command: commandLine(),
        desktops,
        seed,
        relayIs,
        machines: [machine],
        mode: load.kind === 'closed' || load.kind === 'sitting' ? load.kind : ('open' as const),
        load: describeLoad(scenario, planned),
        startedAt: new Date(startedAtMs).toISOString(),
      };
      keepPage(out, growingPage(growing, duration(Math.ceil(left)), before));
    },
    aborts: (why) => console.error(`The run is ${why}.`),
    restarts: (how) => console.error(RESTARTS[how]),
    restarted: (seconds) => console.error(`It is there again after ${duration(seconds)}.`),
  });
}

function reportOf(ran: CompletedRun, scenario: Scenario): Report {
  const { name, shows, settings } = scenario;
  return merge([ran.result], {
    name,
    shows,
    command: commandLine(),
    machines: [thisMachine()],
    load: describeLoad(scenario, ran.plan),
    relay: ran.relayDescription,
    samples: ran.samples,
    relayAccount: ran.relayAccount,
    restarted: isRestarted(settings),
  });
}

/**
 * On a given relay the swarm joins a new world, so that its sprites never land on other people's desktops. Relays of a cluster share
 * only the default one.
 */
function withWorld(scenario: Scenario): Scenario {
  const { settings } = scenario;
  if (settings.urls.length !== 1 || settings.world !== '') return scenario;
  return { ...scenario, settings: { ...settings, world: `swarm-${Date.now().toString(36)}` } };
}

function keepResult(folder: string, run: number, line: string): void {
  writeFileSync(join(folder, `engine-${run}.json`), `${line}\n`);
}

function quoted(word: string): string {
  return /^[\w./:=,%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

if (import.meta.main) process.exitCode = await runCommand(COMMAND, carryOut);
