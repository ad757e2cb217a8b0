/** Student's t: how far the mean of a few measurements may be from the truth. */

/** Two-sided 95 % points of t for 1, 2, … 30 degrees of freedom; beyond, 1.96 + 2.5 / f is right to 0.01. */
const T95 = [
  ...[12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131],
  ...[2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042],
];

/** The degrees are rounded down, which makes the interval a little too wide rather than too narrow. */
export function studentT(freedom: number): number {
  const whole = Math.max(1, Math.floor(freedom + 1e-9));
  return T95[whole - 1] ?? 1.96 + 2.5 / whole;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function variance(values: readonly number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
}
