// Every frame that passes, as it passes. Only the rows in sight are drawn, however many there are.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FrameRow, FrameTopics } from '../../src/console/wire/frames.ts';
import { Icon } from '../parts/icon.tsx';
import { ask, follow } from '../socket.ts';

const ROW = 24;
const MAX_ROWS = 60_000;
const BEYOND = 10;

let rows: FrameRow[] = [];
/** Those that came while the list was held. */
let held: FrameRow[] = [];
const count = signal(0);
const isPaused = signal(false);
const heldCount = signal(0);
const filter = signal('');
const dropped = signal(0);

function hear(message: FrameTopics['frames']['news']): void {
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
  useEffect(() => {
    let stop = () => {};
    const timer = setTimeout(() => {
      stop = follow('frames', { filter: filter.value }, hear, (error) => setProblem(error?.message ?? ''));
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
        <input
          type="search"
          class={problem === '' ? 'filter' : 'filter wrong'}
          spellcheck={false}
          placeholder="agent:claude method:session/* dir:in err:true ms>500"
          aria-label="Filter frames"
          value={filter.value}
          onInput={({ currentTarget }) => {
            filter.value = currentTarget.value;
          }}
        />
        <button
          type="button"
          aria-pressed={isPaused.value}
          onClick={() => {
            if (isPaused.value) resume();
            else isPaused.value = true;
          }}
        >
          <Icon name={isPaused.value ? 'play' : 'pause'} /> {isPaused.value ? `Go on (${heldCount.value} new)` : 'Pause'}
        </button>
        <span class="dim" data-count>
          {void count.value}
          {rows.length.toLocaleString()} frames{dropped.value > 0 ? `, ${dropped.value} not kept` : ''}
        </span>
      </header>
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}. Terms are agent:, leg:, method:, kind:, session:, id:, event:, dir:in, dir:out, err:true, ms&gt;, bytes&gt;, error&gt;.
        </p>
      )}
      <div class={chosen ? 'split' : 'split whole'}>
        <List chosen={chosen} choose={choose} />
        {chosen && <Detail key={chosen.n} row={chosen} close={() => choose(undefined)} />}
      </div>
    </div>
  );
}

function List({ chosen, choose }: { readonly chosen: FrameRow | undefined; readonly choose: (row: FrameRow) => void }): VNode {
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
    const step = event.key === 'ArrowDown' || event.key === 'j' ? 1 : event.key === 'ArrowUp' || event.key === 'k' ? -1 : 0;
    if (step === 0 || !chosen) return;
    const next = rows[rows.findIndex(({ n }) => n === chosen.n) + step];
    if (!next) return;
    event.preventDefault();
    choose(next);
  };
  return (
    <div
      class="virtual"
      ref={box}
      role="grid"
      aria-rowcount={rows.length}
      aria-label="Frames"
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
            role="row"
            tabIndex={-1}
            aria-selected={chosen?.n === row.n}
            class={isFailed(row) ? 'frame failed' : 'frame'}
            style={{ top: `${(from + index) * ROW}px` }}
            onClick={() => choose(row)}
          >
            <span class="t">{time(row.t)}</span>
            <span class="leg">{row.leg}</span>
            <span class="dir" title={row.dir}>
              {row.dir?.startsWith('from') ? '→' : row.dir ? '←' : ''}
            </span>
            <span class={`kind ${row.kind ?? 'event'}`}>{KINDS[row.kind ?? ''] ?? row.event ?? row.kind}</span>
            <span class="method">
              {row.method ?? row.reason}
              {row.chunks !== undefined && row.chunks > 1 && <span class="chip">×{row.chunks}</span>}
              {row.ours && <span class="chip">ours</span>}
            </span>
            <span class="id">{row.id}</span>
            <span class="session" title={row.session}>
              {row.session}
            </span>
            <span class="number">{row.ms === undefined ? '' : `${row.ms} ms`}</span>
            <span class="number bytes">{row.bytes?.toLocaleString()}</span>
            <span class="error">{row.error}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** An agent that was ended in good order has not failed. */
const isFailed = ({ error, kind, event, reason }: FrameRow): boolean =>
  error !== undefined || kind === 'refused' || (event === 'down' && reason !== 'stopped');

const KINDS: Readonly<Record<string, string>> = { request: 'req', response: 'res', notification: 'ntf', refused: 'bad' };

const time = (t: number): string => {
  const at = new Date(t);
  return `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
};

function Detail({ row, close }: { readonly row: FrameRow; readonly close: () => void }): VNode {
  const [body, setBody] = useState<string | null>();
  useEffect(() => {
    ask('frame', { n: row.n }).then(
      ({ body: found }) => setBody(found ?? null),
      () => setBody(null),
    );
  }, [row.n]);
  return (
    <aside class="detail" aria-label="Frame">
      <header>
        <b>{row.method ?? row.event}</b>
        <button
          type="button"
          class="quiet"
          disabled={typeof body !== 'string'}
          onClick={() => typeof body === 'string' && void navigator.clipboard.writeText(body)}
        >
          Copy
        </button>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          <Icon name="cross" />
        </button>
      </header>
      <p class="dim">
        {[
          row.leg,
          row.dir,
          row.kind,
          row.bytes === undefined ? undefined : `${row.bytes} bytes`,
          row.ms === undefined ? undefined : `${row.ms} ms`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {body === null ? (
        <p class="quiet-text">Its content is not kept: it passed while no page was open, or long ago.</p>
      ) : (
        <pre>{body === undefined ? '…' : pretty(body)}</pre>
      )}
    </aside>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
