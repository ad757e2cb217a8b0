/** The table of the cluster: the relays that share the world, and what goes between each of them and this one. */

import type { ClusterDocument, ClusterRow } from '../../wire/peers/cluster_document.ts';

const COLUMNS = ['Relay', 'State', 'Desktops', 'Sprites to it', 'Sprites from it', 'In doubt', 'Time to verdict'];

/** A relay that has one of these states needs somebody. */
const LEVELS: Partial<Record<ClusterRow['state'], string>> = { suspected: 'warn', gone: 'bad' };

/** The cells of a row. The time to verdict is the mean since `before`, the same row some seconds ago. */
export function cellsOf(row: ClusterRow, self: string, before?: ClusterRow): string[] {
  const { relay, state, desktops, silentMs, passed, received, inDoubt, verdicts, verdictMs } = row;
  const silent = silentMs >= 1000 ? `${state}, silent for ${Math.round(silentMs / 1000)} s` : state;
  const own = [relay === self ? `${relay} (this one)` : relay, silent, whole(desktops)];
  if (relay === self) return [...own, '', '', '', ''];
  // A relay that was started again counts from 0.
  const isSince = before !== undefined && before.verdicts <= verdicts;
  const count = verdicts - (isSince ? before.verdicts : 0);
  const ms = verdictMs - (isSince ? before.verdictMs : 0);
  return [...own, whole(passed), whole(received), whole(inDoubt), count > 0 ? `${(ms / count).toFixed(1)} ms` : '–'];
}

function whole(value: number): string {
  return value.toLocaleString('en');
}

export class ClusterTable {
  readonly #section: HTMLElement;
  readonly #rows = new Map<string, ClusterRow>();

  constructor(section: HTMLElement) {
    this.#section = section;
  }

  /** Shows the newest document; null when this relay is not in a cluster. */
  show(cluster: ClusterDocument | null): void {
    this.#section.hidden = cluster === null;
    if (cluster === null) return;
    const desktops = cluster.relays.reduce((sum, row) => sum + (row.state === 'here' ? row.desktops : 0), 0);
    const heading = document.createElement('h2');
    heading.textContent = 'Cluster';
    const note = document.createElement('p');
    note.textContent = `${whole(desktops)} desktops on ${cluster.relays.filter(({ state }) => state === 'here').length} relays`;
    if (!cluster.connected) {
      note.textContent = 'NATS is not connected: sprites to other relays bounce';
      note.dataset.level = 'bad';
    }
    const table = document.createElement('table');
    table.createTHead().append(rowOf('th', COLUMNS));
    const body = table.createTBody();
    for (const row of cluster.relays) {
      const line = rowOf('td', cellsOf(row, cluster.relay, this.#rows.get(row.relay)));
      line.dataset.level = LEVELS[row.state] ?? (row.state === 'here' ? 'good' : 'past');
      body.append(line);
      this.#rows.set(row.relay, row);
    }
    const scroll = document.createElement('div');
    scroll.className = 'table';
    scroll.append(table);
    this.#section.replaceChildren(heading, note, scroll);
  }
}

function rowOf(kind: 'th' | 'td', texts: readonly string[]): HTMLTableRowElement {
  const row = document.createElement('tr');
  for (const text of texts) {
    const cell = document.createElement(kind);
    cell.textContent = text;
    row.append(cell);
  }
  return row;
}
