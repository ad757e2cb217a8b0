/**
 * The limits of the domain, each with its unit and its reason. Limits of the wire are declared beside what they limit.
 */
import { ok } from 'node:assert';

/**
 * A parked poll is answered with a ping after this, ± the jitter. Common proxies cut idle connections after 150 s. A ping
 * costs one answer and one poll.
 */
export const PING_MS = 120_000;

/** The jitter, as a share of PING_MS in each direction: it spreads the pings of desktops that joined together. */
export const PING_JITTER = 0.1;

/** The longest time after which a client polls again after an answer or a broken connection. */
export const RECONNECT_MS_MAX = 15_000;

/** The lease: how long a desktop without a parked poll stays. One lost poll must not end a desktop. */
export const LEASE_MS = 30_000;
ok(LEASE_MS >= 2 * RECONNECT_MS_MAX);

/**
 * The lease of a newcomer that has never polled. A client polls at once when it has joined, with two round trips to spare; one that
 * does not is a ghost, and the sprites thrown to it wait for nobody.
 */
export const FIRST_POLL_MS = 10_000;
ok(FIRST_POLL_MS <= LEASE_MS);

/** Sprites in one answer: as many as a desktop can show in one frame of animation. The next poll gets more at once. */
export const EVENTS_PER_POLL_MAX = 64;

/** Bytes of sprites in one answer: one socket buffer, so that one send() transmits all of it. */
export const POLL_BYTES_MAX = 64 << 10;

/** Sprites in one mailbox: four full answers, more than a screen can show. Further throws bounce. */
export const MAILBOX_EVENTS_MAX = 256;

/** Bytes of the slab that the sprites of one mailbox may use. */
export const MAILBOX_BYTES_MAX = 128 << 10;

/** Desktops of a small world: it notifies them of new neighbours within a second, a larger world with their next ping. */
export const SMALL_WORLD_MAX = 64;

/** The fixed timestep on which small worlds are notified of their neighbours. */
export const NEIGHBOURS_STEP_MS = 1000;

/** Private worlds at once; the default world is beside them. Unlike a desktop, a world costs an object and a table. */
export const WORLDS_MAX = 65_536;

/** The sustained rate of crossings of one desktop; a hand throws three a second. */
export const CROSSINGS_PER_SECOND_MAX = 100;

/** Crossings one desktop may throw at once after a pause: two seconds of the sustained rate; they fit into one empty mailbox. */
export const CROSSINGS_BURST_MAX = 200;

/**
 * Pings, ended leases and notifications of neighbours in one step of the clock: a millisecond, at some 3 µs each. Further
 * steps do the rest; other requests are handled between them.
 */
export const DUE_PER_STEP_MAX = 256;

/** How many numbers below the newest crossing are remembered, one bit each, so that crossings may arrive out of order. */
export const CROSSINGS_REMEMBERED = 32;
