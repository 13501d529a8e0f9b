// One chart: lines over time with a legend, and the same numbers as a table.
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { ChartRow } from '../../../src/console/protocol/charts.ts';
import { isDark } from '../../theme.ts';
import { filledRows, type Key } from './filled-rows.ts';

export type Line = { readonly key: Key; readonly name: string; readonly tone: Tone };
/** Each line has its own pattern, for readers who cannot tell the colours apart. */
type Tone = 'accent' | 'warn' | 'bad';
const DASHES: Readonly<Record<Tone, number[]>> = { accent: [], warn: [6, 3], bad: [2, 3] };

export type Plotted = {
  readonly name: string;
  readonly lines: readonly Line[];
  /** Single events: dots without a connecting line. */
  readonly isSparse?: boolean;
  readonly format: (value: number) => string;
};

const HEIGHT = 160;
const MOST_ROWS = 200;
/** Moves the cursor off the chart. A cursor that stayed would be reported again every second. */
const NOWHERE = { left: -10, top: -10 };

export function Plot({ plot, rows }: { readonly plot: Plotted; readonly rows: readonly ChartRow[] }): VNode {
  const { name, lines, format } = plot;
  const [at, setAt] = useState<number>();
  const found = at === undefined ? undefined : rows.find(({ t }) => t === at);
  const shown = found ?? rows.at(-1);
  const textOf = (row: ChartRow | undefined, key: Key) => (row?.[key] == null ? '–' : format(row[key]));
  return (
    <figure class="plot" aria-label={name}>
      <figcaption>
        <h2>{name}</h2>
        <ul>
          {lines.map(({ key, name: label, tone }) => (
            <li key={key}>
              <span class={`swatch ${tone}`} /> {label} <b>{textOf(shown, key)}</b>
            </li>
          ))}
        </ul>
        <output class="dim">{found ? time(found.t) : 'now'}</output>
      </figcaption>
      <Canvas plot={plot} rows={rows} at={at} look={setAt} />
      <Numbers plot={plot} rows={rows} />
    </figure>
  );
}

type CanvasProps = {
  readonly plot: Plotted;
  readonly rows: readonly ChartRow[];
  /** The time of the selected row. */
  readonly at: number | undefined;
  readonly look: (at: number | undefined) => void;
};

function Canvas({ plot, rows, at, look }: CanvasProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  /** The time selected by keyboard. The cursor stays at it as rows arrive; with a pointer it stays under the pointer. */
  const chosen = useRef<number | undefined>(undefined);
  const dark = isDark.value;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot(optionsOf(plot, element, look), dataOf(plot, rows), element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [plot, dark]); // the canvas needs the colours of the current theme
  const choose = (t: number | undefined) => {
    chosen.current = t;
    chart.current?.setCursor(t === undefined ? NOWHERE : { left: chart.current.valToPos(t, 'x'), top: 10 });
  };
  useEffect(() => {
    const { current } = chart;
    current?.batch(() => current.setData(dataOf(plot, rows))); // at once: the next line reads positions
    if (chosen.current !== undefined) choose(rows.some(({ t }) => t === chosen.current) ? chosen.current : undefined);
  }, [rows, dark]);
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return choose(undefined);
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const from = rows.findIndex(({ t }) => t === at);
    const row = rows[Math.max(0, Math.min(rows.length - 1, (from === -1 ? rows.length : from) + step))];
    if (step === 0 || !row) return;
    event.preventDefault();
    choose(row.t);
  };
  return (
    <div
      class="canvas"
      ref={box}
      role="img"
      aria-label={`${plot.name}; arrow keys move by one second`}
      tabIndex={0}
      onKeyDown={pressed}
      onPointerMove={() => {
        chosen.current = undefined;
      }}
    />
  );
}

function optionsOf({ lines, isSparse = false, format }: Plotted, element: HTMLElement, look: CanvasProps['look']): uPlot.Options {
  const [ink, line] = [colourOf(element, 'dim'), colourOf(element, 'line')];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: '11px system-ui' };
  return {
    width: element.clientWidth || 300,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    scales: { y: { range: (_, __, most) => [0, (most || 1) * 1.1] } },
    axes: [
      { ...axis, space: 70, size: 30, values: (_, values) => values.map(time) },
      { ...axis, size: 60, values: (_, values) => values.map(format) },
    ],
    series: [
      {},
      ...lines.map(({ name, tone }) => ({
        label: name,
        stroke: colourOf(element, tone),
        width: 1.5,
        dash: DASHES[tone],
        points: { show: isSparse, size: 6, fill: colourOf(element, tone) },
        ...(isSparse && { paths: () => null }),
      })),
    ],
    hooks: { setCursor: [({ cursor: { idx }, data: [times] }) => look(idx == null ? undefined : times[idx])] },
  };
}

/** The current colour of the page, in a form a canvas understands. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const dataOf = ({ lines }: Plotted, rows: readonly ChartRow[]): uPlot.AlignedData => [
  rows.map(({ t }) => t),
  ...lines.map(({ key }) => rows.map((row) => row[key])),
];

function Numbers({ plot, rows }: { readonly plot: Plotted; readonly rows: readonly ChartRow[] }): VNode {
  const { name, lines, format } = plot;
  const [isOpen, setOpen] = useState(false);
  const filled = isOpen ? filledRows(plot, rows).slice(-MOST_ROWS).reverse() : [];
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        <div class="numbers">
          <table class="list matrix" aria-label={name}>
            <thead>
              <tr>
                <th>Time</th>
                {lines.map(({ key, name: label }) => (
                  <th key={key} class="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {filled.map((row) => (
                <tr key={row.t}>
                  <td>{time(row.t)}</td>
                  {lines.map(({ key }) => (
                    <td key={key} class="number">
                      {row[key] === null ? '' : format(row[key])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {filled.length === 0 && <p class="quiet-text">Nothing in this period.</p>}
        </div>
      )}
    </details>
  );
}

const time = (t: number): string => new Date(t * 1000).toTimeString().slice(0, 8);
