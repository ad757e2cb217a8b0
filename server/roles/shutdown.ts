/**
 * The shutdown: takes a relay down.
 *
 * In this order: new requests are refused, parked polls are told to come back later, pending requests are answered, then everything closes.
 * A relay that is started again tells all of them first to come back, while it still accepts throws. One whose next process listens already
 * gives way to it first, and tells them when that serves.
 * In a cluster, a relay that is not started again also hands on what waits in its mailboxes, and gives up its private worlds.
 */
import type { Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Homes } from '../cluster/homes.ts';
import type { Peering } from '../cluster/peering.ts';
import type { Relay } from '../domain/relay.ts';
import { RETURN_MS_MIN } from '../domain/state/limits.ts';
import type { Sampler } from '../operator/sampler.ts';
import type { Workers } from '../operator/workers.ts';
import type { Turns } from '../processes/turns.ts';
import { RECONNECT_MS_MAX } from '../wire/rules.ts';
import type { Clock } from './clock.ts';
import { CLOSING_STEP_MS, LAST_POLLS_MS, waitsOn } from './closing.ts';
import { type DurabilityOption, JOURNAL_FOLDER, type Journaling } from './journaling.ts';
import { leaveToNext, openNext } from './succession.ts';

/** Why a relay stops. */
export interface StopKind {
  /** It is to be started again. */
  readonly again: boolean;
  /** The next process has loaded, and waits for the end of this one. */
  readonly isFollowed: boolean;
  /** A later relay has its name, and with it the claims on its private worlds. */
  readonly isSuperseded: boolean;
}

/** What of a relay is taken down. */
export interface Parts {
  readonly residents: { close(): void };
  readonly turns: Turns;
  readonly workers: Workers;
  readonly peering: Peering | undefined;
  readonly homes: Homes | undefined;
  readonly journaling: Journaling | undefined;
  /** Files that are written until the end. */
  readonly lists: { readonly [name in 'list' | 'gallery' | 'feedback']: { close(): Promise<void> } };
  readonly sampler: Sampler;
  readonly clock: Clock;
  readonly admin: Server;
  readonly options: { readonly data: string; readonly durability: DurabilityOption };
  readonly log: Logger;
}

/** Resolves when everything is closed, to whether the relay is to be started again. */
export async function shutDown(parts: Parts, { again, isFollowed, isSuperseded }: StopKind): Promise<boolean> {
  const { turns, workers, peering, options, log } = parts;
  const { relay } = turns;
  const { parkedCount } = relay;
  parts.residents.close(); // first, so that they do not come back to a relay that stops
  if (isFollowed && (await openNext())) {
    await giveWay(parts);
    return again;
  }
  if (again) await sendAway(turns, isFollowed ? RETURN_MS_MIN : RECONNECT_MS_MAX);
  log.info({ desktops: relay.desktops.count, parked: parkedCount, waiting: relay.waiting, again }, 'going down');
  workers.drain(again);
  const handsOver = !again && peering?.reachesOthers === true;
  // Where sprites can't follow, desktops are not sent.
  turns.drain(handsOver ? peering.addresses.others() : []);
  peering?.leave();
  if (!again) await sleep(LAST_POLLS_MS);
  if (handsOver) relay.ending.begin();
  const isGivingUp = !again && !isSuperseded ? giveUpWorlds(parts.homes, log) : () => false;
  // The first desktop may join another relay only now.
  const isHanding = () => isGivingUp() || (handsOver && !relay.ending.isOver && peering.hasOthers);
  await answerTheLast(workers, parkedCount, isHanding);
  if (handsOver) {
    const { handed } = peering.peers.counters;
    log.info({ handed, waiting: relay.waiting }, 'handed sprites on to other relays');
  }
  if (peering && !again) warnOfWaiting(relay, options, log);
  await close(parts);
  log.info({ counters: relay.counters, waiting: relay.waiting }, 'relay stopped');
  return again;
}

/**
 * Lets the next process go on, which listens already, before the desktops are told: their polls stay parked here until it serves. So clients
 * that connect meanwhile wait only for as long as the next one takes to read the journal.
 */
async function giveWay(parts: Parts): Promise<void> {
  const { turns, workers, log } = parts;
  const { relay } = turns;
  log.info({ desktops: relay.desktops.count, parked: relay.parkedCount, waiting: relay.waiting }, 'giving way');
  await workers.giveWay();
  relay.refuse();
  parts.peering?.leave();
  await closeFiles(parts);
  const isServed = await leaveToNext();
  const { parkedCount } = relay;
  log.info({ parked: parkedCount, isServed }, 'going down');
  await sendAway(turns, isServed ? 0 : RECONNECT_MS_MAX);
  workers.drain(true);
  await answerTheLast(workers, parkedCount);
  await closePorts(parts);
  log.info({ counters: relay.counters }, 'relay stopped');
}

/** Tells all desktops to come back, and resolves when they have been told. */
async function sendAway(turns: Turns, returnMs: number): Promise<void> {
  const { relay } = turns;
  const { parkedCount } = relay;
  const startMs = performance.now();
  turns.sendAway(returnMs);
  while (waitsOn(performance.now() - startMs, parkedCount, relay.parkedCount > 0, false)) await sleep(CLOSING_STEP_MS);
}

/** Returns whether that still goes on. */
function giveUpWorlds(homes: Homes | undefined, log: Logger): () => boolean {
  let isGivingUp = homes !== undefined;
  void homes?.giveUp().then((worlds) => {
    isGivingUp = false;
    if (worlds > 0) log.info({ worlds }, 'private worlds of this relay have no home now; the next joins give them one');
  });
  return () => isGivingUp;
}

async function answerTheLast(workers: Workers, parkedCount: number, isHanding = () => false): Promise<void> {
  const { front } = workers;
  front.drain();
  const drainedMs = performance.now();
  const isAnswering = () => front.gauges().waiting > 0 || workers.isBusy();
  while (waitsOn(performance.now() - drainedMs, parkedCount, isAnswering(), isHanding())) await sleep(CLOSING_STEP_MS);
}

async function close(parts: Parts): Promise<void> {
  await closePorts(parts);
  await closeFiles(parts);
}

async function closePorts({ clock, workers }: Parts): Promise<void> {
  clock.stop();
  workers.close();
  await workers.front.close();
}

/** Closes what only one process of a relay may have open. */
async function closeFiles({ peering, journaling, lists, sampler, admin }: Parts): Promise<void> {
  sampler.stop();
  await peering?.close();
  await Promise.all(Object.values(lists).map((list) => list.close()));
  await journaling?.close();
  admin.closeAllConnections();
  admin.close();
}

/** A relay of a cluster stops for good: says what nobody gets until it is started again. */
function warnOfWaiting(relay: Relay, { data, durability }: Parts['options'], log: Logger): void {
  const inCustody = relay.peerMemory.custody.size;
  if (relay.waiting + inCustody === 0) return;
  const { mailboxes, worlds } = relay.directory.waitingIn;
  const left = { sprites: relay.waiting + inCustody, desktops: mailboxes, worlds };
  if (durability === 'none')
    log.warn(left, 'sprites that were accepted are lost: this relay stops, and has no journal');
  else {
    log.warn(
      { ...left, journal: join(data, JOURNAL_FOLDER) },
      'sprites that were accepted stay in the journal of this relay, which stops; start it again with it, and they go on',
    );
  }
}
