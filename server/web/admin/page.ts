/**
 * The operator's page: asks the relay for its newest samples every few seconds, and draws them.
 *
 * The admin token is kept in sessionStorage, so that it is gone with the tab, and sent as a header only.
 */
import { Chart, type ChartOptions, type Series } from './chart.ts';
import { ClusterTable } from './cluster.ts';
import { healthOf, type Level, levelOf, mostRefused } from './health.ts';
import { GALLERY, PictureList, REPORTS } from './picture_list.ts';
import { bytes, count, milliseconds, percent } from './quantities.ts';
import { type HistoryDocument, inOrder, Readings, sumOf, type Values } from './readings.ts';

const TOKEN_KEY = 'sprites-admin-token';

/** How long an answer may take, in ms. */
const ANSWER_MS_MAX = 10_000;

/** Series of a chart that have a colour; the smallest others are drawn as one. */
const COLOURED_MAX = 7;
const OTHERS_COLOUR = 8;

interface Tile {
  name: string;
  value: string;
  /** Says what the number is. */
  note: string;
  level?: Level;
}

const readings = new Readings();
let about: Omit<HistoryDocument, 'series' | 'times' | 'first'> = {
  started: 0,
  stepMs: 5000,
  samplesMax: 0,
  cores: 1,
  processes: {},
  cluster: null,
  isJournalFull: false,
  waiting: { reports: 0, pictures: 0 },
};
let cursor: number | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

const one = (name: string, colour: number, values: Values): Series => ({ name, colour, values });

/** The colour of a series stays the same while the page is open, even when others come and go. */
const colours = new Map<string, number>();
function colourOf(chart: string, name: string): number {
  const key = `${chart}/${name}`;
  const used = [...colours].filter(([other]) => other.startsWith(`${chart}/`)).map(([, colour]) => colour);
  const free = Array.from({ length: COLOURED_MAX }, (_, i) => i + 1).find((colour) => !used.includes(colour));
  const colour = colours.get(key) ?? free ?? OTHERS_COLOUR;
  if (colour !== OTHERS_COLOUR) colours.set(key, colour);
  return colour;
}

/** At most COLOURED_MAX series in the order given, and the sum of the others, which are smaller, or below `least` at all times. */
function largest(chart: string, series: readonly { name: string; values: Values }[], least = 0): Series[] {
  const area = ({ values }: { values: Values }) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const named = series.filter(({ values }) => values.some((value) => (value ?? 0) >= least));
  const kept = new Set(named.toSorted((a, b) => area(b) - area(a)).slice(0, COLOURED_MAX));
  for (const key of colours.keys()) {
    if (key.startsWith(`${chart}/`) && ![...kept].some(({ name }) => key === `${chart}/${name}`)) colours.delete(key);
  }
  const shown = series
    .filter((entry) => kept.has(entry))
    .map(({ name, values }) => one(name, colourOf(chart, name), values));
  const rest = series.filter((entry) => !kept.has(entry));
  if (rest.length === 0) return shown;
  const sum = sumOf(rest.map(({ values }) => values));
  return [...shown, one(shown.length === 0 ? 'all' : `${rest.length} others`, OTHERS_COLOUR, sum)];
}

/** Series below this at all times, in cores, are not named: most threads of a process do nothing. */
const THREAD_CPU_MIN = 0.03;

/** The series of a kind in order, named by what comes after it, such as `worker:1` for `delay/worker:1`. */
function partsOf(kind: string): { name: string; values: Values }[] {
  return inOrder(readings.names(kind)).map((name) => ({
    name: name.slice(kind.length),
    values: readings.values(name),
  }));
}

/** CPU of the processes: names of series are `cpu/PROCESS/THREAD`. */
function cpuByProcess(): { name: string; values: Values }[] {
  const names = new Set(partsOf('cpu/').map(({ name }) => name.split('/')[0]));
  return [...names].map((name) => ({ name, values: allOf(`cpu/${name}/`) }));
}

/** The sum of the series of a kind. */
function allOf(kind: string): Values {
  return readings.sum(readings.names(kind));
}

/** Some series by their own names, each as it is called and coloured in the chart. */
const known = (...lines: [name: string, colour: number, series: string][]) =>
  lines.map(([name, colour, series]) => one(name, colour, readings.values(series)));

const CHARTS: ChartOptions[] = [
  {
    title: 'Desktops',
    unit: 'live: here now; parked: with a request that waits for news',
    format: count,
    topMin: 4,
    series: () => known(['live', 1, 'desktops'], ['parked', 3, 'parked']),
  },
  {
    title: 'Sprites',
    unit: 'a second, from who throws them, and confirmed by who gets them',
    format: count,
    topMin: 4,
    series: () => known(['accepted', 1, 'sprites/accepted'], ['acknowledged', 3, 'sprites/acknowledged']),
  },
  {
    title: 'Waiting',
    unit: 'sprites in mailboxes, until their desktops confirm them',
    format: count,
    topMin: 4,
    stacked: true,
    series: () => known(['waiting', 5, 'waiting']),
  },
  {
    title: 'Accepted to sent',
    unit: 'how long the sprites of the last minute were in the relay',
    format: milliseconds,
    topMin: 1,
    series: () => known(['half within', 3, 'wait/p50'], ['99 % within', 1, 'wait/p99']),
  },
  {
    title: 'Sayings',
    unit: 'lines a second, and how many desktops heard them',
    format: count,
    topMin: 1,
    series: () => known(['said', 1, 'sayings/said'], ['heard', 3, 'sayings/heard']),
  },
  {
    title: 'Loop delay',
    unit: 'longest time in 5 s in which a process could not answer',
    format: milliseconds,
    topMin: 10,
    series: () => largest('delay', partsOf('delay/')),
  },
  {
    title: 'CPU by process',
    unit: 'of one core',
    format: percent,
    topMin: 0.5,
    stacked: true,
    series: () => largest('cpu', cpuByProcess()),
  },
  {
    title: 'CPU by thread',
    unit: 'of one core',
    format: percent,
    topMin: 0.5,
    stacked: true,
    series: () => {
      const threads = partsOf('cpu/').map(({ name, values }) => ({ name: name.replace('/', ' · '), values }));
      return largest('threads', threads, THREAD_CPU_MIN);
    },
  },
  {
    title: 'Machine',
    unit: 'of all cores; steal: what other machines of the host got',
    format: percent,
    topMin: 1,
    topMax: 1,
    stacked: true,
    series: () => {
      const share = (values: Values) => values.map((value) => value && value / about.cores);
      const own = share(allOf('cpu/'));
      const busy = share(readings.values('machine/busy'));
      const other = busy.map((value, i) => value && Math.max(0, value - (own[i] ?? 0)));
      const steal = share(readings.values('machine/steal'));
      return [one('relay', 1, own), one('other programs', 8, other), one('steal', 4, steal)];
    },
  },
  {
    title: 'Memory',
    unit: 'of all processes; the heap and the mailboxes are parts of it',
    format: bytes,
    topMin: 2 ** 26,
    base: 1024,
    series: () => [
      one('resident', 1, allOf('rss/')),
      one("V8's heap", 2, allOf('heap/')),
      ...known(['mailboxes', 5, 'slab']),
    ],
  },
  {
    title: 'Refused',
    unit: 'throws, requests and connections a second, by reason',
    format: count,
    topMin: 1,
    stacked: true,
    series: () => largest('refused', partsOf('refused/')),
  },
];

const main = document.querySelector('main') as HTMLElement;
const form = document.querySelector('form') as HTMLFormElement;
const input = document.querySelector('#token') as HTMLInputElement;
const status = document.querySelector('#status') as HTMLElement;
const why = document.querySelector('#why') as HTMLElement;
const health = document.querySelector('#health') as HTMLElement;
const reports = new PictureList(REPORTS, ask);
const gallery = new PictureList(GALLERY, ask);

const charts = CHARTS.map((options) => new Chart(options, showCursor));
document.querySelector('#charts')?.append(...charts.map(({ element }) => element));
document.querySelector('#pictures')?.append(reports.element, gallery.element);

const cluster = new ClusterTable(document.querySelector('#cluster') as HTMLElement);

function showCursor(index: number | undefined): void {
  if (index === cursor) return;
  cursor = index;
  for (const chart of charts) chart.showCursor(cursor);
  showStatus();
}

function draw(): void {
  showHealth();
  showTiles();
  for (const chart of charts) chart.draw(readings.times, about.stepMs, cursor);
  showStatus();
}

/** A screen reader says it when it changes. */
function showHealth(): void {
  const { level, text } = healthOf(readings, about);
  health.dataset.level = level;
  if (health.textContent !== text) health.textContent = text;
  reports.showWaiting(about.waiting.reports);
  gallery.showWaiting(about.waiting.pictures);
}

function showTiles(): void {
  const tiles = [...trafficTiles(), ...machineTiles()];
  document.querySelector('#tiles')?.replaceChildren(...tiles.map(tileElement));
}

/** The newest value. */
function newest(values: Values): number {
  return values.at(-1) ?? 0;
}

function at(name: string): number {
  return newest(readings.values(name));
}

/** What flies and is said. */
function trafficTiles(): Tile[] {
  const wait = readings.values('wait/p99').at(-1) ?? null;
  const refused = newest(allOf('refused/'));
  return [
    {
      name: 'Desktops',
      value: count(at('desktops')),
      note: `are here; ${count(at('parked'))} have a request parked that waits for news`,
    },
    {
      name: 'Sprites a second',
      value: count(at('sprites/accepted')),
      note: `are thrown; ${count(at('waiting'))} wait until their desktops confirm them`,
    },
    {
      name: 'Sayings a second',
      value: count(at('sayings/said')),
      note: `are said; desktops heard ${count(at('sayings/heard'))}`,
    },
    {
      name: 'Accepted to sent',
      value: wait === null ? '–' : milliseconds(wait),
      note: "99 % of the last minute's sprites were sent on within this time",
      level: levelOf('half', at('wait/p50')) === 'bad' ? 'bad' : levelOf('most', wait ?? 0),
    },
    {
      name: 'Refused a second',
      value: count(refused),
      note: `throws, requests and connections${refused > 0 ? `, mostly ${mostRefused(readings)}` : ''}`,
      level: levelOf('refused', refused),
    },
  ];
}

/** What it costs. */
function machineTiles(): Tile[] {
  const delay = at('delay/master');
  const main = at('cpu/master/main');
  const steal = at('machine/steal') / about.cores;
  const cores = about.cores === 1 ? 'one core' : `${about.cores} cores`;
  return [
    {
      name: 'Loop delay',
      value: milliseconds(delay),
      note: 'was the longest time in which the master could answer nobody',
      level: levelOf('delay', delay),
    },
    {
      name: "Master's thread",
      value: percent(main),
      note: 'of one core: every sprite goes through this thread',
      level: levelOf('main', main),
    },
    {
      name: 'CPU of the relay',
      value: percent(newest(allOf('cpu/'))),
      note: `of one core, by all its processes; the machine has ${cores}`,
    },
    {
      name: 'Steal',
      value: percent(steal),
      note: "of the processor's time went to other machines of the same host",
      level: levelOf('steal', steal),
    },
    {
      name: 'Memory',
      value: bytes(newest(allOf('rss/'))),
      note: `of all its processes; mailboxes are ${bytes(at('slab'))} of it`,
    },
  ];
}

function tileElement({ name, value, note, level = 'good' }: Tile): HTMLElement {
  const item = document.createElement('li');
  item.dataset.level = level;
  for (const [kind, text] of Object.entries({ name, value, note })) {
    const span = document.createElement('span');
    span.className = `tile-${kind}`;
    span.textContent = text;
    item.append(span);
  }
  return item;
}

function showStatus(problem?: string): void {
  status.dataset.level = problem ? 'bad' : 'good';
  health.hidden = problem !== undefined; // it is of the past then
  const time = readings.times[cursor ?? readings.times.length - 1];
  const clock = time === undefined ? '' : new Date(time).toLocaleTimeString('en-GB');
  status.textContent = problem ?? (cursor === undefined ? `live, ${clock}` : `at ${clock}`);
  const processes = document.querySelector('#processes') as HTMLElement;
  const known = inOrder(Object.keys(about.processes)).map((name) => `${name} ${about.processes[name]}`);
  // A machine with many cores has more workers than fit into a line.
  processes.textContent = known.length > 9 ? `${known.length} processes` : known.join(' · ');
}

/** Sends a request with the token that the operator has entered. */
function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(path, {
    ...init,
    headers: { authorization: `Bearer ${sessionStorage.getItem(TOKEN_KEY)}` },
    cache: 'no-store',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
}

/** Asks for new samples, draws them, and asks again when the next one is due. */
async function refresh(): Promise<void> {
  clearTimeout(timer);
  if (!sessionStorage.getItem(TOKEN_KEY)) return lock('');
  try {
    const response = await ask(`admin/history?after=${readings.newest}`);
    if (response.status === 401) return lock('The relay rejects this token.');
    if (!response.ok) throw new Error(`status ${response.status}`);
    const answer = (await response.json()) as HistoryDocument;
    readings.append(answer);
    about = answer;
    cluster.show(answer.cluster);
    unlock();
    draw();
  } catch {
    const last = readings.times.at(-1);
    const since = last ? ` since ${new Date(last).toLocaleTimeString('en-GB')}` : '';
    if (document.body.dataset.state === 'open') showStatus(`The relay does not answer${since}.`);
    else why.textContent = 'The relay does not answer.';
  }
  timer = setTimeout(refresh, about.stepMs);
}

function lock(reason: string): void {
  clearTimeout(timer);
  sessionStorage.removeItem(TOKEN_KEY);
  for (const list of [reports, gallery]) list.close();
  document.body.dataset.state = 'locked';
  main.hidden = true;
  form.hidden = false;
  why.textContent = reason;
  status.textContent = '';
  input.focus();
}

function unlock(): void {
  document.body.dataset.state = 'open';
  main.hidden = false;
  form.hidden = true;
  input.value = '';
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  sessionStorage.setItem(TOKEN_KEY, input.value.trim());
  void refresh();
});
document.querySelector('#forget')?.addEventListener('click', () => lock(''));
window.addEventListener('resize', () => readings.times.length > 0 && draw());
// A hidden tab's timers are slow; what it has missed comes with the next answer.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && document.body.dataset.state === 'open') void refresh();
});
void refresh();
