/**
 * A capacity: the highest rate, or number of desktops, at which the thresholds of a scenario hold; as text, for the page, as a picture.
 *
 * Pure. It is a part of the report of the run that confirmed it. Invariant: it says what is not certain: a figure that was not confirmed by a
 * longer run, a bound above which the swarm or the machine was the limit, and a search that ended early.
 */
import { COUNT, escaped, lines, standalone, TIME } from './chart.ts';
import { figure, type Tile, table, tilesOf } from './document.ts';
import { NEVER_US } from './histogram.ts';
import { aligned, count, duration, known, number, time } from './units.ts';

export type Contender = 'relay' | 'floor';

/** Who could not do more; `none`: nothing that was tried was too much. */
export type CapacityLimit = 'none' | 'relay' | 'swarm' | 'machine';

/** One run of a search. */
export interface CapacityTry {
  /** The value that is searched for: a rate, or desktops. */
  at: number;
  /** A longer run, which confirms. */
  long: boolean;
  holds: boolean;
  /** When it does not hold: who was the limit, and why; a sentence. */
  limit: CapacityLimit;
  reason: string;
  /** The thresholds that did not hold, with what was found. */
  broken: string[];
  /** Of the measured window, in seconds. */
  seconds: number;
  deliveredPerS: number;
  p50Us: number;
  p99Us: number;
  relayCores: number | null;
  swarmCores: number;
}

/** What a search found for one number of desktops, or for one rate. */
export interface CapacityPoint {
  contender: Contender;
  desktops: number;
  /** Sprites or sayings a second. With desktops, the highest values that held; 0: none did. */
  perSecond: number;
  /** A longer run held. */
  confirmed: boolean;
  /** The lowest rate, or number of desktops, that did not hold; null: none. */
  atMost: number | null;
  limit: CapacityLimit;
  limitReason: string;
  /** The threshold that did not hold at `atMost`, with what was found there; empty: none. */
  threshold: string;
  ended: 'found' | 'time' | 'interrupted';
  tries: CapacityTry[];
}

/** The member `capacity` of report.json. Its own figures are those of the last point of the relay. */
export interface Capacity extends Omit<CapacityPoint, 'contender' | 'tries'> {
  over: 'rate' | 'desktops';
  /** What flies. */
  unit: 'sprites' | 'sayings';
  thresholds: string[];
  points: CapacityPoint[];
}

const LIMITS: Record<CapacityLimit, string> = {
  none: 'not reached: no higher value was tried',
  relay: 'the relay',
  swarm: 'the swarm, not the relay: the relay may carry more',
  machine: 'the machine, on which the relay and the swarm run: with more cores the relay may carry more',
};

const ENDED: Record<CapacityPoint['ended'], string> = {
  found: '',
  time: 'The time was over before the search.',
  interrupted: 'The search was interrupted.',
};

/** The answer in a sentence. */
function capacitySentence({ over, unit }: Capacity, point: CapacityPoint): string {
  const { contender, desktops, perSecond, confirmed, atMost, threshold, tries } = point;
  const who = contender === 'floor' ? 'the C floor: ' : '';
  const rate = `${number(perSecond)} ${unit}/s`;
  const found = over === 'rate' ? perSecond : desktops;
  const above = over === 'rate' ? `${number(atMost ?? 0)}/s` : `${count(atMost ?? 0)} desktops`;
  const broken = threshold === '' ? '' : `: ${threshold}`;
  const bound = atMost === null ? 'the most that was tried' : `${above} did not hold${broken}`;
  const searched = over === 'rate' ? `at ${count(desktops)} desktops` : `at ${rate}`;
  if (tries.length === 0) return `${who}nothing is known ${searched}`;
  if (found === 0) return `${who}no value held ${searched}; ${bound}`;
  const long = tries.findLast((one) => one.long && one.holds && one.at === found);
  const proof = confirmed && long ? `, confirmed for ${duration(long.seconds)}` : ', not confirmed by a longer run';
  return `${who}${over === 'rate' ? `${rate} with ${count(desktops)} desktops` : `${count(desktops)} desktops at ${rate}`}${proof}; ${bound}`;
}

/** The relay's capacity as a share of the floor's, at the same number of desktops; undefined where the swarm could not find one of them. */
function shareOfFloor(capacity: Capacity, relay: CapacityPoint): number | undefined {
  const of = ({ desktops, perSecond }: CapacityPoint) => (capacity.over === 'rate' ? perSecond : desktops);
  const isSame = (one: CapacityPoint) =>
    capacity.over === 'rate' ? one.desktops === relay.desktops : one.perSecond === relay.perSecond;
  const floor = capacity.points.find((one) => one.contender === 'floor' && isSame(one));
  const isFound = (one: CapacityPoint) => one.atMost !== null && one.limit !== 'swarm' && of(one) > 0;
  return floor && isFound(floor) && isFound(relay) ? of(relay) / of(floor) : undefined;
}

/** For the terminal and report.txt: of each point its sentences, and its table. */
export function capacityTexts(capacity: Capacity): { sentences: string[]; table: string[] }[] {
  return capacity.points.map((point) => ({
    sentences: sentencesOf(capacity, point),
    table: aligned([columnsOf(capacity), ...point.tries.map(rowOf)]).map((line) => `  ${line}`),
  }));
}

function sentencesOf(capacity: Capacity, point: CapacityPoint): string[] {
  const share = point.contender === 'relay' ? shareOfFloor(capacity, point) : undefined;
  return [
    `${capacitySentence(capacity, point)}.`,
    `The limit was ${LIMITS[point.limit]}${point.limitReason === '' ? '' : ` (${point.limitReason})`}.`,
    ...(share === undefined ? [] : [`That is ${(100 * share).toFixed(0)} % of what the C floor carries.`]),
    ...(ENDED[point.ended] === '' ? [] : [ENDED[point.ended]]),
  ];
}

function columnsOf({ over, unit }: Capacity): string[] {
  const searched = over === 'rate' ? `${unit}/s` : 'desktops';
  return [searched, 'window', 'delivered/s', 'p50', 'p99', 'relay', 'swarm', 'holds', 'limit'];
}

function rowOf(one: CapacityTry): string[] {
  return [
    number(one.at),
    `${duration(one.seconds)}`,
    number(one.deliveredPerS),
    ...[one.p50Us, one.p99Us].map(time),
    known(one.relayCores, number),
    number(one.swarmCores),
    one.holds ? 'yes' : 'no',
    one.holds ? '' : one.limit,
  ];
}

/** The section of the page, as HTML: tiles, pictures, every run. */
export function capacitySection(capacity: Capacity): string {
  const { points } = capacity;
  const tiles = points.map((point): Tile => {
    const share = point.contender === 'relay' ? shareOfFloor(capacity, point) : undefined;
    const value = capacity.over === 'rate' ? `${number(point.perSecond)}/s` : count(point.desktops);
    const name = `${point.contender === 'floor' ? 'the C floor' : 'capacity'}, ${capacity.over === 'rate' ? `${count(point.desktops)} desktops` : `${number(point.perSecond)}/s`}`;
    return [name, value, share === undefined ? `limit: ${point.limit}` : `${(100 * share).toFixed(0)} % of the floor`];
  });
  const runs = points.map((point) =>
    table([`${point.contender}, ${columnsOf(capacity)[0]}`, ...columnsOf(capacity).slice(1)], point.tries.map(rowOf)),
  );
  return `${tilesOf(tiles)}
${points.map((point) => `<p class="complaint">${escaped(sentencesOf(capacity, point).join(' '))}</p>`).join('\n')}
<section class="charts">${curvesOf(capacity).join('\n')}</section>
${runs.map((run) => `<section class="wide">${run}</section>`).join('\n')}`;
}

interface Curve {
  title: string;
  unit: string;
  series: Parameters<typeof lines>[1]['series'];
  drawing: string;
}

function curvesOf(capacity: Capacity): string[] {
  return curves(capacity).map(({ title, unit, series, drawing }) => figure(title, unit, series, drawing));
}

/** The capacities over desktops, then what each search saw; nothing of one that ended before its first run. */
function curves({ over, unit, points }: Capacity): Curve[] {
  const searched = points.filter(({ tries }) => tries.length > 0);
  return [
    ...(over === 'rate' ? capacityCurve(unit, searched) : []),
    ...searched.map((point) => triesCurve(over, unit, point)),
  ];
}

/** The picture alone, as a file: the capacities over desktops, or what one search saw. */
export function capacityPicture(capacity: Capacity): string {
  const [curve] = curves(capacity);
  return standalone(`${curve.title}${curve.unit === '' ? '' : `, ${curve.unit}`}`, curve.series, curve.drawing);
}

/** Rates over desktops; none with one number of desktops. */
function capacityCurve(unit: Capacity['unit'], points: readonly CapacityPoint[]): Curve[] {
  const x = [...new Set(points.map(({ desktops }) => desktops))].sort((a, b) => a - b);
  if (x.length < 2) return [];
  const of = (contender: Contender, value: (point: CapacityPoint) => number | null | undefined) =>
    x.map((desktops) => {
      const point = points.find((one) => one.contender === contender && one.desktops === desktops);
      return (point && value(point)) ?? undefined;
    });
  const series = [
    { name: 'holds', colour: 1, values: of('relay', ({ perSecond }) => perSecond), area: true },
    { name: 'does not hold', colour: 4, values: of('relay', ({ atMost }) => atMost) },
    { name: 'the C floor holds', colour: 6, values: of('floor', ({ perSecond }) => perSecond) },
  ].filter(({ values }) => values.some((value) => value !== undefined));
  const title = 'Capacity by number of desktops';
  return [
    { title, unit: `${unit} a second`, series, drawing: lines(title, { x, series, axis: COUNT, unit: '', log: true }) },
  ];
}

/** Latency over what was tried, with the value that was found as the end of the shaded part. */
function triesCurve(
  over: Capacity['over'],
  unit: Capacity['unit'],
  { contender, desktops, perSecond, tries }: CapacityPoint,
): Curve {
  const rising = [...new Map(tries.map((one) => [one.at, one])).values()].sort((a, b) => a.at - b.at);
  const x = rising.map(({ at }) => at);
  const arrived = (us: number) => (us > 0 && us < NEVER_US ? us : undefined);
  const series = [
    { name: 'p99', colour: 5, values: rising.map(({ p99Us }) => arrived(p99Us)) },
    { name: 'p50', colour: 1, values: rising.map(({ p50Us }) => arrived(p50Us)) },
  ];
  const who = contender === 'floor' ? 'C floor' : 'relay';
  const title =
    over === 'rate'
      ? `Latency of the ${who} by rate, ${count(desktops)} desktops`
      : `Latency of the ${who} by desktops, ${number(perSecond)}/s`;
  const found = over === 'rate' ? perSecond : desktops;
  const drawing = lines(title, {
    x,
    series,
    axis: TIME,
    unit: '',
    log: true,
    ...(found > 0 && x.length > 1 ? { window: [x[0], found] as const } : {}),
  });
  return {
    title,
    unit: over === 'rate' ? `${unit} a second; what holds is shaded` : 'what holds is shaded',
    series,
    drawing,
  };
}
