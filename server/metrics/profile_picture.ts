/**
 * The functions of a profile, or of two, as a picture: a bar for each function's share of its thread's time, below that of the earlier one.
 *
 * An SVG file without a script, which every browser opens.
 */
import type { ListedFunction } from './profile_list.ts';

/** Pixels. Beside the longest bar is room for its figure. */
const WIDTH = 960;
const BAR_MAX = 880;
const BAR_HEIGHT = 11;
const NAME_HEIGHT = 22;

const NOW = '#2a6fdb';
const EARLIER = '#a9b0b8';

export function profilePicture(listed: readonly ListedFunction[]): string {
  const most = Math.max(0.001, ...listed.flatMap(({ own, before = 0 }) => [own, before]));
  let y = NAME_HEIGHT;
  const text = (x: number, what: string) =>
    `<text x="${x}" y="${y}">${what.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
  const bar = (share: number, colour: string, of: string) => {
    const width = Math.round((BAR_MAX * share) / most);
    const drawn = `<rect y="${y}" width="${width}" height="${BAR_HEIGHT - 1}" fill="${colour}"/>`;
    y += BAR_HEIGHT;
    return `${drawn}${text(width + 4, `${(100 * share).toFixed(1)} %${of}`)}`;
  };
  const rows = listed.map(({ name, own, before }, row) => {
    const head = text(0, name);
    y += 4;
    const said = (of: string) => (row === 0 && before !== undefined ? ` ${of}` : '');
    const bars = [before === undefined ? '' : bar(before, EARLIER, said('earlier')), bar(own, NOW, said('now'))];
    y += NAME_HEIGHT;
    return [head, ...bars].join('');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
${rows.join('\n')}
</svg>
`;
}
