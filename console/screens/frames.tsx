// Live frames. Only visible rows are rendered.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FrameRow, FrameTopics } from '../../src/console/protocol/frames.ts';
import { Icon } from '../components/controls/icon.tsx';
import { Problem } from '../components/controls/problem.tsx';
import { save } from '../components/controls/save.ts';
import { SearchField } from '../components/controls/search-field.tsx';
import { FrameDetail } from '../components/records/frame-detail.tsx';
import { ask, subscribe } from '../socket.ts';

const ROW = 24;
const MAX_ROWS = 60_000;
const BEYOND = 10;

let rows: FrameRow[] = [];
/** Frames that arrived while the list was paused. */
let held: FrameRow[] = [];
const count = signal(0);
const isPaused = signal(false);
const heldCount = signal(0);
const filter = signal('');
const dropped = signal(0);

function receive(message: FrameTopics['frames']['news']): void {
  if (message.isFirst) {
    rows = [];
    held = [];
  }
  dropped.value = message.dropped;
  if (isPaused.value && !message.isFirst) held.push(...message.rows);
  else rows.push(...message.rows);
  if (rows.length > MAX_ROWS) rows = rows.slice(-MAX_ROWS);
  if (held.length > MAX_ROWS) held = held.slice(-MAX_ROWS);
  heldCount.value = held.length;
  count.value++;
}

function resume(): void {
  rows = [...rows, ...held].slice(-MAX_ROWS);
  held = [];
  heldCount.value = 0;
  isPaused.value = false;
  count.value++;
}

export function Frames(): VNode {
  const [problem, setProblem] = useState('');
  const [chosen, choose] = useState<FrameRow>();
  const [isHelpShown, showHelp] = useState(false);
  useEffect(() => {
    let stop = () => {};
    const timer = setTimeout(() => {
      stop = subscribe('frames', { filter: filter.value }, receive, (error) => setProblem(error?.message ?? ''));
    }, 150);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [filter.value]);
  return (
    <div class="screen frames">
      <header class="bar">
        <h1>Frames</h1>
        <SearchField
          label="Filter frames"
          placeholder="agent:claude method:session/* dir:in err:true ms>500"
          text={filter.value}
          set={(wanted) => {
            filter.value = wanted;
          }}
          isWrong={problem !== ''}
        />
        <button type="button" class="quiet" aria-expanded={isHelpShown} onClick={() => showHelp(!isHelpShown)}>
          ?<span class="hidden"> Filter syntax</span>
        </button>
        <button
          type="button"
          aria-pressed={isPaused.value}
          onClick={() => {
            if (isPaused.value) resume();
            else isPaused.value = true;
          }}
        >
          <Icon name={isPaused.value ? 'play' : 'pause'} /> {isPaused.value ? `Resume (${heldCount.value} new)` : 'Pause'}
        </button>
        <button
          type="button"
          title="Save the matching frames as JSON Lines"
          onClick={() => void exportAll().catch((error: Error) => setProblem(error.message))}
        >
          Export
        </button>
        <span class="dim" data-count>
          {void count.value}
          {rows.length.toLocaleString()} frames{dropped.value > 0 ? `, ${dropped.value} dropped` : ''}
        </span>
      </header>
      <Problem text={problem} />
      {(isHelpShown || problem !== '') && <Help />}
      <div class={chosen ? 'split' : 'split whole'}>
        <List chosen={chosen} choose={choose} />
        {chosen && (
          <FrameDetail
            key={chosen.n}
            row={chosen}
            close={() => choose(undefined)}
            show={(n) => choose(rows.find((row) => row.n === n) ?? { n, t: 0 })}
          />
        )}
      </div>
    </div>
  );
}

/** In several requests: an export may be very large. */
async function exportAll(): Promise<void> {
  const pieces: string[] = [];
  let after: number | undefined = -1;
  while (after !== undefined) {
    const { text, next }: { text: string; next?: number | undefined } = await ask('exportFrames', { filter: filter.value, after });
    pieces.push(text);
    after = next;
  }
  save(`frames-${new Date().toISOString().slice(0, 19)}.jsonl`, pieces, 'application/jsonl');
}

const TERMS: readonly (readonly [string, string])[] = [
  ['agent:codex', 'the agent, all its processes; leg:codex#2 is one connection, leg:editor the editor’s'],
  ['method:session/*', 'the method; * matches anything, here and in other terms'],
  ['kind:request', 'request, response, notification, or refused for invalid input'],
  ['dir:in', 'into or out of switchboard; also dir:fromAgent and similar'],
  ['session:abc*', 'the session; id:7 is the id of a request'],
  ['text:"not found"', 'text in the content, case-insensitive'],
  ['err:true', 'failures; error<-32000 compares the code'],
  ['ms>500', 'responses by duration; bytes>1000 by size'],
  ['!method:session/update', 'everything else'],
];

function Help(): VNode {
  return (
    <dl class="terms">
      {TERMS.map(([term, meaning]) => (
        <div key={term}>
          <dt>
            <code>{term}</code>
          </dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  );
}

function List({ chosen, choose }: { readonly chosen: FrameRow | undefined; readonly choose: (row: FrameRow | undefined) => void }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [view, setView] = useState({ top: 0, height: 600 });
  void count.value;
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
    if (element && isAtEnd.current && !isPaused.value) element.scrollTop = element.scrollHeight;
  }, [count.value]);
  const from = Math.max(0, Math.floor(view.top / ROW) - BEYOND);
  const to = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW) + BEYOND);
  const pressed = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return choose(undefined);
    const step = event.key === 'ArrowDown' || event.key === 'j' ? 1 : event.key === 'ArrowUp' || event.key === 'k' ? -1 : 0;
    if (step === 0) return;
    // Without a selection the keys start at the visible rows.
    const inSight = Math.floor((view.top + (step > 0 ? 0 : view.height)) / ROW);
    const at = chosen ? rows.findIndex(({ n }) => n === chosen.n) + step : Math.min(inSight, rows.length - 1);
    const next = rows[at];
    if (!next) return;
    event.preventDefault();
    choose(next);
    const element = event.currentTarget as HTMLElement;
    if (at * ROW < element.scrollTop) element.scrollTop = at * ROW;
    else if ((at + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (at + 1) * ROW - element.clientHeight;
  };
  return (
    <div
      class="virtual"
      ref={box}
      role="grid"
      aria-rowcount={rows.length}
      aria-label="Frames"
      aria-activedescendant={chosen && `frame-${chosen.n}`}
      tabIndex={0}
      onKeyDown={pressed}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < ROW;
        setView({ top: scrollTop, height: clientHeight });
      }}
    >
      <div style={{ height: `${rows.length * ROW}px`, position: 'relative' }}>
        {rows.slice(from, to).map((row, index) => (
          <div
            key={row.n}
            id={`frame-${row.n}`}
            role="row"
            aria-rowindex={from + index + 1}
            tabIndex={-1}
            aria-selected={chosen?.n === row.n}
            class={isFailed(row) ? 'frame failed' : 'frame'}
            style={{ top: `${(from + index) * ROW}px` }}
            onClick={() => choose(row)}
          >
            <span role="gridcell" tabIndex={-1} class="t">
              {time(row.t)}
            </span>
            <span role="gridcell" tabIndex={-1} class="leg">
              {row.leg}
            </span>
            <span role="gridcell" tabIndex={-1} class="dir" title={row.dir}>
              {row.dir?.startsWith('from') ? '→' : row.dir ? '←' : ''}
            </span>
            <span role="gridcell" tabIndex={-1} class={`kind ${row.kind ?? 'event'}`}>
              {KINDS[row.kind ?? ''] ?? row.event ?? row.kind}
            </span>
            <span role="gridcell" tabIndex={-1} class="method">
              {row.method ?? row.reason}
              {row.chunks !== undefined && row.chunks > 1 && <span class="chip">×{row.chunks}</span>}
              {row.ours && <span class="chip">ours</span>}
            </span>
            <span role="gridcell" tabIndex={-1} class="id">
              {row.id}
            </span>
            <span role="gridcell" tabIndex={-1} class="session" title={row.session}>
              {row.session}
            </span>
            <span role="gridcell" tabIndex={-1} class="number">
              {row.ms === undefined ? '' : `${row.ms} ms`}
            </span>
            <span role="gridcell" tabIndex={-1} class="number bytes">
              {row.bytes?.toLocaleString()}
            </span>
            <span role="gridcell" tabIndex={-1} class="error">
              {row.error}
            </span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** An agent that was stopped gracefully has not failed. */
const isFailed = ({ error, kind, event, reason }: FrameRow): boolean =>
  error !== undefined || kind === 'refused' || (event === 'down' && reason !== 'stopped');

const KINDS: Readonly<Record<string, string>> = { request: 'req', response: 'res', notification: 'ntf', refused: 'bad' };

const time = (t: number): string => {
  const at = new Date(t);
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
};
