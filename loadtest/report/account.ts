/**
 * The second account: figures that come from different counters and must agree.
 *
 * The engine's throwers, its catchers, its ledger and its schedule count by themselves, and so does the relay. Each equation here
 * has its two sides from different counters, so a fault in one of them shows. Pure. Invariant: every equation is linear, so it
 * holds for runs and machines together if it holds for each.
 */
import type { Report } from './merge.ts';

interface Equation {
  /** "accepted = arrived + undelivered + lost" */
  equation: string;
  left: number;
  right: number;
  holds: boolean;
}

/** Every equation for this report; none for a run in which no desktop throws, talks or peeks. */
export function accountOf(report: Report): Equation[] {
  return [
    ...(report.mode === 'sitting' ? [] : spriteEquations(report)),
    ...sayingEquations(report.sayings),
    ...peekEquations(report.peeks),
  ];
}

function sayingEquations(s: Report['sayings']): Equation[] {
  if (!s.due) return [];
  return [
    equal(
      'sayings due − skipped = accepted + refused + failed + unanswered',
      s.due - s.skipped,
      s.accepted + s.refused + s.failed + s.timedOut + s.unanswered,
    ),
    equal(
      'hearings owed, by the relay = heard + missed + gone + under way + lost, by the hearers',
      s.owed,
      s.heard - s.unowed + s.missed + s.gone + s.underWay + s.lost,
    ),
    equal('sayings in polls = heard + again + foreign', s.received, s.heard + s.again + s.foreign),
  ];
}

function peekEquations(p: Report['peeks']): Equation[] {
  if (!p.due) return [];
  return [
    equal(
      'peeks due − skipped = accepted + hidden + refused + failed + unanswered',
      p.due - p.skipped,
      p.accepted + p.hidden + p.refused + p.failed + p.unanswered,
    ),
  ];
}

function spriteEquations(report: Report): Equation[] {
  const r = report;
  const unanswered = r.timedOut + r.inFlight + r.waiting;
  return [
    equal('scheduled − skipped = offered', r.scheduled - r.skipped, r.offered),
    equal('offered, by the throwers = thrown, by the ledger', r.offered, r.thrown),
    equal(
      'offered = accepted + refused + unexpected + failed + unanswered',
      r.offered,
      r.accepted + r.refused + r.unexpected + r.failed + unanswered,
    ),
    equal('accepted = arrived + undelivered + lost', r.accepted, r.arrived + r.undelivered + r.lost),
    equal('delivered = arrived + arrived without a 202', r.delivered, r.arrived + r.deliveredUnaccepted),
    equal('sprites in polls = delivered + repeated + foreign', r.received, r.delivered + r.repeated + r.foreign),
    ...relayEquations(report),
  ];
}

export function accountsAgree(report: Report): boolean {
  return accountOf(report).every(({ holds }) => holds);
}

/** Throws due in the measured window that had not arrived when the drain ended, for whatever reason. */
export function notArrived({ due, latencyUs, awayUs }: Pick<Report, 'due' | 'latencyUs' | 'awayUs'>): number {
  return Math.max(0, due - latencyUs.count - awayUs.count);
}

/** The relay may have accepted throws whose answer did not come back, but no others. */
function relayEquations(report: Report): Equation[] {
  const { relayAccount, accepted, timedOut, failed, unexpected, inFlight, deliveredUnaccepted } = report;
  if (relayAccount?.accepted === undefined) return [];
  const most = accepted + timedOut + failed + unexpected + inFlight + deliveredUnaccepted;
  const holds = relayAccount.accepted >= accepted && relayAccount.accepted <= most;
  return [
    { equation: 'accepted, by the throwers = by the relay', left: accepted, right: relayAccount.accepted, holds },
  ];
}

function equal(equation: string, left: number, right: number): Equation {
  return { equation, left, right, holds: left === right };
}
