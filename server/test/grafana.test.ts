/** The dashboard for Grafana and the alert rules: they query metrics that a running relay has, the dashboard all that OPERATING.md names. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ensurePrograms, installHint } from '../../tools/machine.js';
import { BOUNDED, type RelayProcess, startRelay, until } from './relay_process.ts';

interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: { type: string; uid: string };
  targets?: { refId: string; expr: string; datasource: object }[];
}

const SERVER = join(import.meta.dirname, '..');
const dashboard = JSON.parse(readFileSync(join(SERVER, 'deploy/grafana.json'), 'utf8')) as {
  panels: Panel[];
  templating: { list: { name: string; type: string; query: unknown }[] };
};
const graphs = dashboard.panels.filter(({ type }) => type !== 'row');
const queries = graphs.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** What the alert rules ask for, of what a relay has. */
const alerts = [...readFileSync(join(SERVER, 'deploy/alerts.yml'), 'utf8').matchAll(/^ +expr: (.*sprites_.*)$/gm)].map(
  ([, expr]) => expr,
);

const noPromtool = ensurePrograms(['promtool'], ['prometheus'])
  ? false
  : `promtool is missing: ${installHint(['prometheus'])}`;

/** The metrics that OPERATING.md's tables of gauges name, `_waiting_total` after another one in full. */
function gaugesOfDocument(): string[] {
  const text = readFileSync(join(SERVER, 'OPERATING.md'), 'utf8');
  const rows = text.split('\n').filter((line) => /^\| `sprites_/.test(line));
  const names = rows.flatMap((line) =>
    [...line.split(' | ')[0].matchAll(/`(\w+)(?:\{\w+(?:, \w+)*\})?`/g)].map(([, name]) => name),
  );
  return names.map((name) => (name.startsWith('_') ? `sprites${name}` : name));
}

describe('the dashboard for Grafana, and the alert rules', BOUNDED, () => {
  let relay: RelayProcess;
  before(async () => {
    // Without a NATS it stays alone, but has the metrics of a relay in a cluster.
    relay = await startRelay({ workers: 1, args: ['--nats', 'nats://127.0.0.1:1', '--relay-name', 'r1'] });
  });
  after(() => relay?.stop());

  it('queries only metrics and labels that a running relay has', async () => {
    let metrics = new Map<string, number>();
    await until('the threads have been sampled', async () => {
      metrics = await relay.metrics();
      return [...metrics.keys()].some((name) => name.startsWith('sprites_cpu_seconds_total'));
    });
    const names = new Set([...metrics.keys()].map((name) => name.replace(/\{.*/, '')));
    // A relay that is alone has no series by peer: cluster_drain.test.ts looks for those.
    for (const query of [...queries.filter((each) => !each.includes('by (peer)')), ...alerts]) {
      const used = [...query.matchAll(/\bsprites_\w+/g)].map(([name]) => name);
      assert.ok(used.length > 0, query);
      for (const name of used) assert.ok(names.has(name), `${name} in ${query}`);
      const [, by] = /\bby \(([^)]+)\)/.exec(query) ?? [];
      const series = [...metrics.keys()].filter((name) => name.startsWith(`${used[0]}{`));
      // Prometheus adds the instance.
      for (const label of by?.split(', ').filter((each) => each !== 'instance') ?? [])
        assert.ok(series[0]?.includes(`${label}="`), `${label} in ${query}`);
    }
  });

  it('alerts of what is wrong, and of nothing else', { skip: noPromtool }, () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alerts_test.yml'], {
      cwd: join(SERVER, 'deploy'),
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
  });

  it('alerts of gauges of which OPERATING.md says what to do', () => {
    const gauges = gaugesOfDocument();
    const watched = alerts.flatMap((expr) => [...expr.matchAll(/\bsprites_\w+/g)].map(([name]) => name));
    assert.deepEqual(
      watched.filter((name) => !gauges.includes(name)),
      [],
    );
  });

  it('has every gauge that OPERATING.md tells operators to look at', () => {
    const gauges = gaugesOfDocument();
    assert.ok(gauges.length > 15, `${gauges.length}`);
    const text = queries.join('\n');
    for (const gauge of gauges) assert.match(text, new RegExp(`\\b${gauge}(?!\\w)`), gauge);
  });

  it('imports as it is: it asks for its data source, and its panels have their own places', () => {
    const [datasource, instance] = dashboard.templating.list;
    assert.deepEqual([datasource.name, datasource.type, datasource.query], ['datasource', 'datasource', 'prometheus']);
    assert.equal(instance.name, 'instance');
    for (const { datasource, targets, title } of graphs) {
      assert.deepEqual(datasource, { type: 'prometheus', uid: '$' + '{datasource}' }, title);
      for (const { expr } of targets ?? []) assert.ok(expr.includes('instance=~"$instance"'), expr);
    }
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
    const taken = new Set<string>();
    for (const { gridPos, title } of dashboard.panels) {
      const { x, y, w, h } = gridPos;
      assert.ok(x >= 0 && x + w <= 24, title);
      for (let row = y; row < y + h; row++) {
        for (let column = x; column < x + w; column++) {
          assert.ok(!taken.has(`${row} ${column}`), `${title} lies on another panel`);
          taken.add(`${row} ${column}`);
        }
      }
    }
  });
});
