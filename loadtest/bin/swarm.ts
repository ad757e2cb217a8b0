/**
 * `npm run swarm`: parse, plan, run, judge, tell. Progress goes to stderr, the report to stdout.
 *
 * Exit 0: the run is complete and every threshold held. 1: it is not, or one did not. 2: misused.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildEngine } from '../../tools/build.js';
import { compareFiles } from '../report/compare.ts';
import { merge, overRuns, type Report } from '../report/merge.ts';
import { keep, text } from '../report/report.ts';
import { judge } from '../report/verdict.ts';
import { furnish, isInside, isolate } from '../run/isolate.ts';
import { liveLine } from '../run/live.ts';
import { machineFacts, thisMachine } from '../run/machine.ts';
import { describeLoad, describeMix } from '../run/plan.ts';
import { type Ran, run } from '../run/run.ts';
import { Misused, readFlags, readScenario, type Scenario, settingsHelp } from '../run/scenario.ts';

const SCENARIOS = join(import.meta.dirname, '../scenarios');
const EXIT = { pass: 0, fail: 1, misused: 2 } as const;

const USAGE = `Usage: npm run swarm -- [SCENARIO] [settings]
       npm run swarm -- compare A/report.json B/report.json

Fake desktops that hold long-polls and throw sprites, and a report of what a relay did with every one of them.
SCENARIO is a JSON file with the same settings, or one of those kept here:
  ${kept().join(', ')}.
Settings on the command line win. Times are 500ms, 5s, 2m.

${settingsHelp()}

Thresholds, any number of them:
  --threshold "p99 < 50ms"    also p50, p90, p99.9, max, lost, duplicated, misrouted, refused, late, achieved >= 99%,
                              cpuUsPerSprite, rss < 300MiB, heap, gcMax, loopDelayMax, …

Exit code: 0 every threshold held, 1 one did not or the run is not complete, 2 misused.`;

async function main(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help')) {
    console.log(USAGE);
    return EXIT.pass;
  }
  if (argv[0] === 'compare') {
    console.log(compareFiles(argv.slice(1)));
    return EXIT.pass;
  }
  const flags = readFlags(argv);
  if (flags.words.length > 1) throw new Misused(`one scenario at a time, not ${flags.words.join(' and ')}`);
  const [word] = flags.words;
  const scenario = readScenario(word === undefined ? undefined : open(word), flags);
  const why = buildEngine();
  if (why) throw new Error(`the swarm's engine cannot be built: ${why}`);
  if (scenario.settings.isolate && !isInside()) return isolate();
  if (isInside()) furnish();
  return conduct(withWorld(scenario), ['npm run swarm --', ...argv.map(quoted)].join(' '));
}

/** Every run of the scenario, one after the other; what came before a run that could not be had is told all the same. */
async function conduct(scenario: Scenario, command: string): Promise<number> {
  const { settings } = scenario;
  const reports: Report[] = [];
  let failed = '';
  for (const desktops of settings.desktops) {
    const runs: Report[] = [];
    for (let i = 0; i < settings.runs && failed === ''; i++) {
      try {
        const ran = await runOne(scenario, desktops);
        if (settings.out !== '') keepResult(settings.out, reports.length * settings.runs + i + 1, ran.text);
        runs.push(reportOf(ran, scenario, command));
        failed = ran.result.message;
      } catch (error) {
        if (reports.length + runs.length === 0) throw error;
        failed = (error as Error).message;
      }
    }
    if (runs.length > 0) reports.push(judge(overRuns(runs), scenario.thresholds));
  }
  const report = asOne(reports, failed);
  if (settings.out !== '') keep(report, settings.out);
  console.log(`\n${text(report)}`);
  if (settings.out !== '') console.log(`Kept: ${join(settings.out, 'report.html')}, report.txt, report.json.`);
  return report.pass ? EXIT.pass : EXIT.fail;
}

/** A sweep is told by its last point, and every point is among its runs. */
function asOne(reports: readonly Report[], failed: string): Report {
  const last = reports.at(-1) as Report;
  const complete = failed === '';
  return {
    ...last,
    ok: last.ok && complete,
    message: failed,
    pass: complete && reports.every(({ pass }) => pass),
    runs: reports.flatMap(({ runs }) => runs),
  };
}

async function runOne(scenario: Scenario, desktops: number): Promise<Ran> {
  let lines = 0;
  return run(scenario, desktops, machineFacts(), {
    begins: (plan, relayIs) => {
      console.error(`\n${describeLoad(scenario, plan)}.`);
      console.error(`Relay: ${relayIs}. Swarm: ${describeMix(plan)}; ${plan.processes} engine process(es).`);
      for (const warning of plan.warnings) console.error(`Warning: ${warning}.`);
      console.error('');
    },
    second: (second, sample) => {
      if (!scenario.settings.quiet) console.error(liveLine(lines++, second, sample));
    },
    restarts: () => console.error('The relay is stopped and started anew.'),
  });
}

function reportOf(ran: Ran, { name, shows, ...scenario }: Scenario, command: string): Report {
  return merge([ran.result], {
    name,
    shows,
    command,
    machines: [thisMachine()],
    load: describeLoad({ name, shows, ...scenario }, ran.plan),
    relay: ran.relayIs,
    samples: ran.samples,
    restarted: scenario.settings.restartAt > 0,
  });
}

/** A relay that others use too: its people shall not find a swarm's sprites on their desktops. */
function withWorld(scenario: Scenario): Scenario {
  const { settings } = scenario;
  if (settings.url === '' || settings.world !== '') return scenario;
  return { ...scenario, settings: { ...settings, world: `swarm-${Date.now().toString(36)}` } };
}

function kept(): string[] {
  return readdirSync(SCENARIOS)
    .filter((name) => name.endsWith('.json'))
    .map((name) => basename(name, '.json'));
}

function open(word: string): { json: string; where: string } {
  const path = existsSync(word) ? word : join(SCENARIOS, `${word}.json`);
  try {
    return { json: readFileSync(path, 'utf8'), where: word };
  } catch {
    throw new Misused(`there is no scenario "${word}": give a file, or one of ${kept().join(', ')}`);
  }
}

function keepResult(folder: string, run: number, line: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `engine-${run}.json`), `${line}\n`);
}

function quoted(word: string): string {
  return /^[\w./:=,%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const misused = error instanceof Misused;
  console.error(`swarm: ${(error as Error).message}${misused ? ' (--help lists the settings)' : ''}.`);
  process.exitCode = misused ? EXIT.misused : EXIT.fail;
}
