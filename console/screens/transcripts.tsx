// All transcripts: search, open, save, delete.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Hit } from '../../src/console/protocol/sessions.ts';
import { Confirm } from '../components/controls/dialog.tsx';
import { ago, place, shownId } from '../components/controls/format.ts';
import { Problem } from '../components/controls/problem.tsx';
import { save } from '../components/controls/save.ts';
import { SearchField } from '../components/controls/search-field.tsx';
import { toSession } from '../route.ts';
import { ask } from '../socket.ts';
import { agents } from '../state.ts';

const query = signal('');
const agent = signal('');
const WAIT_MS = 250;

type Found = { readonly query: string; readonly hits: readonly Hit[]; readonly isAll: boolean };

export function Transcripts(): VNode {
  const [found, setFound] = useState<Found>();
  const [problem, setProblem] = useState('');
  const [going, forget] = useState<Hit>();
  const [round, again] = useState(0);
  useEffect(() => {
    let isOver = false;
    const wanted = query.value;
    const timer = setTimeout(() => {
      ask('search', { query: wanted, ...(agent.value !== '' && { agent: agent.value }) }).then(
        ({ found: hits, isAll }) => {
          if (!isOver) setFound({ query: wanted, hits, isAll });
        },
        (error: Error) => setProblem(error.message),
      );
    }, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [query.value, agent.value, round]);
  const remove = ({ row: { sessionId } }: Hit) => {
    forget(undefined);
    setProblem('');
    ask('forget', { sessionId }).then(
      () => again(round + 1),
      (error: Error) => setProblem(error.message),
    );
  };
  return (
    <div class="screen">
      <header class="bar">
        <h1>Transcripts</h1>
        <SearchField
          label="Search transcripts"
          placeholder="Search text"
          text={query.value}
          set={(wanted) => {
            query.value = wanted;
          }}
        />
        <select
          aria-label="Agent"
          value={agent.value}
          onChange={({ currentTarget }) => {
            agent.value = currentTarget.value;
          }}
        >
          <option value="">all agents</option>
          {[...new Set(agents.value.map(({ name }) => name))].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </header>
      <div class="body">
        <Problem text={problem} />
        {found && <p class="quiet-text">{summaryOf(found)}</p>}
        <ul class="transcripts" aria-label="Transcripts">
          {found?.hits.map((hit) => (
            <One key={hit.row.sessionId} hit={hit} query={found.query} forget={() => forget(hit)} fail={setProblem} />
          ))}
        </ul>
      </div>
      {going && (
        <Confirm
          title="Delete the transcript"
          confirmLabel="Delete"
          look="danger"
          action={() => remove(going)}
          close={() => forget(undefined)}
        >
          <p>
            This permanently deletes switchboard’s records of “{titleOf(going)}”. Agent {going.row.agent} keeps its own.
          </p>
        </Confirm>
      )}
    </div>
  );
}

function summaryOf({ query: wanted, hits, isAll }: Found): string {
  const count = `${isAll ? '' : 'the newest '}${hits.length} ${hits.length === 1 ? 'session' : 'sessions'}`;
  return wanted.trim() === '' ? `There ${hits.length === 1 ? 'is' : 'are'} ${count}.` : `“${wanted}” found in ${count}.`;
}

const titleOf = ({ row: { title, sessionId } }: Hit): string => title || shownId(sessionId);

type OneProps = { readonly hit: Hit; readonly query: string; readonly forget: () => void; readonly fail: (why: string) => void };

function One({ hit, query: wanted, forget, fail }: OneProps): VNode {
  const { sessionId, agent: whose, cwd, turns, at, state, cost } = hit.row;
  const exported = (format: 'md' | 'json') => {
    ask('export', { sessionId, format }).then(
      ({ text }) => save(`${sessionId}.${format}`, [text], format === 'md' ? 'text/markdown' : 'application/json'),
      (error: Error) => fail(error.message),
    );
  };
  const facts = [whose, place(cwd), `${turns} ${turns === 1 ? 'turn' : 'turns'}`, cost, ago(at)].filter(
    (fact) => fact !== undefined && fact !== '',
  );
  return (
    <li class="card">
      <div>
        <a href={toSession(sessionId)}>{titleOf(hit)}</a> <span class="dim">{facts.join(' · ')}</span>
        {hit.lines.map((line) => (
          <p key={line} class="line">
            <Marked line={line} query={wanted} />
          </p>
        ))}
      </div>
      <div class="buttons">
        <button type="button" onClick={() => exported('md')}>
          Markdown
        </button>
        <button type="button" onClick={() => exported('json')}>
          JSON
        </button>
        <button
          type="button"
          class="danger"
          disabled={state !== 'stored'}
          title={state === 'stored' ? '' : 'Close the session first'}
          onClick={forget}
        >
          Delete
        </button>
      </div>
    </li>
  );
}

/** Highlights the matches. */
function Marked({ line, query: wanted }: { readonly line: string; readonly query: string }): VNode {
  const needles = wanted.split(/\s+/).filter((word) => word !== '');
  const pattern = new RegExp(`(${needles.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'i');
  // Every other fragment is a match.
  return <>{line.split(pattern).map((part, index) => (index % 2 === 1 ? <mark key={`${index}`}>{part}</mark> : part))}</>;
}
