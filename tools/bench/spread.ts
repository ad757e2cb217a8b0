/** What several rounds of one measurement gave: the middle one, with the least and the most beside it. */

/** The median; of an even number of values, the higher of the two in the middle. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** The median and the range in brackets, each as `show` writes it; a single value stands alone. */
export function spread(values: readonly number[], show: (value: number) => string): string {
  const middle = show(median(values));
  if (values.length === 1) return middle;
  return `${middle} (${show(Math.min(...values))} … ${show(Math.max(...values))})`;
}
