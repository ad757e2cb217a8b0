/**
 * The pages of the swarm: one HTML file each, with everything that it shows, and what such a page is made of.
 *
 * Pure. The Content-Security-Policy of a page forbids scripts and requests. Every text from a user or a relay is escaped.
 */
import { escaped, type Series } from './chart.ts';

/** A whole page. With `refreshSeconds` the browser reads it again so often: a page that grows. */
export function documentOf(title: string, main: string, refreshSeconds?: number): string {
  const refresh = refreshSeconds === undefined ? '' : `\n<meta http-equiv="refresh" content="${refreshSeconds}">`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">${refresh}
<title>${escaped(title)}</title>
<style>${STYLE}</style>
<main>
${main}
</main>
</html>
`;
}

/** The word beside a title, such as PASS, and the class of its colour. */
export interface Badge {
  word: string;
  colour: string;
}

/** What a page begins with; `below` is HTML. */
export function header(kind: string, title: string, { word, colour }: Badge, below: readonly string[]): string {
  return `<header>
<p class="kind">${escaped(kind)}</p>
<h1>${escaped(title)} <span class="badge ${colour}">${escaped(word)}</span></h1>
${below.join('\n')}
</header>`;
}

export type Tile = readonly [name: string, value: string, beside: string];

/** Figures in large type: name, value, and what stands below; false for none. */
export function tilesOf(tiles: readonly (Tile | false)[]): string {
  const tile = ([name, value, beside]: Tile) =>
    `<div class="tile"><p class="name">${escaped(name)}</p><p class="figure">${escaped(value)}</p><p class="beside">${escaped(beside)}</p></div>`;
  return `<section class="tiles">${tiles.map((one) => (one ? tile(one) : '')).join('')}</section>`;
}

/** A drawing with its title, its unit and the names of its series. */
export function figure(title: string, unit: string, series: readonly Series[], drawing: string): string {
  const legend = series
    .map(
      ({ name, colour }) =>
        `<span class="key"><i style="background:var(--series-${colour})"></i>${escaped(name)}</span>`,
    )
    .join('');
  return `<figure><figcaption><b>${escaped(title)}</b> <span class="unit">${escaped(unit)}</span>${legend === '' ? '' : `<span class="legend">${legend}</span>`}</figcaption>${drawing}</figure>`;
}

/** `classes`: what the style sheet calls the columns and the rows. */
export function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  classes: { columns?: readonly string[]; rows?: readonly string[] } = {},
): string {
  const element = (tag: string, of: string | undefined, inside: string) =>
    `<${tag}${of ? ` class="${of}"` : ''}>${inside}</${tag}>`;
  const cells = (row: readonly string[], tag: string) =>
    row.map((cell, i) => element(tag, classes.columns?.[i], escaped(cell))).join('');
  const body = rows.map((row, i) => element('tr', classes.rows?.[i], cells(row, 'td')));
  return `<table><thead><tr>${cells(names, 'th')}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
}

const STYLE = `
:root{color-scheme:light dark;--paper:#fbfbfa;--card:#fff;--ink:#1c2024;--soft:#5f6872;--hair:#e4e6e9;--grid:#eceef0;--window:#f3f5f8;
--series-1:#2563c9;--series-2:#e07b00;--series-3:#0c8f6a;--series-4:#cf2e3c;--series-5:#7a4fc9;--series-6:#8a97a6;--good:#0c7f5c;--bad:#c22533;--doubt:#a86200}
@media (prefers-color-scheme:dark){:root{--paper:#14171a;--card:#1b1f24;--ink:#e8eaed;--soft:#98a2ad;--hair:#2c323a;--grid:#262c33;--window:#20262d;
--series-1:#6ea3f5;--series-2:#f2a34b;--series-3:#43c39a;--series-4:#f0707b;--series-5:#b095f0;--series-6:#7b8896;--good:#43c39a;--bad:#f0707b;--doubt:#f2a34b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1180px;margin:0 auto;padding:36px 28px 48px}
p{margin:0}
header{margin-bottom:22px}
.kind{color:var(--soft);font-size:13px;letter-spacing:.02em}
h1{font-size:30px;line-height:1.25;margin:2px 0 6px;font-weight:650;display:flex;gap:14px;align-items:center;flex-wrap:wrap}
.badge{font-size:13px;font-weight:650;letter-spacing:.06em;padding:3px 11px;border-radius:99px;color:#fff;background:var(--bad)}
.badge.pass{background:var(--good)}
tr.worse td:last-child{color:var(--bad);font-weight:600}
tr.better td:last-child{color:var(--good);font-weight:600}
.badge.void{background:var(--doubt)}
@media (prefers-color-scheme:dark){.badge{color:#14171a}}
.load{font-size:17px}
.shows{color:var(--soft);max-width:80ch;margin-top:6px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:12px;margin-bottom:18px}
.tile{background:var(--card);border:1px solid var(--hair);border-radius:10px;padding:12px 16px}
.tile .name{color:var(--soft);font-size:13px}
.tile .figure{font-size:25px;font-weight:600;line-height:1.3;white-space:nowrap}
.tile .beside{color:var(--soft);font-size:13px}
.complaint{border-left:4px solid var(--doubt);background:var(--card);padding:10px 16px;margin:0 0 12px;border-radius:0 8px 8px 0}
.note{color:var(--soft);margin:4px 0 10px}
.charts{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:14px;margin-bottom:14px}
.tables{display:flex;flex-wrap:wrap;gap:14px;align-items:start;margin-bottom:14px}
.tables table{flex:1 1 auto;width:auto}
figure,table{background:var(--card);border:1px solid var(--hair);border-radius:10px;margin:0}
figure{padding:12px 14px 6px}
figcaption{font-size:14px;display:flex;gap:4px 10px;flex-wrap:wrap;align-items:baseline;min-height:24px}
.unit{color:var(--soft);font-size:13px}
.legend{margin-left:auto;display:flex;gap:12px;flex-wrap:wrap;font-size:13px}
.key i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:5px;vertical-align:-1px}
svg{display:block;width:100%;height:auto;margin-top:4px}
svg text{font-size:11.5px;fill:var(--soft);text-anchor:middle}
svg text.end{text-anchor:end}
svg text.start{text-anchor:start}
svg text.value{fill:var(--ink);font-weight:600}
svg text.mark{fill:var(--ink);font-size:11px;paint-order:stroke;stroke:var(--card);stroke-width:3px;stroke-dasharray:none;stroke-opacity:1}
.grid{stroke:var(--grid)}
.axis,.notch{stroke:var(--soft);stroke-opacity:.55}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.area{opacity:.13}
line.mark{stroke:var(--ink);stroke-opacity:.45;stroke-dasharray:3 3}
.window{fill:var(--window)}
.hover{fill:transparent}
.hover:hover{fill:var(--ink);fill-opacity:.06}
.wide{margin-bottom:14px;overflow-x:auto}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:14px;padding:12px 16px}
th{font-weight:400;color:var(--soft);font-size:13px}
th:first-child{color:var(--ink);font-weight:600;font-size:14px}
th,td{text-align:right;padding:3px 0 3px 14px;border-bottom:1px solid var(--grid);white-space:nowrap}
th:first-child,td:first-child{text-align:left;padding-left:0}
.text,.path{text-align:left}
td.path{white-space:normal;overflow-wrap:anywhere}
tbody tr:last-child td{border-bottom:0}
footer{color:var(--soft);font-size:13px;margin-top:24px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 16px;margin:0 0 14px}
dt{color:var(--soft)}
dd{margin:0;color:var(--ink);overflow-wrap:anywhere}
footer p{max-width:96ch}
code{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (max-width:760px){.charts{grid-template-columns:1fr}main{padding:24px 14px}}
@media print{body{background:#fff}figure,table,.tile{break-inside:avoid}}
`;
