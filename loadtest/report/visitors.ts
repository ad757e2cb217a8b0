/**
 * Sprites between the machines of a fleet that share a world: each machine tells what it threw and did not catch, and what it caught of
 * others. Only all of them together say what was lost or doubled. Pure.
 */

import type { EngineResult } from '../../tools/engine_result.ts';
import { differenceOf } from './bloom_table.ts';
import { count } from './units.ts';

/** Counts what others have caught of a machine's sprites as arrived. What nobody caught, or several, stands in the first result. */
export function settled(parts: readonly EngineResult[]): readonly EngineResult[] {
  const tables = parts.flatMap(({ visitors }) => (visitors?.table ? [visitors.table] : []));
  const [{ visitors }] = parts;
  if (tables.length === 0 || visitors === undefined) return parts;
  const { missing, doubled, isPartial } = differenceOf(tables);
  const isWhole = tables.length === visitors.machines;
  const wasUnderWay = parts.some(({ undelivered }) => undelivered > 0);
  // Without the result of a machine, nobody knows what it caught.
  const isLost = isWhole && !wasUnderWay;
  const message = isPartial
    ? `${count(missing)} more sprites were thrown than caught, ${count(doubled)} more caught than thrown, and too many differ to tell which`
    : '';
  return parts.map((part, i) => {
    const all = { ...part, arrived: part.arrived + part.undelivered + part.lost, undelivered: 0, lost: 0 };
    const settledPart = { ...all, visitors: part.visitors && { ...part.visitors, table: '' } };
    if (i > 0) return settledPart;
    return {
      ...settledPart,
      ok: part.ok && !isPartial,
      message: [part.message, message].filter((text) => text !== '').join('; '),
      arrived: all.arrived - missing,
      [isLost ? 'lost' : 'undelivered']: missing,
      delivered: part.delivered - doubled,
      repeated: part.repeated + doubled,
      duplicated: part.duplicated + doubled,
    };
  });
}
