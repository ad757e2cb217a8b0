/**
 * The limits of the domain: each with its unit and its reason. Limits of the wire stand beside what they limit.
 */
import { ok } from 'node:assert';

/** An empty poll is answered after this, give or take the jitter. Below the 150 s idle cut of common proxies; one ping costs one answer and one poll. */
export const PING_MS = 120_000;

/** Pings of desktops that came together drift apart by this share of PING_MS each way. */
export const PING_JITTER = 0.1;

/** The longest a client waits before it asks again after an answer or a broken connection. */
export const RECONNECT_MS_MAX = 15_000;

/** How long a desktop without a parked poll still counts. One lost poll is not a lost desktop. */
export const LEASE_MS = 30_000;
ok(LEASE_MS >= 2 * RECONNECT_MS_MAX);

/** Events one answer carries: what a desktop can show in one frame; the rest follows at once. */
export const EVENTS_PER_POLL_MAX = 64;

/** Bytes of events one answer carries: one socket buffer, so that one send takes it whole. */
export const POLL_BYTES_MAX = 64 << 10;

/** Sprites that wait for one desktop, by count: four full answers, more than a screen can show; then throws bounce. */
export const MAILBOX_EVENTS_MAX = 256;

/** Sprites that wait for one desktop, by bytes of the slab. */
export const MAILBOX_BYTES_MAX = 128 << 10;

/** Desktops of a world up to which names of neighbours are told within a second instead of with the next ping. */
export const SMALL_WORLD_MAX = 64;

/** The fixed timestep on which small worlds are told of their neighbours. */
export const NEIGHBOURS_STEP_MS = 1000;

/** Worlds at once: a world costs an object and a table, unlike a desktop. */
export const WORLDS_MAX = 65_536;

/** Crossings one desktop may throw in a second, for long; a hand throws three. */
export const CROSSINGS_PER_SECOND_MAX = 100;

/** Crossings one desktop may throw at once after a rest: two seconds of the lasting rate; below one mailbox, so none need bounce. */
export const CROSSINGS_BURST_MAX = 200;

/**
 * Pings, ended leases and news of neighbours in one step of the clock: a millisecond, at some 3 µs each. What is due beyond
 * that comes in further steps, between which everybody else is served.
 */
export const DUE_PER_STEP_MAX = 256;

/** Numbers of accepted crossings remembered behind the highest, so that throws may overtake one another. One bit each. */
export const CROSSINGS_REMEMBERED = 32;
