// Traffic over time. The server keeps a quarter of an hour, so a reloaded page has it all.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ChartRow, ChartTopics } from '../../src/console/protocol/charts.ts';
import { Plot, type Plotted } from '../components/records/plot.tsx';
import { subscribe } from '../socket.ts';

const MOST_ROWS = 900;
const MINUTES = [1, 5, 15];
const rows = signal<readonly ChartRow[]>([]);
const minutes = signal(5);

function receive({ rows: fresh, isFirst }: ChartTopics['charts']['news']): void {
  rows.value = isFirst ? fresh : [...rows.value, ...fresh].slice(-MOST_ROWS);
}

const count = (value: number): string => {
  if (value < 1000) return String(Math.round(value * 10) / 10);
  const [size, unit] = value < 1_000_000 ? [value / 1000, 'k'] : [value / 1_000_000, 'M'];
  return `${size < 100 ? size.toFixed(1) : Math.round(size)}${unit}`;
};
const ms = (value: number): string => (value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${Number(value.toPrecision(3))} ms`);

const PLOTS: readonly Plotted[] = [
  {
    name: 'Frames per second',
    lines: [
      { key: 'fromAgents', name: 'from agents', tone: 'accent' },
      { key: 'fromClient', name: 'from clients', tone: 'warn' },
    ],
    format: count,
  },
  {
    name: 'Bytes per second',
    lines: [
      { key: 'bytesFromAgents', name: 'from agents', tone: 'accent' },
      { key: 'bytesFromClient', name: 'from clients', tone: 'warn' },
    ],
    format: (bytes) => `${count(bytes)}B`,
  },
  {
    name: 'Added by switchboard',
    lines: [
      { key: 'addedMedian', name: 'half below', tone: 'accent' },
      { key: 'addedP95', name: '95 % below', tone: 'warn' },
      { key: 'addedMost', name: 'most', tone: 'bad' },
    ],
    isSparse: true,
    format: ms,
  },
  { name: 'Turn duration', lines: [{ key: 'turn', name: 'turn', tone: 'accent' }], isSparse: true, format: ms },
  { name: 'Prompt to first update', lines: [{ key: 'first', name: 'first update', tone: 'accent' }], isSparse: true, format: ms },
  { name: 'Permission wait', lines: [{ key: 'wait', name: 'wait', tone: 'warn' }], isSparse: true, format: ms },
  { name: 'Errors', lines: [{ key: 'errors', name: 'errors', tone: 'bad' }], format: count },
];

export function Charts(): VNode {
  useEffect(() => subscribe('charts', {}, receive), []);
  const since = (rows.value.at(-1)?.t ?? 0) - minutes.value * 60;
  const shown = rows.value.filter(({ t }) => t >= since);
  return (
    <div class="screen">
      <header class="bar">
        <h1>Charts</h1>
        <fieldset class="buttons" aria-label="How far back">
          {MINUTES.map((wanted) => (
            <button
              key={wanted}
              type="button"
              aria-pressed={minutes.value === wanted}
              onClick={() => {
                minutes.value = wanted;
              }}
            >
              {wanted} min
            </button>
          ))}
        </fieldset>
      </header>
      <div class="body">
        <div class="plots">
          {PLOTS.map((plot) => (
            <Plot key={plot.name} plot={plot} rows={shown} />
          ))}
        </div>
        <p class="quiet-text">
          Measured while a console page is open. “Added” is the time requests and responses spend in switchboard, including policy and
          permission requests.
        </p>
      </div>
    </div>
  );
}
