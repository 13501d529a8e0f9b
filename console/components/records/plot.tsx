// One chart: lines over time with a legend, and the same numbers as a table.
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { ChartInterval } from '../../../src/console/protocol/charts.ts';
import { isDark } from '../../theme.ts';
import { ScrollingTable } from '../controls/scrolling-table.tsx';
import type { Intervals } from './numbers.ts';
import type { Line, Plotted } from './plots.ts';

/** Each line has its own pattern too, for readers who cannot tell the colours apart. */
const TONES = ['accent', 'warn', 'bad', 'good', 'dim', 'text'];
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [10, 4], [4, 2, 1, 2], [1, 2]];
const toneOf = (index: number): string => TONES[index % TONES.length] as string;

const HEIGHT = 150;
const MOST_ROWS = 200;
const SHORTEST_ZOOM_MS = 10_000;
/** Moves the cursor off the chart. A cursor that stayed would be reported again with each interval. */
const NOWHERE = { left: -10, top: -10 };

type PlotProps = {
  readonly plot: Plotted;
  readonly intervals: Intervals;
  readonly zoom: (range: readonly [number, number] | undefined) => void;
};

export function Plot({ plot, intervals, zoom }: PlotProps): VNode {
  const { name, lines, format, none } = plot;
  const [at, setAt] = useState<number>();
  const found = at === undefined ? undefined : intervals.find((interval) => interval.at === at);
  const shown = found ?? intervals.at(-1);
  const hasValues = intervals.some((interval) => isFilled(plot, interval));
  const textOf = ({ read }: Line) => {
    const value = shown && read(shown);
    return value === undefined ? '–' : format(value);
  };
  return (
    <figure class="plot" aria-label={name}>
      <figcaption>
        <h2>{name}</h2>
        {hasValues && (
          <>
            <ul>
              {lines.map((line, index) => (
                <li key={line.name}>
                  <span class={`swatch ${toneOf(index)}`} /> {line.name} <b>{textOf(line)}</b>
                </li>
              ))}
            </ul>
            <output class="dim">{found ? time(found.at) : 'now'}</output>
          </>
        )}
      </figcaption>
      {hasValues ? (
        <>
          <Canvas plot={plot} intervals={intervals} at={at} look={setAt} zoom={zoom} />
          <Numbers plot={plot} intervals={intervals} />
        </>
      ) : (
        <p class="nothing dim">{none}</p>
      )}
    </figure>
  );
}

/** Whether there is something to see. */
const isFilled = ({ lines, isSparse, isState }: Plotted, interval: ChartInterval): boolean =>
  lines.some(({ read }) => {
    const value = read(interval);
    return value !== undefined && (isSparse === true || isState === true || value !== 0);
  });

type CanvasProps = PlotProps & {
  /** The end of the selected interval. */
  readonly at: number | undefined;
  readonly look: (at: number | undefined) => void;
};

function Canvas({ plot, intervals, at, look, zoom }: CanvasProps): VNode {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  /** Selected by keyboard. The cursor stays at it as intervals arrive; with a pointer it stays under the pointer. */
  const chosen = useRef<number | undefined>(undefined);
  const dark = isDark.value;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot(optionsOf(plot, element, look, zoom), dataOf(plot, intervals), element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [plot, dark]); // the canvas needs the colours of the current theme
  const choose = (to: number | undefined) => {
    chosen.current = to;
    chart.current?.setCursor(to === undefined ? NOWHERE : { left: chart.current.valToPos(to / 1000, 'x'), top: 10 });
  };
  useEffect(() => {
    const { current } = chart;
    current?.batch(() => current.setData(dataOf(plot, intervals))); // at once: the next line reads positions
    if (chosen.current !== undefined) choose(intervals.some((interval) => interval.at === chosen.current) ? chosen.current : undefined);
  }, [intervals, dark]);
  function zoomBy(factor: number): void {
    const [first, last] = [intervals[0], intervals.at(-1)];
    if (!first || !last) return;
    const middle = at ?? last.at;
    zoom(factor > 1 ? undefined : around(middle, (last.at - first.at) * factor));
  }
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return choose(undefined);
    if (event.key === '+' || event.key === '-') return zoomBy(event.key === '+' ? 0.5 : 2);
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const from = intervals.findIndex((interval) => interval.at === at);
    const next = intervals[Math.max(0, Math.min(intervals.length - 1, (from === -1 ? intervals.length : from) + step))];
    if (step === 0 || !next) return;
    event.preventDefault();
    choose(next.at);
  };
  return (
    <div
      class="canvas"
      ref={box}
      role="img"
      aria-label={`${plot.name}; arrow keys move in time, plus and minus zoom`}
      tabIndex={0}
      onKeyDown={pressed}
      onPointerMove={() => {
        chosen.current = undefined;
      }}
    />
  );
}

function around(middle: number, length: number): readonly [number, number] {
  const half = Math.max(SHORTEST_ZOOM_MS, length) / 2;
  return [middle - half, middle + half];
}

function optionsOf(
  { lines, isSparse = false, format }: Plotted,
  element: HTMLElement,
  look: CanvasProps['look'],
  zoom: CanvasProps['zoom'],
): uPlot.Options {
  const [ink, line] = [colourOf(element, 'dim'), colourOf(element, 'line')];
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: '11px system-ui' };
  return {
    width: element.clientWidth || 300,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, y: false },
    scales: { y: { range: (_, __, most) => [0, (most || 1) * 1.1] } },
    axes: [
      { ...axis, space: 70, size: 30, values: (_, values) => values.map((value) => time(value * 1000)) },
      { ...axis, size: 64, values: (_, values) => values.map(format) },
    ],
    series: [
      {},
      ...lines.map(({ name }, index) => ({
        label: name,
        stroke: colourOf(element, toneOf(index)),
        width: 1.5,
        dash: [...(DASHES[index % DASHES.length] as number[])],
        points: { show: isSparse, size: 6, fill: colourOf(element, toneOf(index)) },
        ...(isSparse && { paths: () => null }),
      })),
    ],
    hooks: {
      setCursor: [({ cursor: { idx }, data: [times] }) => look(idx == null ? undefined : Math.round((times[idx] as number) * 1000))],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < 4) return;
          const [from, to] = [left, left + width].map((x) => chart.posToVal(x, 'x') * 1000) as [number, number];
          chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          zoom(around((from + to) / 2, to - from));
        },
      ],
    },
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

const dataOf = ({ lines }: Plotted, intervals: Intervals): uPlot.AlignedData => [
  intervals.map(({ at }) => at / 1000),
  ...lines.map(({ read }) => intervals.map((interval) => read(interval) ?? null)),
];

function Numbers({ plot, intervals }: Omit<PlotProps, 'zoom'>): VNode {
  const { name, lines, format } = plot;
  const [isOpen, setOpen] = useState(false);
  const filled = isOpen
    ? intervals
        .filter((interval) => isFilled(plot, interval))
        .slice(-MOST_ROWS)
        .reverse()
    : [];
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && (
        <ScrollingTable label={`${name} as a table`}>
          <table class="list matrix">
            <thead>
              <tr>
                <th>Until</th>
                {lines.map((line) => (
                  <th key={line.name} class="number">
                    {line.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {filled.map((interval) => (
                <tr key={interval.at}>
                  <td>{time(interval.at)}</td>
                  {lines.map((line) => {
                    const value = line.read(interval);
                    return (
                      <td key={line.name} class="number">
                        {value === undefined ? '' : format(value)}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollingTable>
      )}
    </details>
  );
}

export const time = (ms: number): string => new Date(ms).toTimeString().slice(0, 8);
