// The numbers of /metrics over time. The server keeps a day of them, whether or not a page is open.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { ChartNews } from '../../src/console/protocol/charts.ts';
import { ScrollingTable } from '../components/controls/scrolling-table.tsx';
import { agentsIn, binned, countsOver, type Intervals, quantile, sumOver, type Wanted } from '../components/records/numbers.ts';
import { Plot, time } from '../components/records/plot.tsx';
import { money, plotsOf, seconds, whole } from '../components/records/plots.ts';
import { subscribe } from '../socket.ts';

const MINUTE = 60_000;
const RANGES = [
  { name: '15 min', ms: 15 * MINUTE },
  { name: '1 h', ms: 60 * MINUTE },
  { name: '24 h', ms: 24 * 60 * MINUTE },
];
const MOST_INTERVALS = 1600;

const intervals = signal<Intervals | undefined>(undefined);
const isOff = signal(false);
const buckets = signal<Readonly<Record<string, readonly number[]>>>({});
const rangeMs = signal(15 * MINUTE);
/** A part of the range, in milliseconds since 1970. */
const zoom = signal<readonly [number, number] | undefined>(undefined);
/** Empty: all. */
const agent = signal('');

function receive(news: ChartNews): void {
  isOff.value = news.isOff;
  if (news.isOff) return;
  if (news.buckets) buckets.value = news.buckets;
  intervals.value = news.isFirst ? news.intervals : [...(intervals.value ?? []), ...news.intervals].slice(-MOST_INTERVALS);
}

export function Charts(): VNode {
  useEffect(() => subscribe('charts', {}, receive), []);
  return (
    <div class="screen">
      <header class="bar">
        <h1>Charts</h1>
        {!isOff.value && <Range />}
      </header>
      <div class="body">
        {isOff.value ? <Off /> : intervals.value === undefined ? <p class="quiet-text">…</p> : <All all={intervals.value} />}
      </div>
    </div>
  );
}

const Off = (): VNode => (
  <div class="empty">
    <p>
      This process keeps no metrics: the configuration has <code>"telemetry": {'{"metrics": false}'}</code>.
    </p>
  </div>
);

function Range(): VNode {
  return (
    <>
      <fieldset class="buttons" aria-label="How far back">
        {RANGES.map(({ name, ms }) => (
          <button
            key={name}
            type="button"
            aria-pressed={zoom.value === undefined && rangeMs.value === ms}
            onClick={() => {
              rangeMs.value = ms;
              zoom.value = undefined;
            }}
          >
            {name}
          </button>
        ))}
      </fieldset>
      {zoom.value && (
        <button type="button" onClick={() => (zoom.value = undefined)}>
          {time(zoom.value[0])} to {time(zoom.value[1])} ×<span class="hidden"> show the whole range</span>
        </button>
      )}
    </>
  );
}

function All({ all }: { readonly all: Intervals }): VNode {
  const agents = useMemo(() => agentsIn(all), [all]);
  const end = all.at(-1)?.at ?? Date.now();
  const [from, to] = zoom.value ?? [end - rangeMs.value, end];
  const shown = useMemo(() => all.filter(({ at }) => at > from && at <= to), [all, from, to]);
  const points = useMemo(() => binned(shown, from, to), [shown]);
  const chosen = agents.includes(agent.value) ? [agent.value] : agents;
  const names = chosen.join('\n');
  const currencies = [
    ...new Set(all.flatMap(({ gains }) => gains.flatMap(({ key, labels }) => (key === 'cost' && labels[1] ? [labels[1]] : [])))),
  ];
  const currency = currencies.join(', ');
  const plots = useMemo(() => plotsOf(names === '' ? [] : names.split('\n'), currency), [names, currency]);
  const first = all[0];
  return (
    <>
      <Totals agents={agents} intervals={shown} currency={currency} />
      <div class="plots">
        {plots.map((plot) => (
          <Plot key={plot.name} plot={plot} intervals={points} zoom={(range) => (zoom.value = range)} />
        ))}
      </div>
      <p class="quiet-text">
        The numbers of <code>/metrics</code>, kept since {first ? new Date(first.at - first.ms).toLocaleString() : 'now'} for a day. Drag
        over a chart, or press + and − on it, to zoom. Percentiles come from the histograms of <code>/metrics</code>, so they are as exact
        as their buckets.
      </p>
    </>
  );
}

type TotalsProps = { readonly agents: readonly string[]; readonly intervals: Intervals; readonly currency: string };

/** Totals and percentiles over the range, by agent. */
function Totals({ agents, intervals: range, currency }: TotalsProps): VNode {
  const rows = agents.length === 1 ? [] : agents;
  return (
    <ScrollingTable label="Totals of the range">
      <table class="list matrix totals">
        <thead>
          <tr>
            <th rowSpan={2}>Agent</th>
            <th rowSpan={2}>Turns</th>
            <th colSpan={2}>Turn</th>
            <th colSpan={2}>First update</th>
            <th colSpan={2}>Permission wait</th>
            <th rowSpan={2}>Failed</th>
            <th rowSpan={2}>Host tool calls</th>
            <th colSpan={2}>Tokens</th>
            <th rowSpan={2}>Cost{currency && ` (${currency})`}</th>
          </tr>
          <tr>
            {['median', '95 %', 'median', '95 %', 'median', '95 %', 'in', 'out'].map((name, index) => (
              <th key={index}>{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((name) => (
            <tr key={name} class={agent.value === name ? 'chosen' : ''}>
              <th scope="row">
                <button
                  type="button"
                  class="quiet"
                  aria-pressed={agent.value === name}
                  title={agent.value === name ? 'Show all agents' : `Show only ${name}`}
                  onClick={() => (agent.value = agent.value === name ? '' : name)}
                >
                  {name}
                </button>
              </th>
              <Numbers range={range} wanted={([of]) => of === name} />
            </tr>
          ))}
          <tr class="sum">
            <th scope="row">{agents.length === 1 ? agents[0] : 'All'}</th>
            <Numbers range={range} />
          </tr>
        </tbody>
      </table>
    </ScrollingTable>
  );
}

function Numbers({ range, wanted }: { readonly range: Intervals; readonly wanted?: Wanted }): VNode {
  const total = (key: string, also: Wanted = () => true) => sumOver(range, key, (labels) => (wanted?.(labels) ?? true) && also(labels));
  const part = (key: string, share: number) => {
    const value = quantile(share, countsOver(range, key, wanted), buckets.value[key] ?? []);
    return value === undefined ? undefined : seconds(value);
  };
  const orNone = (value: number, format: (value: number) => string) => (value === 0 ? undefined : format(value));
  const cells = [
    whole(total('turns')),
    part('turnSeconds', 0.5),
    part('turnSeconds', 0.95),
    part('firstUpdateSeconds', 0.5),
    part('firstUpdateSeconds', 0.95),
    part('permissionSeconds', 0.5),
    part('permissionSeconds', 0.95),
    whole(total('turns', ([, outcome]) => outcome === 'error') + total('agentFailures')),
    whole(total('toolCalls')),
    orNone(
      total('tokens', ([, kind]) => kind === 'input'),
      whole,
    ),
    orNone(
      total('tokens', ([, kind]) => kind === 'output'),
      whole,
    ),
    orNone(total('cost'), money),
  ];
  return (
    <>
      {cells.map((cell, index) => (
        <td key={index} class={cell === undefined ? 'number dim' : 'number'}>
          {cell ?? '–'}
        </td>
      ))}
    </>
  );
}
