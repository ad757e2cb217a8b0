/**
 * The figures of a report in Prometheus' text format: for node_exporter's textfile collector, a Pushgateway, or an OpenTelemetry
 * collector's prometheus receiver. Pure. A figure that is not known is left out; a percentile that is never is +Inf.
 */
import { notArrived } from './account.ts';
import { COUNTS } from './engine_result.ts';
import { NEVER_US } from './histogram.ts';
import type { Report } from './merge.ts';

interface Sample {
  labels?: Record<string, string>;
  value: number | null;
}

export function prometheus(report: Report): string {
  const { latencyUs, awayUs, relay, swarm, window } = report;
  const seconds = (us: number) => (us >= NEVER_US ? Number.POSITIVE_INFINITY : us / 1e6);
  const quantiles = (us: typeof latencyUs): Sample[] =>
    us.count === 0
      ? []
      : (
          [
            ['0.5', us.p50],
            ['0.9', us.p90],
            ['0.99', us.p99],
            ['0.999', us.p999],
            ['1', us.max],
          ] as const
        ).map(([quantile, value]) => ({ labels: { quantile }, value: seconds(value) }));
  const metric = (name: string, help: string, samples: readonly Sample[]) => metricOf(report.name, name, help, samples);
  return [
    metric('pass', '1 when the run is complete, its accounts agree and every threshold held', [
      { value: +report.pass },
    ]),
    metric(
      'sprites',
      'Throws and arrivals of the whole run by what became of them; README.md names the kinds',
      COUNTS.map((kind) => ({ labels: { kind }, value: report[kind] })),
    ),
    metric('not_arrived', 'Throws due in the measured window that did not arrive', [{ value: notArrived(report) }]),
    metric('latency_seconds', 'From when a throw was due to its arrival', quantiles(latencyUs)),
    metric('away_latency_seconds', 'The same, at desktops that storm, churn or read late', quantiles(awayUs)),
    metric('delivered_per_second', 'Sprites delivered in the measured window', [{ value: window.deliveredPerS }]),
    metric('desktops', 'Fake desktops', [{ value: report.desktops }]),
    metric('parked', 'Polls held when the first sprite was thrown', [{ value: report.parked }]),
    metric('relay_cpu_cores', 'Cores that the relay used in the window', [{ value: relay.cpuCores }]),
    metric('relay_cpu_seconds_per_sprite', 'CPU of the relay for each sprite', [
      { value: relay.cpuUsPerSprite === null ? null : relay.cpuUsPerSprite / 1e6 },
    ]),
    metric('relay_rss_bytes', 'Resident memory of the relay at the end', [{ value: relay.rssBytes }]),
    metric('cpu_cores', 'Cores that the swarm used in the window', [{ value: swarm.cpuCores }]),
    metric('threshold_held', '1 when the threshold held', [
      ...report.judgements.map(({ threshold, outcome }) => ({
        labels: { threshold },
        value: outcome === 'held' ? 1 : 0,
      })),
    ]),
  ].join('');
}

function metricOf(scenario: string, name: string, help: string, samples: readonly Sample[]): string {
  const known = samples.filter(({ value }) => value !== null);
  if (known.length === 0) return '';
  const lines = known.map(({ labels = {}, value }) => {
    const all = Object.entries({ scenario, ...labels }).map(([key, text]) => `${key}="${escapedLabel(text)}"`);
    return `sprites_swarm_${name}{${all.join(',')}} ${value === Number.POSITIVE_INFINITY ? '+Inf' : value}\n`;
  });
  return `# HELP sprites_swarm_${name} ${help}\n# TYPE sprites_swarm_${name} gauge\n${lines.join('')}`;
}

function escapedLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
