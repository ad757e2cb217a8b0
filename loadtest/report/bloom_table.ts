/**
 * The sum of the tables of all machines of a fleet: which sprites some machine threw and none caught, and which were caught too often.
 *
 * The engine makes the tables (engine/account/bloom_table.h says what they are). A cell that holds one number alone is known by its check:
 * the number is taken out of its other cells too, until all cells are empty. Pure.
 */

const PARTS = 3n;
const PART_CELLS = 1024n;
const SUM_DIGITS = 16;
const TABLE_DIGITS = Number(PARTS * PART_CELLS) * 3 * SUM_DIGITS;

interface Cell {
  count: bigint;
  numbers: bigint;
  checks: bigint;
}

export interface Difference {
  /** How many throws were not caught, and how many catches were of sprites that had been caught before. */
  missing: number;
  doubled: number;
  /** Some could not be told apart: `missing` or `doubled` is only what is left when both are compared. */
  isPartial: boolean;
}

/** Adds tables up and lists what is left. Throws Error when one is not a table. */
export function differenceOf(tables: readonly string[]): Difference {
  const cells = sumOf(tables);
  const difference = { missing: 0, doubled: 0, isPartial: false };
  let left = cells.flatMap((_, i) => (isAlone(cells[i]) ? [i] : []));
  while (left.length > 0) {
    const next: number[] = [];
    for (const i of left) {
      if (!isAlone(cells[i])) continue;
      const { count, numbers } = cells[i];
      const number = count === 1n ? numbers : u64(-numbers);
      difference[count === 1n ? 'missing' : 'doubled']++;
      for (const place of placesOf(number)) {
        takeOut(cells[place], number, count);
        next.push(place);
      }
    }
    left = next;
  }
  const part = cells.slice(0, Number(PART_CELLS));
  const rest = Number(part.reduce((sum, { count }) => sum + count, 0n));
  difference.isPartial = cells.some(({ count, numbers, checks }) => count !== 0n || numbers !== 0n || checks !== 0n);
  difference.missing += Math.max(0, rest);
  difference.doubled += Math.max(0, -rest);
  return difference;
}

function sumOf(tables: readonly string[]): Cell[] {
  const wrong = tables.find((table) => table.length !== TABLE_DIGITS || !/^[0-9a-f]+$/.test(table));
  if (wrong !== undefined) throw new Error(`the table of visitors must be ${TABLE_DIGITS} hex digits`);
  const sumAt = (at: number) =>
    tables.reduce((sum, table) => sum + BigInt(`0x${table.slice(at, at + SUM_DIGITS)}`), 0n);
  return Array.from({ length: Number(PARTS * PART_CELLS) }, (_, i) => {
    const [count, numbers, checks] = [0, 1, 2].map((nth) => sumAt((i * 3 + nth) * SUM_DIGITS));
    return { count: BigInt.asIntN(64, count), numbers: u64(numbers), checks: u64(checks) };
  });
}

function isAlone({ count, numbers, checks }: Cell): boolean {
  if (count !== 1n && count !== -1n) return false;
  return u64(count * checks) === hashOf(u64(count * numbers), PARTS);
}

function takeOut(cell: Cell, number: bigint, times: bigint): void {
  cell.count -= times;
  cell.numbers = u64(cell.numbers - times * number);
  cell.checks = u64(cell.checks - times * hashOf(number, PARTS));
}

function placesOf(number: bigint): number[] {
  return [0n, 1n, 2n].map((part) => Number(part * PART_CELLS + (hashOf(number, part) % PART_CELLS)));
}

function hashOf(number: bigint, nth: bigint): bigint {
  return mixed(number ^ mixed(nth));
}

/** SplitMix64, as engine/account/mixed_bits.h has it. */
function mixed(value: bigint): bigint {
  let z = u64(value + 0x9e3779b97f4a7c15n);
  z = u64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = u64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}
