// What the charts show: their lines, and how each line reads its value from an interval.
import type { ChartInterval } from '../../../src/console/protocol/charts.ts';
import { amount, short } from '../controls/format.ts';
import { meanIn, sumIn } from './numbers.ts';

export type Line = {
  readonly name: string;
  /** Undefined: nothing to show in this interval. */
  readonly read: (interval: ChartInterval) => number | undefined;
};

export type Plotted = {
  readonly name: string;
  readonly lines: readonly Line[];
  /** Single events: dots without a connecting line. */
  readonly isSparse?: boolean;
  /** A state: it has a value also when nothing happens. */
  readonly isState?: boolean;
  readonly format: (value: number) => string;
  /** Shown if the range has no value. */
  readonly none: string;
};

export const seconds = (value: number): string =>
  value < 1
    ? `${Number((value * 1000).toPrecision(3))} ms`
    : value < 120
      ? `${Number(value.toPrecision(3))} s`
      : `${Math.round(value / 60)} min`;
export const whole = (value: number): string => (value < 10 ? String(Math.round(value * 10) / 10) : short(Math.round(value)));
export const money = (value: number): string => value.toFixed(value < 1 ? 3 : 2);

const rate =
  (key: string, ...labels: readonly string[]) =>
  (interval: ChartInterval): number =>
    (1000 * sumIn(interval, key, ([label = '']) => labels.includes(label))) / interval.ms;

/** The same for each agent. */
const each = (agents: readonly string[], read: (interval: ChartInterval, agent: string) => number | undefined): readonly Line[] =>
  agents.map((agent) => ({ name: agent, read: (interval) => read(interval, agent) }));
const mean = (key: string) => (interval: ChartInterval, agent: string) => meanIn(interval, key, ([label]) => label === agent);
const sum = (key: string) => (interval: ChartInterval, agent: string) => sumIn(interval, key, ([label]) => label === agent);

export const plotsOf = (agents: readonly string[], currency: string): readonly Plotted[] => [
  { name: 'Turns', lines: each(agents, sum('turns')), format: whole, none: 'No turn ended.' },
  { name: 'Turn duration, mean', lines: each(agents, mean('turnSeconds')), isSparse: true, format: seconds, none: 'No turn ended.' },
  {
    name: 'Prompt to first update, mean',
    lines: each(agents, mean('firstUpdateSeconds')),
    isSparse: true,
    format: seconds,
    none: 'No turn had an update.',
  },
  {
    name: 'Permission wait, mean',
    lines: each(agents, mean('permissionSeconds')),
    isSparse: true,
    format: seconds,
    none: 'No permission request was answered.',
  },
  {
    name: 'Tokens',
    lines: each(agents, (interval, agent) =>
      sumIn(interval, 'tokens', ([of, kind]) => of === agent && (kind === 'input' || kind === 'output')),
    ),
    format: whole,
    none: 'No agent reported tokens.',
  },
  { name: `Cost${currency && ` in ${currency}`}`, lines: each(agents, sum('cost')), format: money, none: 'No agent reported a cost.' },
  {
    name: 'Running turns',
    lines: each(agents, (interval, agent) => sumIn(interval, 'sessions', ([of, state]) => of === agent && state === 'running')),
    isState: true,
    format: whole,
    none: 'No agent is configured.',
  },
  {
    name: 'Policy decisions',
    lines: ['allow', 'ask', 'deny'].map((verdict) => ({
      name: verdict,
      read: (interval) => sumIn(interval, 'decisions', ([, found]) => found === verdict),
    })),
    format: whole,
    none: 'Nothing was decided.',
  },
  {
    name: 'Failures',
    lines: [
      { name: 'requests', read: (interval) => sumIn(interval, 'requests', ([, outcome]) => outcome === 'error') },
      { name: 'agents', read: (interval) => sumIn(interval, 'agentFailures') },
      { name: 'lines that are no frame', read: (interval) => sumIn(interval, 'refusedLines') },
    ],
    format: whole,
    none: 'Nothing failed.',
  },
  {
    name: 'Frames per second',
    lines: [
      { name: 'from agents', read: rate('frames', 'from_agent') },
      { name: 'from clients', read: rate('frames', 'from_client') },
    ],
    format: whole,
    none: 'No frame passed.',
  },
  {
    name: 'Bytes per second',
    lines: [
      { name: 'from agents', read: rate('frameBytes', 'from_agent') },
      { name: 'from clients', read: rate('frameBytes', 'from_client') },
    ],
    format: amount,
    none: 'No frame passed.',
  },
  {
    name: 'Memory of switchboard',
    lines: [{ name: 'resident', read: (interval) => sumIn(interval, 'memory', ([kind]) => kind === 'rss') }],
    isState: true,
    format: amount,
    none: 'Not measured yet.',
  },
];
