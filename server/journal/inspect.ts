/**
 * Reads a journal for a person: what its files hold, whether a relay can start from it, and every fact as a line of JSON.
 *
 * Nothing is changed. While a relay writes, its last turn may look cut off. Tokens and invitations are left out.
 */

import { Recovery } from '../domain/recovery.ts';
import { Relay } from '../domain/relay.ts';
import type { DesktopRow, EndedRow, Facts } from '../domain/state/facts.ts';
import type { Passage } from '../wire/passage.ts';
import type { Disk } from './disk.ts';
import { JournalDamaged, readJournal, segmentsIn } from './journal.ts';
import { readRecords } from './records.ts';
import { FRAME_HEAD_BYTES, findFrame, frameEnd, HEAD_BYTES, OtherFormat, readHead, segmentName } from './segments.ts';
import { readTail, type TailContent, TailDamaged, withTail } from './tail.ts';

interface SegmentReport {
  name: string;
  bytes: number;
  frames: number;
  /** What is wrong, and where. */
  problems: string[];
}

export interface Report {
  segments: SegmentReport[];
  /** Why a relay would not start; undefined when it would. */
  refusal: string | undefined;
  /** What a relay would start with. */
  desktops: number;
  worlds: number;
  sprites: number;
  /** Bytes at the end that a relay would cut off. */
  tornBytes: number;
}

/** The relay that is made to check a journal may have as much memory as any. */
const SLAB_BYTES = 2 ** 36;

/** Checks all files of a journal. Throws the system's error. */
export function checkJournal(disk: Disk): Report {
  let slots = 1;
  const { tail } = tailIn(disk);
  const segments = segmentsIn(disk).map((number) =>
    visitSegment(disk, number, tail, (bytes, start, end) => {
      readRecords(
        bytes,
        start,
        end,
        factsTo((_, fact) => (slots = Math.max(slots, (fact.slot as number) + 1 || 0))),
      );
    }),
  );
  const report: Report = { segments, refusal: undefined, desktops: 0, worlds: 0, sprites: 0, tornBytes: 0 };
  const relay = new Relay({
    slots,
    slabBytes: SLAB_BYTES,
    epoch: 0,
    generationKey: Buffer.alloc(16),
    nowMs: 0,
    random: () => 0,
    answers: { room: (bytes) => Buffer.alloc(bytes), roomAt: () => 0, answer: () => {} },
    randomize: () => {},
  });
  try {
    const recovery = new Recovery(relay, 0);
    const { tornBytes, frames } = readJournal(disk, recovery);
    if (frames > 0) recovery.finish();
    const { desktops, torus, waiting } = relay;
    Object.assign(report, { tornBytes, desktops: desktops.count, worlds: torus.worldCount, sprites: waiting });
  } catch (error) {
    report.refusal = error instanceof JournalDamaged ? error.checked : (error as Error).message;
  }
  return report;
}

/** Writes every fact that can be read as a line of JSON, oldest first; what is damaged becomes a line too. Returns the lines. */
export function exportJournal(disk: Disk, write: (line: string) => void): number {
  let lines = 0;
  const put = (line: object) => {
    lines++;
    write(`${JSON.stringify(line)}\n`);
  };
  // Before the segments: what a relay writes to one meanwhile is not missed.
  const { tail, problem } = tailIn(disk);
  for (const number of segmentsIn(disk)) {
    const { problems } = visitSegment(disk, number, tail, (bytes, start, end) => {
      readRecords(
        bytes,
        start,
        end,
        factsTo((fact, members) => put({ fact, ...members })),
      );
    });
    for (const problem of problems) put({ segment: segmentName(number), problem });
  }
  if (problem !== undefined) put({ problem });
  return lines;
}

function tailIn(disk: Disk): { tail?: TailContent; problem?: string } {
  try {
    return { tail: readTail(disk) };
  } catch (error) {
    if (error instanceof TailDamaged) return { problem: error.message };
    throw error;
  }
}

/** Calls `visit` with the records of each frame of a segment that is whole. */
function visitSegment(
  disk: Disk,
  number: number,
  tail: TailContent | undefined,
  visit: (bytes: Buffer, start: number, end: number) => void,
): SegmentReport {
  const name = segmentName(number);
  const bytes = withTail(disk.read(name), number, tail);
  const report: SegmentReport = { name, bytes: bytes.length, frames: 0, problems: [] };
  const { problems } = report;
  let next = 0;
  try {
    const head = readHead(bytes);
    if (head) next = head.firstFrame;
    else problems.push('its head is wrong');
  } catch (error) {
    if (!(error instanceof OtherFormat)) throw error;
    problems.push(error.message);
    return report;
  }
  for (let at = HEAD_BYTES; at < bytes.length; ) {
    let end = frameEnd(bytes, at, next);
    if (end < 0) {
      const found = findFrame(bytes, at, next);
      if (!found) {
        problems.push(`frame ${next} at byte ${at} is not whole, and no other follows it`);
        return report;
      }
      problems.push(
        `frame ${next} at byte ${at} is wrong; frame ${found.number} at byte ${found.at} is the next good one`,
      );
      at = found.at;
      next = found.number;
      end = frameEnd(bytes, at, next);
    }
    try {
      visit(bytes, at + FRAME_HEAD_BYTES, end);
    } catch (error) {
      problems.push(`frame ${next} at byte ${at}: ${(error as Error).message}`);
    }
    report.frames++;
    next++;
    at = end;
  }
  return report;
}

/** Facts as objects. */
function factsTo(put: (fact: string, members: Record<string, unknown>) => void): Facts {
  return {
    hasRoom: true,
    isLong: false,
    desktop: ({ token: _, invitation: __, name, ...row }: DesktopRow) =>
      put('desktop', { ...row, name: name.length > 0 ? JSON.parse(name.toString()) : '' }),
    free: (slot, owners) => put('free', { slot, owners }),
    kept: (slot, owners, world, place) => put('kept', { slot, owners, world, place }),
    place: (slot, place) => put('place', { slot, place }),
    width: (world, width) => put('width', { world, width }),
    invitation: (slot) => put('invitation', { slot }),
    shown: (slot, stage, named) => put('shown', { slot, stage, named }),
    mutes: (slot, pairs) => put('mutes', { slot, pairs }),
    ended: ({ token: _, slot, ...row }: EndedRow) => put('ended', { ...row, of: slot }),
    accepted: ({ to, edge, arrived, slot: from, crossing, receiver, receiverGeneration, ...event }) =>
      put('accepted', { slot: to, edge, arrived, from, crossing, receiver, receiverGeneration, event: eventOf(event) }),
    sent: (slot, newest) => put('sent', { slot, newest }),
    acknowledged: (slot, seq) => put('acknowledged', { slot, seq }),
    moving: () => {},
    unsent: (slot) => put('unsent', { slot }),
    moved: (slot, edge, to, events) => put('moved', { slot, edge, to, events }),
    mailbox: (slot, acknowledged) => put('mailbox', { slot, acknowledged }),
    event: (slot, isSent, { edge, arrived, ...event }) =>
      put('event', { slot, isSent, edge, arrived, event: eventOf(event) }),
    peerFrame: (peer, number, frame) => put('peerFrame', { peer, number, bytes: frame.length }),
    peerVerdicts: (peer, incarnation, number, verdicts) =>
      put('peerVerdicts', { peer, incarnation, number, verdicts: [...verdicts] }),
    peerTaken: ({ sender, epoch, incarnation, number }, verdicts) =>
      put('peerTaken', { peer: sender, epoch, incarnation, number, verdicts: [...verdicts] }),
    life: (life) => put('life', { life }),
    custody: (slot, generation, crossing) => put('custody', { slot, generation, crossing }),
    peersForgotten: () => put('peersForgotten', {}),
    day: ({ thrown, day, mostThrown, farthest }) => put('day', { thrown, day, mostThrown, farthest }),
    counters: (accepted, acknowledged, abandoned) => put('counters', { accepted, acknowledged, abandoned }),
  };
}

/** An event is stored without the brace that opens it. */
function eventOf({ body, start, end }: Pick<Passage, 'body' | 'start' | 'end'>): unknown {
  return JSON.parse(`{${body.toString('utf8', start, end)}`);
}
