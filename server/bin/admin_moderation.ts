/** The commands of `npm run admin` about people and pictures: what each asks the relay, and how its answer is printed. */
import { duration, goingWith, Misused, matching, text, type Values } from '../../tools/command.ts';
import { BAN_SECONDS_MAX } from '../moderation/bans.ts';
import type { ModerationList } from '../moderation/moderation_list.ts';
import type { WhoRow } from '../moderation/moderator.ts';
import { BUSIEST_SECONDS_MAX } from '../operator/listings.ts';
import { FILE } from '../wire/fields.ts';
import type { GalleryEntry } from '../wire/gallery.ts';
import type { Report } from '../wire/report.ts';
import { FILE_DIGITS } from '../wire/rules.ts';
import { counted, type Print, type Query } from './admin_query.ts';

export const MODERATION_OPTIONS = {
  ...goingWith(['who'], {
    world: text('NAME', 'only the desktops of this world'),
    busiest: duration('T', 'watch all of them for this long, and list those that throw most', [1, BUSIEST_SECONDS_MAX]),
  }),
  ...goingWith(['ban'], {
    for: duration('DURATION', 'how long the ban lasts, such as 12h; for ever without it', [1, BAN_SECONDS_MAX]),
  }),
  ...goingWith(['forget'], {
    contact: text('TEXT', 'a visitor who has left feedback with this contact, in place of a desktop'),
  }),
  ...goingWith(['ban', 'unban'], {
    picture: matching('HASH', 'a picture in place of an address', `${FILE_DIGITS} lowercase hex digits`, FILE),
  }),
};

type Command = readonly [words: string, meaning: string];

export const MODERATION_COMMANDS: Readonly<Record<string, Command>> = {
  who: [
    '',
    'list desktops: id, world, place, address, number of waiting sprites, program, name; a thousand at a time, or the busiest',
  ],
  worlds: ['', 'list worlds and how many desktops are in each; a thousand at a time'],
  kick: ['ID', 'end a desktop now; it may join again'],
  forget: ['[ID]', 'delete what is stored of a desktop, and end it; or of a visitor: forget --contact'],
  ban: ['[ADDRESS|CIDR]', 'end the desktops of an address or a network, and refuse its joins; or ban --picture'],
  unban: ['[ADDRESS|CIDR]', 'end a ban of an address or a network; or unban --picture'],
  bans: ['', 'list the bans'],
  'remove-picture': ['HASH', 'ban a picture, delete it, and take it off every desktop'],
  reports: ['', 'list the pictures that desktops have reported, the most reported first'],
  dismiss: ['HASH', 'remove the reports of a picture'],
  gallery: [
    '[accept|refuse HASH]',
    'list the pictures that people have published; accept: put one into the gallery; refuse: remove it',
  ],
  feedback: ['', 'print the feedback of visitors'],
  announce: ['TEXT', 'show a line of text on every desktop'],
};

type ModerationValues = Values<typeof MODERATION_OPTIONS> & { from: number };

type Words = readonly string[];

/** What each command asks the relay, by the words that follow it. */
const QUERIES: Readonly<Record<string, (words: Words, values: ModerationValues) => Query>> = {
  who: (words, { from, world, busiest }) => {
    if (busiest !== undefined) {
      if (world !== undefined) throw new Misused('--busiest: goes through all worlds; leave out --world.');
      return list('who', words, `who?busiest=${Math.ceil(busiest)}`, showBusiest);
    }
    const only = world === undefined ? '' : `&world=${encodeURIComponent(world)}`;
    return list('who', words, `who?from=${from}${only}`, showWho);
  },
  worlds: (words, { from }) => list('worlds', words, `worlds?from=${from}`, showWorlds),
  bans: (words) => list('bans', words, 'bans', showBans),
  reports: (words) => list('reports', words, 'reports', showReports),
  gallery: (words) => (words.length === 0 ? list('gallery', words, 'gallery', showGallery) : decideOnPicture(words)),
  feedback: (words) => list('feedback', words, 'feedback', showFeedback),
  kick: (words) => post('kick', { desktop: one('kick', words, 'the id of a desktop') }, 'The desktop has ended.'),
  forget: (words, { contact }) => {
    if (contact !== undefined) none('forget --contact', words);
    const body =
      contact === undefined ? { desktop: one('forget', words, 'the id of a desktop, or --contact TEXT') } : { contact };
    return { method: 'POST', path: '/admin/forget', body, show: showForgotten };
  },
  ban: (words, { picture, for: seconds }) => {
    if (picture !== undefined) {
      none('ban --picture', words);
      return post('ban', { picture, seconds }, 'The picture is banned.');
    }
    const address = one('ban', words, 'an address, a network such as 192.0.2.0/24, or --picture HASH');
    return { method: 'POST', path: '/admin/ban', body: { address, seconds }, show: showBanned };
  },
  unban: (words, { picture }) => {
    if (picture !== undefined) none('unban --picture', words);
    const whose =
      picture === undefined
        ? { address: one('unban', words, 'an address, a network, or --picture HASH') }
        : { picture };
    return post('unban', whose, 'The ban has ended.');
  },
  'remove-picture': (words) =>
    post('remove-picture', { picture: pictureIn('remove-picture', words) }, 'The picture is removed.'),
  dismiss: (words) => post('dismiss', { picture: pictureIn('dismiss', words) }, 'Its reports are removed.'),
  announce: (words) => {
    if (words.length === 0) throw new Misused('announce: must be followed by a text.');
    return { method: 'POST', path: '/admin/announce', body: { text: words.join(' ') }, show: showAnnounced };
  },
};

/** What a command asks the relay. Throws Misused. */
export function moderationQuery(command: string, words: Words, values: ModerationValues): Query {
  return QUERIES[command](words, values);
}

function decideOnPicture([verb, ...words]: Words): Query {
  if (verb !== 'accept' && verb !== 'refuse') throw new Misused('gallery: must be followed by accept or refuse.');
  const picture = pictureIn(`gallery ${verb}`, words);
  return post(
    `gallery/${verb}`,
    { picture },
    verb === 'accept' ? 'It is in the gallery.' : 'It is not in the gallery.',
  );
}

function list(command: string, words: Words, path: string, show: Query['show']): Query {
  none(command, words);
  return { method: 'GET', path: `/admin/${path}`, show };
}

function post(name: string, body: object, done: string): Query {
  return { method: 'POST', path: `/admin/${name}`, body, show: (_, print) => print(done) };
}

const pictureIn = (command: string, words: Words): string => one(command, words, 'the SHA-256 of a picture');

function none(command: string, words: Words): void {
  if (words.length > 0)
    throw new Misused(`${command}: takes nothing after it, not ${JSON.stringify(words.join(' '))}.`);
}

function one(command: string, words: Words, what: string): string {
  if (words.length !== 1) throw new Misused(`${command}: must be followed by ${what}.`);
  return words[0];
}

interface Page {
  count: number;
  next: number | null;
}

function showWho({ count, desktops, next }: Page & { desktops: WhoRow[] }, print: Print): void {
  print(`${counted(count, 'desktop')}${rest(desktops.length, next)}`);
  for (const row of desktops) print(`  ${whoLine(row)}`);
}

function whoLine({ desktop, world, place, address, waiting, client, name }: WhoRow): string {
  const where = `${`${world}[${place}]`.padEnd(20)} ${(address ?? 'unknown').padEnd(24)}`;
  return `${desktop.padEnd(16)} ${where} ${`${waiting} waiting`.padEnd(12)} ${client.padEnd(14)} ${name}`;
}

interface Busiest {
  count: number;
  seconds: number;
  desktops: (WhoRow & { thrown: number })[];
}

function showBusiest({ count, seconds, desktops }: Busiest, print: Print): void {
  const some = desktops.length === 0 ? 'none has thrown' : 'those that throw most, in sprites a second';
  print(`${counted(count, 'desktop')}; within ${seconds} s ${some}`);
  for (const { thrown, ...row } of desktops) print(`  ${(thrown / seconds).toFixed(1).padStart(6)} ${whoLine(row)}`);
}

interface Worlds extends Page {
  worlds: { world: string; desktops: number }[];
}

function showWorlds({ count, worlds, next }: Worlds, print: Print): void {
  print(`${counted(count, 'world')}${rest(worlds.length, next)}`);
  for (const { world, desktops } of worlds.sort((a, b) => b.desktops - a.desktops)) {
    print(`  ${String(desktops).padStart(8)} ${world}`);
  }
}

const rest = (listed: number, next: number | null): string =>
  next === null ? '' : `; ${listed} of them are listed, the next ones with --from ${next}`;

type Bans = ModerationList['bans'];

function showBans({ addresses, pictures }: Bans, print: Print): void {
  print(`Banned: ${addresses.length} by address, ${counted(pictures.length, 'picture')}`);
  for (const ban of addresses) print(`  ${ban.network.padEnd(64)} ${span(ban)}`);
  for (const ban of pictures) print(`  ${ban.file} ${span(ban)}`);
}

const span = ({ sinceMs, untilMs }: Bans['addresses' | 'pictures'][number]): string =>
  `since ${time(sinceMs)}, ${untilMs === null ? 'for ever' : `until ${time(untilMs)}`}`;

/** A time of the wall clock, in UTC, to the second. */
const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

interface Reports {
  reports: Report[];
  /** In a cluster: the relays that have not answered. */
  unanswered?: string[];
}

function showReports({ reports, unanswered = [] }: Reports, print: Print): void {
  print(`Reported: ${counted(reports.length, 'picture')}`);
  for (const { file, count, lastMs, reasons, desktops = [] } of reports) {
    print(`  ${file} ${String(count).padStart(6)} times, last ${time(lastMs)}`);
    if (desktops.length > 0) print(`      thrown by ${desktops.join(', ')}`);
    for (const reason of reasons) print(`      ${reason}`);
  }
  if (unanswered.length > 0) print(`These relays have not answered: ${unanswered.join(', ')}`);
}

function showGallery({ entries }: { entries: GalleryEntry[] }, print: Print): void {
  const waiting = entries.filter(({ acceptedMs }) => acceptedMs === null).length;
  print(
    `In the gallery: ${counted(entries.length - waiting, 'picture')}; waiting: ${waiting}. Look at one at /v1/sprites/HASH`,
  );
  for (const { file, title, author, licence, sinceMs, acceptedMs, relay } of entries) {
    const at = relay === undefined ? '' : `, accepted at ${relay}`;
    print(
      `  ${file} ${acceptedMs === null ? 'waits ' : 'listed'} ${time(sinceMs)} ${title}, by ${author || 'somebody'}, ${licence}${at}`,
    );
  }
}

function showFeedback({ lines }: { lines: string[] }, print: Print): void {
  print(`Feedback: ${counted(lines.length, 'text')}`);
  for (const line of lines) {
    const { at, text, contact } = JSON.parse(line);
    print(`${at} ${contact}`);
    print(String(text).replace(/^/gm, '  '));
  }
}

function showBanned({ address, kicked }: { address: string; kicked: number }, print: Print): void {
  print(`${address} is banned; ended from there: ${counted(kicked, 'desktop')}.`);
}

type Forgotten = { feedback: number } | { ended: boolean; reports: number };

function showForgotten(answer: Forgotten, print: Print): void {
  if ('feedback' in answer) print(`Removed: ${counted(answer.feedback, 'text')}.`);
  else {
    const { ended, reports } = answer;
    print(
      `The desktop ${ended ? 'has ended' : 'is not here'}; it was in the reports of ${counted(reports, 'picture')}.`,
    );
  }
}

function showAnnounced({ desktops }: { desktops: number }, print: Print): void {
  print(`Sent with the next events of ${counted(desktops, 'desktop')}.`);
}
