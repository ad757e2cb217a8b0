/**
 * The limits of the domain, each with its unit and its reason. Those that desktops know, too, are in wire/rules.ts.
 */
import { ok } from 'node:assert';
import {
  COMPANY_MAX,
  EDGES,
  ENDED_REMEMBERED_MS,
  EVENTS_PER_POLL_MAX,
  POLL_BYTES_MAX,
  SAYINGS_PER_POLL_MAX,
  STAGE_REFRESH_MS,
  STAGE_TOLERANCE_PX,
  STAGES_PER_SECOND_MAX,
} from '../../wire/rules.ts';

/**
 * The rate, in desktops a second, at which `bye` lets desktops come back after a drain. Two cores that also carry the swarm serve 14,000 to
 * 22,000. As many as come back within RECONNECT_MS_MAX are spread over that time.
 */
export const RETURNS_PER_SECOND = 20_000;

/** Over how long desktops come back at least when the next process of their relay has loaded already, in ms: it is there in half of it. */
export const RETURN_MS_MIN = 2_000;

/**
 * How many polls a drain answers in a second, until their connections are closed too. A desktop that comes back before the end finds no
 * relay. Two cores that also carry the swarm answer 26,000 of a million, but 8,000 within 0.14 s.
 */
export const BYES_PER_SECOND = 25_000;

/**
 * A relay that stops for good while no other one has a desktop of its world sends so many ahead, each within this time in ms: what waits here
 * can follow when one of them has arrived. With the slowest client, two round trips and the age of a view, that is in a third of HAND_OVER_MS.
 */
export const PIONEERS_MAX = 8;
export const PIONEER_MS = 500;

/** The slowest rate, in desktops a second, at which desktops come back after a recovery. Their first lease is long enough for all of them. */
export const RETURNS_PER_SECOND_MIN = 5_000;

/** Sprites in one mailbox: four full answers, more than a screen can show. Further throws bounce. */
export const MAILBOX_EVENTS_MAX = 4 * EVENTS_PER_POLL_MAX;

/** Bytes of the slab that the sprites of one mailbox may use. */
export const MAILBOX_BYTES_MAX = 128 << 10;
ok(MAILBOX_BYTES_MAX >= POLL_BYTES_MAX);

/**
 * A mailbox may hold this many times its limits when desktops that ended passed sprites on to it. Throws are refused far
 * below; above it, sprites go on to the next desktop with room.
 */
export const CARRIED_FACTOR = 4;

/** Desktops that are tried in a sprite's direction of travel when its desktop ends: at most 64 look-ups for a mailbox. */
export const ONWARD_DESKTOPS_MAX = 16;

/** Sprites that one attempt moves out of a kept mailbox over each edge, when no desktop has room for all of them. */
export const ONWARD_SPRITES_MAX = 64;

/** How often kept mailboxes are tried again, in ms: a desktop that polls empties its mailbox in less. */
export const KEPT_STEP_MS = 1000;

/** Kept mailboxes of one world that one step tries, and worlds in one step: together half a millisecond. */
export const KEPT_TRIED_MAX = 8;
export const KEPT_WORLDS_PER_STEP_MAX = 16;

/** The share of the slab that kept mailboxes may use; above it the oldest are evicted. The other half is for desktops. */
export const KEPT_SHARE_MAX = 0.5;

/** Mailboxes and sprites that one step evicts, and mailboxes that one join or throw evicts: half a millisecond. */
export const EVICTED_PER_STEP_MAX = 256;
export const EVICTED_SPRITES_PER_STEP_MAX = 4096;

/** Blocks of kept mailboxes that are looked at, between two steps of the clock, for one whose eviction helps: 0.2 ms. */
export const EVICTION_LOOKS_MAX = 4096;

/** Desktops of a small world: it notifies them of new neighbours within a second, a larger world with their next ping. */
export const SMALL_WORLD_MAX = COMPANY_MAX;

/** The fixed timestep on which small worlds are notified of their neighbours. */
export const NEIGHBOURS_STEP_MS = 1000;

/** How often the journal gets the day (day.ts), in ms: 0.3 KB each time, and a relay that dies has lost a second of what was counted. */
export const DAY_STEP_MS = 1000;

/** Pictures that are ranked by how often they were thrown today: as many as the page shows. After a restart, the others count from zero. */
export const MOST_THROWN_MAX = 5;

/** Private worlds at once; the default world is beside them. Unlike a desktop, a world costs an object and a table. */
export const WORLDS_MAX = 65_536;

/** The sustained rate of crossings of one desktop; a hand throws three a second. */
export const CROSSINGS_PER_SECOND_MAX = 100;

/** Crossings one desktop may throw at once after a pause: two seconds of the sustained rate; they fit into one empty mailbox. */
export const CROSSINGS_BURST_MAX = 2 * CROSSINGS_PER_SECOND_MAX;
ok(CROSSINGS_BURST_MAX <= MAILBOX_EVENTS_MAX);

/**
 * Pings, ended leases and notifications of neighbours in one step of the clock: a millisecond, at some 3 µs each. Further
 * steps do the rest; other requests are handled between them.
 */
export const DUE_PER_STEP_MAX = 256;

/**
 * Slots that one step of a drain looks at. It answers at most DUE_PER_STEP_MAX polls; a slot without a poll costs 1 ns, so
 * a step with none takes 0.1 ms.
 */
export const DRAINED_PER_STEP_MAX = 65_536;

/** Ended desktops that are remembered, the newest: a hundred ends a second for ENDED_REMEMBERED_MS; 3 MiB. A power of two. */
export const ENDED_REMEMBERED_MAX = 65_536;
ok(ENDED_REMEMBERED_MAX >= 100 * (ENDED_REMEMBERED_MS / 1000) && Number.isInteger(Math.log2(ENDED_REMEMBERED_MAX)));

/**
 * Polls of one desktop within PROMPT_POLLS_WINDOW_MS that a newer poll replaces, or that ask for the same sprites again, and that are
 * answered at once: a client that reconnects, or a page that is reloaded, does so once. Each further one waits POLL_DELAY_MS.
 */
export const PROMPT_POLLS_MAX = 8;
export const PROMPT_POLLS_WINDOW_MS = 10_000;

/** How long such a poll waits for its answer, in ms: two clients with one token poll twice a second. */
export const POLL_DELAY_MS = 1_000;

/** The sustained rate of sayings of one desktop: a line each half a second, faster than a hand types them. */
export const SAYINGS_PER_SECOND_MAX = 2;

/** Sayings one desktop may say at once after a pause: a text that was pasted, line by line. */
export const SAYINGS_BURST_MAX = 8;

/** Desktops that hear one saying: everybody in a world of this size, in a larger one a square of 32 × 32 places. A square number. */
export const HEARERS_MAX = 1024;
ok(Number.isInteger(Math.sqrt(HEARERS_MAX)));

/**
 * What sayings may cost the whole relay in a second, in units of what one saying costs in a batch that is sent anyway: 0.1 µs.
 * This is some half of a core; a full world in which everybody says something every second costs half of that. Above it, sayings are
 * refused with relay-busy, so that sprites have the rest.
 */
export const SPEECH_COST_PER_SECOND_MAX = 4 << 20;

/** What a saying costs in these units beside its hearers: to check it, and to answer its speaker, 25 µs. */
export const SAYING_COST = 256;

/** What a batch costs in these units that is sent because of a saying: an answer and a poll, 10 µs. */
export const HEARER_COST = 100;

/**
 * The fixed timestep on which sayings are sent, in ms. In it they gather into one batch for each hearer, which gets at most ten
 * batches a second however many speak. Nobody notices a tenth of a second in a conversation.
 */
export const SAYINGS_STEP_MS = 100;
ok(HEARERS_MAX * (SAYING_COST + HEARERS_MAX + HEARER_COST * (1000 / SAYINGS_STEP_MS)) < SPEECH_COST_PER_SECOND_MAX);
ok(SAYINGS_PER_POLL_MAX > 2 * HEARERS_MAX * (SAYINGS_STEP_MS / 1000));

/**
 * Parked polls that one step answers with sayings: a millisecond, at some 25 µs each, nearly all of it in the kernel. Other requests are
 * handled between steps.
 */
export const HEARERS_PER_STEP_MAX = 32;

/**
 * Sayings that wait for one desktop: what a full world says in a second, for a desktop that polls late. A desktop misses what is
 * older: nobody could read it.
 */
export const SAYINGS_WAITING_MAX = HEARERS_MAX;

/** How often one desktop may ask another one to change places, in a minute, and how often at once: nobody is pestered. */
export const SWAPS_PER_MINUTE_MAX = 4;
export const SWAPS_BURST_MAX = SWAPS_PER_MINUTE_MAX;

/** Peeks of one desktop at once after a pause: around all edges, and back. */
export const PEEKS_BURST_MAX = 2 * EDGES.length;

/**
 * Desktops that are watched at once. Each has a row of STAGE_ROW_BYTES (stages.ts), all together 46 MB; more is refused with
 * relay-busy. At ten stages a second each, the relay's processor ends long before the rows do.
 */
export const WATCHED_MAX = 16_384;

/** Stages of one desktop at once after a pause: half a second's, which a network has held up. */
export const STAGES_BURST_MAX = STAGES_PER_SECOND_MAX / 2;

/** A watched desktop that posted nothing for this long, in ms, may have lost the event `watched`: a renewal sends the event again. */
export const WATCHED_SILENT_MS = 2 * STAGE_REFRESH_MS;

/** The largest tolerance that an operator may choose, in px. */
export const STAGE_TOLERANCE_PX_MAX = 1000;
ok(STAGE_TOLERANCE_PX <= STAGE_TOLERANCE_PX_MAX);

/** Parked polls that one step answers with stages: as HEARERS_PER_STEP_MAX, a millisecond. */
export const WATCHERS_PER_STEP_MAX = HEARERS_PER_STEP_MAX;

/**
 * Parked polls that are answered because of a stage between two ticks of the clock: 16,000 a second, some 40 % of a core, so that sprites
 * have the rest. The other polls wait for the next tick, and get the stage that is newest then.
 */
export const WATCHERS_PER_TICK_MAX = 800;

/** How often each watch is checked against the torus, in ms: a desktop that comes between two others is watched within a second. */
export const PEEK_STEP_MS = 1_000;

/** Rows that one step of this check looks at: 0.2 ms at four watchers each. */
export const WATCHED_PER_STEP_MAX = 2048;

/**
 * Watches of desktops at other relays, and as many in the other direction: all places at the border of a relay in a world of a million
 * desktops. Further peeks are refused with relay-busy, and further watchers of other relays are told that nothing is shown.
 */
export const REMOTE_WATCHES_MAX = 4096;

/**
 * The fixed timestep on which watches and stages are sent to other relays, in ms: a watcher there gets at most ten stages a second, and each
 * relay ten messages, however many watch.
 */
export const PEER_PEEKS_STEP_MS = 100;

/** Stages that one step sends to all other relays: half a millisecond, at some 1 µs each. */
export const REMOTE_STAGES_PER_STEP_MAX = 512;

/** How long a watcher of another relay watches without a renewal, in ms: two of three renewals may be lost. */
export const PEER_WATCH_LEASE_MS = 3 * PEEK_STEP_MS;

/**
 * How long a relay remembers that a desktop of another relay hides its stage, in ms. A client whose watch has ended for that reason peeks
 * again within a second or two, and is refused. When this time is over, the next peek asks the other relay again.
 */
export const HIDDEN_REMEMBERED_MS = 4_000;
