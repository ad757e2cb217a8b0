/** How the operator's page writes numbers, each with its unit. */

export const count = (value: number) =>
  value >= 10_000
    ? new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value)
    : short(value);
export const percent = (value: number) => `${short(value * 100)} %`;
export const milliseconds = (value: number) => `${short(value)} ms`;

function short(value: number): string {
  return value >= 100 || Number.isInteger(value)
    ? value.toFixed(0)
    : String(Number(value.toFixed(value >= 10 ? 1 : 2)));
}

export function bytes(value: number): string {
  const power = value < 2 ** 10 ? 0 : Math.min(3, Math.floor(Math.log2(value) / 10));
  return `${short(value / 2 ** (10 * power))} ${['B', 'KiB', 'MiB', 'GiB'][power]}`;
}
