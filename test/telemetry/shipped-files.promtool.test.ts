// The dashboard and the alert rules that the package has: Prometheus' own checker reads every expression, and each metric and label in
// them exists.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { METRICS, type Metric } from '../../src/telemetry/metrics/definitions.ts';

const shipped = (name: string) => path.resolve(import.meta.dirname, '../../config/telemetry', name);
const scratch = mkdtempSync(path.join(os.tmpdir(), 'switchboard-promtool-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const ALERTS = shipped('prometheus-alerts.yml');

type Target = { readonly expr: string; readonly legendFormat: string };
type Panel = {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly Target[];
  readonly gridPos: Place;
};
type Place = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
const dashboard: { readonly panels: readonly Panel[]; readonly annotations: { readonly list: readonly { readonly expr: string }[] } } =
  JSON.parse(readFileSync(shipped('grafana-dashboard.json'), 'utf8'));
const targets = dashboard.panels.flatMap((panel) => (panel.targets ?? []).map((target) => ({ ...target, title: panel.title })));
const expressions = [...targets.map(({ expr }) => expr), ...dashboard.annotations.list.map(({ expr }) => expr)];
/** As Grafana does it. */
const filledIn = (expr: string) => expr.replaceAll('$__rate_interval', '2m').replaceAll('$instance', '.*').replaceAll('$agent', '.*');

function promtool(...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  expect({ status, output: stdout + stderr }).toMatchObject({ status: 0, output: expect.stringContaining('SUCCESS') });
}

test('the alert rules are valid', () => promtool('check', 'rules', ALERTS));

test('every expression of the dashboard is valid', () => {
  const rules = expressions.map((expr, index) => ({ record: `panel_${index}`, expr: filledIn(expr) }));
  const file = path.join(scratch, 'rules.yml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  promtool('check', 'rules', file);
});

/** The names of its series: a histogram has three kinds. */
const namesOf = ({ name, type }: Metric) => (type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]);
const byName = new Map(Object.values(METRICS).flatMap((metric: Metric) => namesOf(metric).map((name) => [name, metric] as const)));

test('every metric and label in them exists, and the dashboard shows every metric', () => {
  const used = new Set<string>();
  for (const expr of [...expressions, readFileSync(ALERTS, 'utf8')]) {
    for (const [, name = '', selector = ''] of expr.matchAll(/\b(switchboard_\w+)(?:\{([^}]*)\})?/g)) {
      const metric = byName.get(name);
      expect(metric, name).toBeDefined();
      used.add(metric?.name ?? '');
      const labels = [...selector.matchAll(/(\w+)\s*=/g)].map(([, label]) => label);
      expect(['instance', ...(metric?.labels ?? [])], `labels of ${name}`).toEqual(expect.arrayContaining(labels));
    }
  }
  const unused = Object.values(METRICS).filter(({ name }) => !used.has(name));
  expect(unused.map(({ name }) => name)).toEqual(['switchboard_build_info']); // it lists the instances
});

test('panels do not overlap, and legends name labels that their expressions keep', () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_unused, n) => `${x + (n % w)}/${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  for (const { expr, legendFormat, title } of targets)
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
      expect(expr, title).toMatch(new RegExp(`by \\([^)]*\\b${label}\\b`));
});

/** Each alert with values that raise it, and others that do not. */
const every = (series: string, values: string) => ({ series, values });
const CASES = [
  ['SwitchboardDown', [every('up{job="switchboard",instance="a"}', '0x10')], '5m', 1],
  ['SwitchboardDown', [every('up{job="switchboard",instance="a"}', '1x10')], '5m', 0],
  ['SwitchboardRestarts', [every('switchboard_start_time_seconds{instance="a"}', '1 2 3 4 5 5x10')], '10m', 1],
  ['SwitchboardRestarts', [every('switchboard_start_time_seconds{instance="a"}', '1 2 2x10')], '10m', 0],
  ['SwitchboardAgentFails', [every('switchboard_agent_failures_total{agent="x",reason="agent_exited"}', '0+1x15')], '15m', 1],
  ['SwitchboardAgentFails', [every('switchboard_agent_failures_total{agent="x",reason="agent_exited"}', '0 1 2 2x12')], '15m', 0],
  ['SwitchboardAgentUnavailable', [every('switchboard_agents{agent="x",state="unavailable"}', '1x10')], '10m', 1],
  ['SwitchboardAgentUnavailable', [every('switchboard_agents{agent="x",state="ready"}', '1x10')], '10m', 0],
  [
    'SwitchboardTurnsFail',
    [
      every('switchboard_turns_total{agent="x",outcome="error"}', '0+1x30'),
      every('switchboard_turns_total{agent="x",outcome="end_turn"}', '0+2x30'),
    ],
    '30m',
    1,
  ],
  [
    'SwitchboardTurnsFail',
    [
      every('switchboard_turns_total{agent="x",outcome="error"}', '0+1x30'),
      every('switchboard_turns_total{agent="x",outcome="end_turn"}', '0+9x30'),
    ],
    '30m',
    0,
  ],
  ['SwitchboardPermissionWaits', [every('switchboard_queue_length{queue="permissions"}', '1x70')], '65m', 1],
  ['SwitchboardPermissionWaits', [every('switchboard_queue_length{queue="permissions"}', '1x20 0 1x50')], '65m', 0],
  [
    'SwitchboardActedWithoutAsking',
    [every('switchboard_decisions_total{surface="tool_call",verdict="ask",outcome="unasked"}', '0 1 1x10')],
    '10m',
    1,
  ],
  [
    'SwitchboardActedWithoutAsking',
    [every('switchboard_decisions_total{surface="tool_call",verdict="ask",outcome="allowed"}', '0 1 1x10')],
    '10m',
    0,
  ],
  [
    'SwitchboardTelemetryDropped',
    [every('switchboard_telemetry_dropped_total{signal="traces",reason="queue_full"}', '0 5 5x10')],
    '10m',
    1,
  ],
  ['SwitchboardEventLoopDelayed', [every('switchboard_event_loop_delay_seconds{statistic="p99"}', '0.5x20')], '15m', 1],
  ['SwitchboardEventLoopDelayed', [every('switchboard_event_loop_delay_seconds{statistic="max"}', '0.5x20')], '15m', 0],
  ['SwitchboardMemoryHigh', [every('switchboard_memory_bytes{kind="rss"}', '3e9x30')], '20m', 1],
] as const;

test('each alert is raised by what it is about, and by nothing else', () => {
  const tests = CASES.map(([alertname, input, at, count]) => ({
    interval: '1m',
    input_series: input,
    // The number of alerts: their labels and texts are not the subject.
    promql_expr_test: [
      { expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"}) or vector(0)`, eval_time: at, exp_samples: [{ value: count }] },
    ],
  }));
  const file = path.join(scratch, 'tests.yml');
  writeFileSync(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests }));
  promtool('test', 'rules', file);
  const names = [...readFileSync(ALERTS, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  expect(new Set(CASES.map(([name]) => name))).toEqual(new Set(names));
});
