// Live frames, as exchanges.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { FrameRow, FrameTopics } from '../../src/console/protocol/frames.ts';
import { Icon } from '../components/controls/icon.tsx';
import { Problem } from '../components/controls/problem.tsx';
import { SearchField } from '../components/controls/search-field.tsx';
import { createExchanges } from '../components/records/exchanges.ts';
import { FrameDetail } from '../components/records/frame-detail.tsx';
import { FrameExport } from '../components/records/frame-export.tsx';
import { FrameList } from '../components/records/frame-list.tsx';
import { subscribe } from '../socket.ts';

const MAX_ROWS = 60_000;

/** Every frame by itself, or exchanges. */
const isSingle = signal(false);
const exchanges = createExchanges(MAX_ROWS, () => !isSingle.value);
/** Frames that arrived while the list was paused. */
let held: FrameRow[] = [];
let frameCount = 0;
const connections = new Set<string>();
const count = signal(0);
const isPaused = signal(false);
const heldCount = signal(0);
const filter = signal('');
/** With frames of other processes. */
const hasOthers = signal(false);
const dropped = signal(0);

function add(rows: readonly FrameRow[]): void {
  exchanges.add(rows);
  frameCount += rows.length;
  for (const { leg, isOther } of rows) if (leg !== undefined && !isOther) connections.add(leg);
}

function receive(message: FrameTopics['frames']['news']): void {
  if (message.isFirst) {
    exchanges.clear();
    held = [];
    frameCount = 0;
  }
  dropped.value = message.dropped;
  if (isPaused.value && !message.isFirst) held.push(...message.rows);
  else add(message.rows);
  if (held.length > MAX_ROWS) held = held.slice(-MAX_ROWS);
  heldCount.value = held.length;
  count.value++;
}

function resume(): void {
  add(held);
  held = [];
  heldCount.value = 0;
  isPaused.value = false;
  count.value++;
}

/** Adds a term to the filter, or removes it. */
function toggle(term: string): void {
  const terms = termsOf(filter.value);
  filter.value = (terms.includes(term) ? terms.filter((one) => one !== term) : [...terms, term]).join(' ');
}
const termsOf = (text: string): readonly string[] => text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];

const QUICK: readonly (readonly [string, string])[] = [
  ['Requests', 'kind:request'],
  ['Updates', 'method:session/update'],
  ['Errors', 'err:true'],
];

export function Frames(): VNode {
  const [problem, setProblem] = useState('');
  const [chosen, choose] = useState<FrameRow>();
  const [isHelpShown, showHelp] = useState(false);
  const [isExporting, setExporting] = useState(false);
  useEffect(() => {
    let stop = () => {};
    const params = { filter: filter.value, hasOthers: hasOthers.value, hasAnswers: !isSingle.value };
    const timer = setTimeout(() => {
      stop = subscribe('frames', params, receive, (error) => setProblem(error?.message ?? ''));
    }, 150);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [filter.value, hasOthers.value, isSingle.value]);
  const terms = termsOf(filter.value);
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
        <button type="button" onClick={() => setExporting(true)}>
          Export
        </button>
        <span class="dim" data-count>
          {void count.value}
          {frameCount.toLocaleString()} frames{dropped.value > 0 ? `, ${dropped.value} dropped` : ''}
        </span>
      </header>
      <div class="quick">
        {QUICK.map(([label, term]) => (
          <button key={term} type="button" class="quiet" aria-pressed={terms.includes(term)} title={term} onClick={() => toggle(term)}>
            {label}
          </button>
        ))}
        <label>
          <input
            type="checkbox"
            checked={isSingle.value}
            onChange={({ currentTarget }) => {
              isSingle.value = currentTarget.checked;
            }}
          />{' '}
          Each frame by itself
        </label>
        <label>
          <input
            type="checkbox"
            checked={hasOthers.value}
            onChange={({ currentTarget }) => {
              hasOthers.value = currentTarget.checked;
            }}
          />{' '}
          Other processes
        </label>
      </div>
      <Problem text={problem} />
      {(isHelpShown || problem !== '') && <Help />}
      <div class={chosen ? 'split' : 'split whole'}>
        {exchanges.list.length === 0 ? (
          <Nothing isFiltered={filter.value !== ''} />
        ) : (
          <FrameList list={exchanges.list} version={count.value} isPaused={isPaused.value} chosen={chosen} choose={choose} />
        )}
        {chosen && (
          <FrameDetail
            key={chosen.n}
            row={chosen}
            exchange={exchanges.list.find(({ frames }) => frames.some(({ n }) => n === chosen.n))}
            close={() => choose(undefined)}
            show={(n) => choose(exchanges.list.flatMap(({ frames }) => frames).find((row) => row.n === n) ?? { n, t: 0 })}
            only={toggle}
          />
        )}
      </div>
      {isExporting && (
        <FrameExport filter={filter.value} hasOthers={hasOthers.value} connections={[...connections]} close={() => setExporting(false)} />
      )}
    </div>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }): VNode {
  return (
    <div class="empty">
      <p>
        {isFiltered
          ? 'No frame matches the filter.'
          : 'No frames yet. Frames are kept while a page of the console is open; start a session to see some.'}
      </p>
    </div>
  );
}

const TERMS: readonly (readonly [string, string])[] = [
  ['agent:codex', 'the agent, all its processes; connection:codex#2 is one process, connection:client the client’s'],
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
