// The list of exchanges. Only visible rows are rendered.
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FrameRow } from '../../../src/console/protocol/frames.ts';
import { sessions } from '../../state.ts';
import { amount, shownId } from '../controls/format.ts';
import type { Exchange } from './exchanges.ts';
import { seconds } from './plots.ts';

const ROW = 24;
const BEYOND = 10;

type Props = {
  readonly list: readonly Exchange[];
  /** Changes when the list does. */
  readonly version: number;
  readonly isPaused: boolean;
  readonly chosen: FrameRow | undefined;
  readonly choose: (row: FrameRow | undefined) => void;
};

const COLUMNS: readonly (readonly [string, string])[] = [
  ['t', 'Time'],
  ['way', 'From → to'],
  ['kind', 'Kind'],
  ['method', 'Method'],
  ['what', 'About'],
  ['session', 'Session'],
  ['number took', 'Took'],
  ['number bytes', 'Size'],
  ['error', 'Error'],
];

export function FrameList({ list, version, isPaused, chosen, choose }: Props): VNode {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = box.current;
    if (element && isAtEnd.current && !isPaused) element.scrollTop = element.scrollHeight;
  }, [version]);
  const from = Math.max(0, Math.floor(view.top / ROW) - BEYOND);
  const to = Math.min(list.length, Math.ceil((view.top + view.height) / ROW) + BEYOND);
  const isChosen = ({ frames }: Exchange) => chosen !== undefined && frames.some(({ n }) => n === chosen.n);
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return choose(undefined);
    const step = event.key === 'ArrowDown' || event.key === 'j' ? 1 : event.key === 'ArrowUp' || event.key === 'k' ? -1 : 0;
    if (step === 0) return;
    // Without a selection the keys start at the visible rows.
    const inSight = Math.floor((view.top + (step > 0 ? 0 : view.height)) / ROW);
    const at = chosen ? list.findIndex(isChosen) + step : Math.min(inSight, list.length - 1);
    const next = list[at];
    if (!next) return;
    event.preventDefault();
    choose(next.first);
    const element = event.currentTarget as HTMLElement;
    const head = ROW; // the header stays above the rows
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW + head > element.scrollTop + element.clientHeight)
      element.scrollTop = (at + 1) * ROW + head - element.clientHeight;
  };
  return (
    <div
      class="virtual"
      ref={box}
      role="grid"
      aria-rowcount={list.length}
      aria-label="Frames"
      aria-activedescendant={chosen && `frame-${chosen.n}`}
      tabIndex={0}
      onKeyDown={pressed}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < ROW;
        setView({ top: scrollTop, height: clientHeight });
      }}
    >
      <div class="frame heads" role="row" tabIndex={-1}>
        {COLUMNS.map(([name, label]) => (
          <span key={name} role="columnheader" tabIndex={-1} class={name}>
            {label}
          </span>
        ))}
      </div>
      <div style={{ height: `${list.length * ROW}px`, position: 'relative' }} role="presentation">
        {list.slice(from, to).map((exchange, index) => (
          <Row
            key={exchange.first.n}
            exchange={exchange}
            at={from + index}
            // The list changes its exchanges in place: an answer arrives later.
            answer={exchange.answer}
            isChosen={isChosen(exchange)}
            choose={() => choose(exchange.first)}
          />
        ))}
      </div>
    </div>
  );
}

type RowProps = {
  readonly exchange: Exchange;
  readonly answer: FrameRow | undefined;
  readonly at: number;
  readonly isChosen: boolean;
  readonly choose: () => void;
};

function Row({ exchange, answer, at, isChosen, choose }: RowProps): VNode {
  const { first, from, to } = exchange;
  const { session = answer?.session } = first;
  const error = answer?.error ?? first.error;
  const ms = answer?.ms ?? first.ms;
  const what = answer?.error === undefined ? first.what : (answer.what ?? first.what);
  const isFailed = error !== undefined || first.kind === 'refused' || (first.event === 'down' && first.reason !== 'stopped');
  return (
    <div
      id={`frame-${first.n}`}
      role="row"
      aria-rowindex={at + 1}
      tabIndex={-1}
      aria-selected={isChosen}
      class={`frame${isFailed ? ' failed' : ''}${first.method === 'session/update' ? ' update' : ''}`}
      style={{ top: `${at * ROW}px` }}
      onClick={choose}
    >
      <Cell look="t" title={time(first.t)}>
        {time(first.t)}
      </Cell>
      <Cell look="way" title={first.dir}>
        {first.dir === undefined ? from : `${from} → ${to}`}
      </Cell>
      <Cell look={`kind ${first.kind ?? 'event'}`}>{KINDS[first.kind ?? ''] ?? first.event ?? first.kind}</Cell>
      <Cell look="method">{first.method ?? first.reason}</Cell>
      <Cell look="what" title={what}>
        {first.chunks !== undefined && first.chunks > 1 && <span class="chip">×{first.chunks}</span>}
        {what}
        {first.ours && <span class="chip ours">ours</span>}
      </Cell>
      <Cell look="session" title={session && shownId(session)}>
        {session && (sessions.value.get(session)?.title || shownId(session))}
      </Cell>
      <Cell look="number took">{ms !== undefined ? seconds(ms / 1000) : first.kind === 'request' && !first.isOther ? 'open' : ''}</Cell>
      <Cell look="number bytes" title={first.bytes === undefined ? undefined : `${first.bytes.toLocaleString()} bytes`}>
        {first.bytes === undefined ? '' : amount(first.bytes + (answer?.bytes ?? 0))}
      </Cell>
      <Cell look="error">{error}</Cell>
    </div>
  );
}

type CellProps = { readonly look: string; readonly title?: string | undefined; readonly children?: ComponentChildren };

const Cell = ({ look, title, children }: CellProps): VNode => (
  <span role="gridcell" tabIndex={-1} class={look} title={title}>
    {children}
  </span>
);

const KINDS: Readonly<Record<string, string>> = { request: 'req', response: 'res', notification: 'ntf', refused: 'bad' };

const time = (t: number): string => {
  const at = new Date(t);
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
};
