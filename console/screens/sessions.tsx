import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Hit } from '../../src/console/protocol/sessions.ts';
import type { SessionRow } from '../../src/console/protocol/state.ts';
import { ago, place, short, shownId } from '../components/controls/format.ts';
import { Icon } from '../components/controls/icon.tsx';
import { SearchField } from '../components/controls/search-field.tsx';
import { go, toSession } from '../route.ts';
import { ask } from '../socket.ts';
import { newestFirst } from '../state.ts';

const MOST_HITS = 10;
/** Rows that are drawn at once: a page with all of a thousand sessions would stutter. */
const AT_ONCE = 60;
const filter = signal('');
const count = signal(AT_ONCE);
/** Search results in transcripts, with their query. */
const found = signal<{ readonly query: string; readonly hits: readonly Hit[] } | undefined>(undefined);

function search(): void {
  const query = filter.value;
  ask('search', { query }).then(
    ({ found: hits }) => {
      found.value = { query, hits };
    },
    () => {},
  );
}
export const STATES: Readonly<Record<SessionRow['state'], string>> = {
  idle: 'open',
  running: 'at work',
  asking: 'asks you',
  stored: '',
};

export function Sessions(): VNode {
  const query = filter.value.toLowerCase().split(/\s+/);
  const rows = newestFirst.value.filter((row) => {
    const text = `${row.title} ${row.agent} ${row.cwd} ${row.sessionId} ${STATES[row.state]}`.toLowerCase();
    return query.every((word) => text.includes(word));
  });
  const shown = rows.slice(0, count.value);
  return (
    <div class="screen">
      <header class="bar">
        <h1>Sessions</h1>
        <SearchField
          label="Filter sessions"
          placeholder="Filter; Enter searches transcripts"
          text={filter.value}
          set={(wanted) => {
            filter.value = wanted;
            count.value = AT_ONCE;
            if (wanted === '') found.value = undefined;
          }}
          search={search}
        />
        <a class="button primary" href="#/new">
          <Icon name="plus" /> New session
        </a>
      </header>
      <div class="body">
        {found.value && <Found {...found.value} />}
        {rows.length === 0 && !found.value && <Nothing isFiltered={filter.value !== ''} />}
        {shown.length > 0 && (
          <table class="list sessions">
            <thead>
              <tr>
                <th>Title</th>
                <th class="agent">Agent</th>
                <th class="directory wide-only">Directory</th>
                <th class="state">State</th>
                <th class="number turns wide-only">Turns</th>
                <th class="number used wide-only">Context</th>
                <th class="number cost wide-only">Cost</th>
                <th class="number last">Last</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((row) => (
                <Row key={row.sessionId} row={row} />
              ))}
            </tbody>
          </table>
        )}
        {rows.length > shown.length && (
          <button type="button" onClick={() => (count.value = shown.length + AT_ONCE)}>
            Show {Math.min(AT_ONCE, rows.length - shown.length)} more of {rows.length}
          </button>
        )}
      </div>
    </div>
  );
}

function Found({ query, hits }: { readonly query: string; readonly hits: readonly Hit[] }): VNode {
  return (
    <section class="found" aria-label="Found in transcripts">
      <h2>
        “{query}” found in {hits.length === 1 ? 'one session' : `${hits.length} sessions`}
      </h2>
      <ul>
        {hits.slice(0, MOST_HITS).map(({ row: { sessionId, title }, lines }) => (
          <li key={sessionId}>
            <a href={toSession(sessionId)}>{title || shownId(sessionId)}</a> <span class="dim">{lines[0]}</span>
          </li>
        ))}
      </ul>
      {hits.length > MOST_HITS && <a href="#/transcripts">Show all</a>}
    </section>
  );
}

function Row({ row }: { readonly row: SessionRow }): VNode {
  const { sessionId, title, agent, cwd, state, turns, used, size, cost, at, stopReason } = row;
  return (
    <tr onClick={() => go(toSession(sessionId))}>
      <td class="title">
        <a href={toSession(sessionId)}>{title || <span class="dim">{shownId(sessionId).slice(0, 18)}</span>}</a>
      </td>
      <td class="dim">{agent}</td>
      <td class="wide-only dim" title={cwd}>
        {place(cwd)}
      </td>
      <td>
        <span class={`state ${state}`}>{STATES[state] || (stopReason === 'end_turn' ? '' : stopReason)}</span>
      </td>
      <td class="number wide-only">{turns || ''}</td>
      <td class="number wide-only" title={used === undefined ? '' : `${used} of ${size}`}>
        {used === undefined ? '' : `${short(used)} / ${short(size ?? 0)}`}
      </td>
      <td class="number wide-only">{cost}</td>
      <td class="number dim">{ago(at)}</td>
    </tr>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }): VNode {
  return (
    <div class="empty">
      <p>{isFiltered ? 'No session matches the filter.' : 'No session yet.'}</p>
      {!isFiltered && (
        <a class="button primary" href="#/new">
          <Icon name="plus" /> Start one
        </a>
      )}
    </div>
  );
}
