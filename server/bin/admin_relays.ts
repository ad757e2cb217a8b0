/** The commands of `npm run admin` about the relays of a cluster: the request of each to the relay, and how its answer is printed. */
import { Misused } from '../../tools/command.ts';
import type { ClusterDocument, ClusterRow } from '../wire/peers/cluster_document.ts';
import { counted, type Print, type Query } from './admin_query.ts';

export const RELAYS_COMMANDS: Readonly<Record<string, readonly [words: string, meaning: string]>> = {
  relays: [
    '[forget NAME]',
    'list the relays of the cluster; forget: declare that a relay that is gone will not come back; sprites that wait for its verdict are abandoned',
  ],
};

const COLUMNS = ['relay', 'state', 'desktops', 'to it', 'from it', 'in doubt', 'verdict after'];

/** What the command asks the relay. Throws Misused. */
export function relaysQuery(words: readonly string[]): Query {
  if (words.length === 0) return { method: 'GET', path: '/admin/relays', show: showRelays };
  const [verb, relay] = words;
  if (verb !== 'forget' || words.length !== 2)
    throw new Misused('relays: must be followed by forget and a name, or by nothing.');
  return {
    method: 'POST',
    path: '/admin/relays/forget',
    body: { relay },
    show: ({ abandoned }: { abandoned: number }, print: Print) =>
      print(
        `${relay} is forgotten until it is started again; abandoned on their way to it: ${counted(abandoned, 'sprite')}.`,
      ),
  };
}

function showRelays({ relay: self, connected, relays }: ClusterDocument, print: Print): void {
  print(`${counted(relays.length, 'relay')}${connected ? '' : '; NATS is not connected'}`);
  const rows = relays.map((row) => cellsOf(row, row.relay === self));
  const widths = COLUMNS.map((title, column) => Math.max(title.length, ...rows.map((cells) => cells[column].length)));
  for (const cells of [COLUMNS, ...rows]) {
    const line = cells.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
    );
    print(`  ${line.join('  ').trimEnd()}`);
  }
}

function cellsOf(
  { relay, state, desktops, silentMs, passed, received, inDoubt, verdicts, verdictMs }: ClusterRow,
  isSelf: boolean,
): string[] {
  const silent = silentMs >= 1000 ? `, silent for ${Math.round(silentMs / 1000)} s` : '';
  const own = [isSelf ? `${relay} (this one)` : relay, `${state}${silent}`, `${desktops}`];
  if (isSelf) return [...own, '', '', '', ''];
  return [
    ...own,
    `${passed}`,
    `${received}`,
    `${inDoubt}`,
    verdicts === 0 ? '–' : `${(verdictMs / verdicts).toFixed(1)} ms`,
  ];
}
