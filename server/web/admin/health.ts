/**
 * The health of the relay, in a sentence for its operator: all is well, or what is wrong and what to do about it.
 *
 * The limits here are those of the tiles, too. A number counts as wrong when its newest LASTING_SAMPLES samples are: one slow moment is none.
 * server/deploy/alerts.yml has the same faults for Prometheus, over minutes.
 */
import { count, milliseconds, percent } from './quantities.ts';
import { type HistoryDocument, type Readings, sumOf, type Values } from './readings.ts';

export type Level = 'good' | 'warn' | 'bad';

export interface Health {
  level: Level;
  text: string;
}

/** Samples of five seconds for which something is wrong before it counts. */
const LASTING_SAMPLES = 3;

/** Of fewer desktops some have no poll most of the time: they are joining, or leaving. */
const DESKTOPS_WITH_POLLS_MIN = 20;

/** A number above `warn` is not good, one above `bad` is bad. */
const LIMITS = {
  /** ms within which half, and 99 %, of the sprites were sent. */
  half: { warn: 100, bad: 100 },
  most: { warn: 1000, bad: Number.POSITIVE_INFINITY },
  /** ms of the master's longest block. */
  delay: { warn: 50, bad: 250 },
  /** Share of a core that the master's thread uses. */
  main: { warn: 0.8, bad: 0.95 },
  /** Share of the machine's processor time that other machines got. */
  steal: { warn: 0.05, bad: 0.2 },
  /** Refusals a second. */
  refused: { warn: 0, bad: Number.POSITIVE_INFINITY },
};

export function levelOf(name: keyof typeof LIMITS, value: number): Level {
  const { warn, bad } = LIMITS[name];
  return value > bad ? 'bad' : value > warn ? 'warn' : 'good';
}

/** What to do about refusals for a reason; for others OPERATING.md says it. */
const REMEDIES: Record<string, string> = {
  connections: 'Raise its limit of open files, or add a relay.',
  'limits by address': 'Behind a proxy, start it with --trust-proxy.',
  'too-fast': 'Look for a program out of control: npm run admin -- who --busiest 10s.',
};

type About = Pick<HistoryDocument, 'cores' | 'cluster' | 'isJournalFull' | 'waiting'>;

/** The health in the newest samples. */
export function healthOf(readings: Readings, about: About): Health {
  const faults = [...stateFaults(about), ...numberFaults(readings, about.cores)];
  const bad = faults.filter(({ level }) => level === 'bad');
  const found = [...bad, ...faults.filter(({ level }) => level === 'warn')];
  const level = bad.length > 0 ? 'bad' : found.length > 0 ? 'warn' : 'good';
  const texts = found.length > 0 ? found.map(({ text }) => text) : ['All is well.'];
  return { level, text: [...texts, ...tasks(about)].join(' ') };
}

/** What waits for the operator. */
function tasks({ waiting: { reports, pictures } }: About): string[] {
  const wait = (count: number, one: string, many: string) =>
    count === 0 ? [] : [count === 1 ? `One ${one} waits for you below.` : `${count} ${many} wait for you below.`];
  return [
    ...wait(reports, 'reported picture', 'reported pictures'),
    ...wait(pictures, 'picture for the gallery', 'pictures for the gallery'),
  ];
}

function stateFaults({ isJournalFull, cluster }: About): Health[] {
  const faults: Health[] = [];
  const add = (text: string, level: Level = 'bad') => faults.push({ level, text });
  if (isJournalFull) add('The disk is full, so nobody can join or throw. Make room on the disk of the data directory.');
  if (cluster?.connected === false) add('NATS does not answer, so sprites to other relays bounce. Start it again.');
  for (const { relay, state } of cluster?.relays ?? []) {
    if (state === 'gone')
      add(
        `The relay ${relay} is gone. Start it again; if it never comes back: npm run admin -- relays forget ${relay}.`,
      );
    if (state === 'suspected') add(`The relay ${relay} is silent. Look whether it runs.`, 'warn');
  }
  return faults;
}

function numberFaults(readings: Readings, cores: number): Health[] {
  const faults: Health[] = [];
  const at = (name: string) => lasting(readings.values(name));
  const check = (name: keyof typeof LIMITS, value: number, text: string) =>
    faults.push({ level: levelOf(name, value), text });

  const parked = readings.values('parked');
  const isWithoutPolls = readings
    .values('desktops')
    .map((count, i) => Number(count !== null && count > DESKTOPS_WITH_POLLS_MIN && (parked[i] ?? count) < count / 2));
  if (lasting(isWithoutPolls) === 1) {
    const text = 'Fewer than half of the desktops hold a poll. Look whether programs reach the events port.';
    faults.push({ level: 'bad', text });
  }
  const [half, most] = [at('wait/p50'), at('wait/p99')];
  check(
    'half',
    half,
    `Half of the sprites wait for ${milliseconds(half)} or longer: look at the loop delay and at the CPU below.`,
  );
  if (levelOf('half', half) === 'good') {
    check(
      'most',
      most,
      `One sprite of a hundred waits for ${milliseconds(most)} or longer: some desktops poll too rarely.`,
    );
  }
  const delay = at('delay/master');
  check(
    'delay',
    delay,
    `The master answers nobody for ${milliseconds(delay)} at a time: move other programs away, or give it a faster core.`,
  );
  const main = at('cpu/master/main');
  check('main', main, `The master's thread needs ${percent(main)} of a core: give it a faster core, or add a relay.`);
  const steal = at('machine/steal') / cores;
  check('steal', steal, `Other machines get ${percent(steal)} of the processor's time: ask the host, or move.`);
  const names = readings.names('refused/');
  const refused = names.length === 0 ? 0 : lasting(sumOf(names.map((name) => readings.values(name))));
  const reason = mostRefused(readings);
  const remedy = REMEDIES[reason] ?? 'OPERATING.md says what that means (Metrics).';
  check('refused', refused, `${count(refused)} a second are refused, mostly ${reason}. ${remedy}`);
  return faults;
}

/** The reason for which most is refused now; empty when nothing is. */
export function mostRefused(readings: Readings): string {
  const reasons = readings.names('refused/').map((name) => ({ name, value: readings.values(name).at(-1) ?? 0 }));
  const most = reasons.toSorted((a, b) => b.value - a.value)[0];
  return most?.value ? most.name.slice('refused/'.length) : '';
}

/** The lowest of the newest samples: what has lasted. 0 while there are fewer, or one of them is not known. */
function lasting(values: Values): number {
  return values.length < LASTING_SAMPLES ? 0 : Math.min(...values.slice(-LASTING_SAMPLES).map((value) => value ?? 0));
}
