import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AgentRow } from '../../src/console/wire/board.ts';
import { Icon } from '../parts/icon.tsx';
import { lasting } from '../parts/words.ts';
import { ask } from '../socket.ts';
import { agents } from '../state.ts';

const WORDS: Readonly<Record<string, string>> = {
  idle: 'not started',
  starting: 'starting',
  ready: 'running',
  unhealthy: 'does not answer',
  unavailable: 'not available',
};

export function Agents(): VNode {
  const rows = agents.value;
  const capabilities = [...new Set(rows.flatMap((row) => row.capabilities))].sort();
  return (
    <div class="screen">
      <header class="bar">
        <h1>Agents</h1>
      </header>
      <div class="body">
        <div class="agents">
          {rows.map((row) => (
            <Card key={row.id} row={row} />
          ))}
        </div>
        {capabilities.length > 0 && (
          <section>
            <h2>What they can do</h2>
            <div class="table">
              <table class="list matrix">
                <thead>
                  <tr>
                    <th>Capability</th>
                    {rows.map(({ id, title }) => (
                      <th key={id}>{title}</th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {capabilities.map((capability) => (
                    <tr key={capability}>
                      <td>
                        <code>{capability}</code>
                      </td>
                      {rows.map((row) => (
                        <td key={row.id}>
                          {row.capabilities.includes(capability) ? (
                            <span class="yes">
                              ✓<span class="hidden"> yes</span>
                            </span>
                          ) : (
                            <span class="dim">–</span>
                          )}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </section>
        )}
      </div>
    </div>
  );
}

function Card({ row }: { readonly row: AgentRow }): VNode {
  const [problem, setProblem] = useState('');
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const { id, name, title, isDefault, state, pid, since, restarts, sessions, inFlight, version, lastError, stderr } = row;
  return (
    <article class="agent-card" data-agent={id}>
      <header>
        <span class={`dot ${state}`} />
        <h2>{title}</h2>
        {isDefault && <span class="chip">default</span>}
        <span class={`state ${state}`}>{WORDS[state] ?? state}</span>
        <button
          type="button"
          title="End its process in good order and start another; its sessions are brought back"
          onClick={() => {
            setProblem('');
            ask('restart', { agent: name }).catch((error: Error) => setProblem(error.message));
          }}
        >
          <Icon name="restart" /> {state === 'idle' || state === 'unavailable' ? 'Start' : 'Restart'}
        </button>
      </header>
      <dl>
        <Fact name="Name">{[id, version].filter(Boolean).join(' · ')}</Fact>
        <Fact name="Process">{pid === undefined ? '–' : String(pid)}</Fact>
        <Fact name="Up">{since === undefined ? '–' : lasting(Date.now() - since)}</Fact>
        <Fact name="Crashes">{String(restarts)}</Fact>
        <Fact name="Sessions">{String(sessions)}</Fact>
        <Fact name="Open requests">{String(inFlight)}</Fact>
      </dl>
      {lastError !== undefined && <p class={state === 'ready' ? 'note' : 'problem'}>{lastError}</p>}
      {problem !== '' && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {stderr.length > 0 && (
        <details class="raw">
          <summary>What it said on stderr ({stderr.length} lines)</summary>
          <pre>{stderr.join('\n')}</pre>
        </details>
      )}
    </article>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: string }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
