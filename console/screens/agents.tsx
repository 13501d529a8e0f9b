import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AgentLoad, AgentTopics, HostTools, NetworkClient } from '../../src/console/protocol/agents.ts';
import type { AgentRow } from '../../src/console/protocol/state.ts';
import { filesOf, STATE_LABELS, STEPS, TRANSPORTS } from '../components/agents/labels.ts';
import { Confirm } from '../components/controls/dialog.tsx';
import { Fact } from '../components/controls/fact.tsx';
import { amount, lasting, shownId } from '../components/controls/format.ts';
import { Icon } from '../components/controls/icon.tsx';
import { Problem } from '../components/controls/problem.tsx';
import { ScrollingTable } from '../components/controls/scrolling-table.tsx';
import { toSession } from '../route.ts';
import { ask, subscribe } from '../socket.ts';
import { agents, sessions } from '../state.ts';

const NOT_RUNNING = ['idle', 'unavailable', 'stopped'];

export function Agents(): VNode {
  const rows = agents.value;
  const [{ loads, hostTools, clients }, use] = useState<AgentTopics['agentUse']['news']>({ loads: [], hostTools: [], clients: [] });
  useEffect(() => subscribe('agentUse', {}, use), []);
  const capabilities = [...new Set(rows.flatMap((row) => row.capabilities))].sort();
  return (
    <div class="screen">
      <header class="bar">
        <h1>Agents</h1>
      </header>
      <div class="body">
        <div class="agents">
          {rows.map((row) => (
            <Card key={row.id} row={row} load={loads.find(({ id }) => id === row.id)} />
          ))}
        </div>
        {hostTools.length > 0 && <Tools hostTools={hostTools} />}
        {clients.length > 0 && <Clients clients={clients} />}
        {capabilities.length > 0 && (
          <section>
            <h2>Capabilities</h2>
            <ScrollingTable label="Capabilities">
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
            </ScrollingTable>
          </section>
        )}
      </div>
    </div>
  );
}

/** An operation that needs confirmation. */
type Operation = { readonly title: string; readonly text: string; readonly action: () => Promise<unknown> };

type Kind = 'restart' | 'stop' | 'drain';

function operationsOf({ name, title, inFlight }: AgentRow): Readonly<Record<Kind, Operation>> {
  const under = inFlight === 0 ? '' : ` ${inFlight === 1 ? '1 request is' : `${inFlight} requests are`} in flight.`;
  const until = 'New sessions and prompts are refused until you start it again';
  return {
    restart: {
      title: `Restart ${title}`,
      text: `Stops its process gracefully and starts a new one. Its sessions resume with their next prompt.${under}`,
      action: () => ask('restart', { agent: name }),
    },
    stop: {
      title: `Stop ${title}`,
      text: `Cancels its turns and stops its process. ${until}.${under}`,
      action: () => ask('stopAgent', { agent: name, how: 'now' }),
    },
    drain: {
      title: `Drain ${title}`,
      text: `Lets its turns finish, then stops its process. ${until}.${under}`,
      action: () => ask('stopAgent', { agent: name, how: 'drain' }),
    },
  };
}

function Card({ row, load }: { readonly row: AgentRow; readonly load: AgentLoad | undefined }): VNode {
  const [problem, setProblem] = useState('');
  const [kind, askAbout] = useState<Kind>();
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const { id, title, isDefault, remote, sandbox, state, pid, since, restarts, sessions: open, inFlight, version, lastError, stderr } = row;
  const all = operationsOf(row);
  const pending = kind && all[kind];
  const perform = ({ action }: Operation) => {
    setProblem('');
    askAbout(undefined);
    action().catch((error: Error) => setProblem(error.message));
  };
  const isRunning = !NOT_RUNNING.includes(state);
  return (
    <article class="agent-card" data-agent={id}>
      <header>
        <span class={`dot ${state}`} />
        <h2>{title}</h2>
        {isDefault && <span class="chip">default</span>}
        {remote && <span class="chip">remote</span>}
        <span class={`state ${state}`}>{STATE_LABELS[state] ?? state}</span>
      </header>
      <div class="buttons">
        <button type="button" onClick={() => (isRunning ? askAbout('restart') : perform(all.restart))}>
          <Icon name="restart" /> {isRunning ? 'Restart' : 'Start'}
        </button>
        {state !== 'stopped' && (
          <button type="button" onClick={() => askAbout('stop')}>
            <Icon name="stop" /> Stop
          </button>
        )}
        {isRunning && state !== 'draining' && (
          <button type="button" onClick={() => askAbout('drain')}>
            Drain
          </button>
        )}
      </div>
      {pending && (
        <Confirm title={pending.title} confirmLabel={pending.title} action={() => perform(pending)} close={() => askAbout(undefined)}>
          <p>{pending.text}</p>
        </Confirm>
      )}
      <dl>
        <Fact name="Name">{[id, version].filter(Boolean).join(' · ')}</Fact>
        {remote ? (
          <>
            <Fact name="Transport">{TRANSPORTS[remote.transport]}</Fact>
            <Fact name="Files">{filesOf(remote)}</Fact>
          </>
        ) : (
          <>
            <Fact name="Sandbox">{sandbox ?? '–'}</Fact>
            <Fact name="Process">{pid === undefined ? '–' : String(pid)}</Fact>
          </>
        )}
        <Fact name="Up">{since === undefined ? '–' : lasting(Date.now() - since)}</Fact>
        <Fact name="Crashes">{String(restarts)}</Fact>
        <Fact name="Sessions">{String(open)}</Fact>
        <Fact name="Open requests">{String(inFlight)}</Fact>
        {!remote && (
          <>
            <Fact name="Memory">{load === undefined ? '–' : amount(load.memoryBytes)}</Fact>
            <Fact name="Processor">{load?.cpuPercent === undefined ? '–' : `${load.cpuPercent} %`}</Fact>
            <Fact name="Processes">{load === undefined ? '–' : String(load.processes)}</Fact>
          </>
        )}
      </dl>
      {remote && (
        <dl class="place">
          <Fact name="Address">{remote.address}</Fact>
          {remote.command !== undefined && <Fact name="Command there">{remote.command}</Fact>}
        </dl>
      )}
      {lastError !== undefined && <p class={state === 'ready' ? 'note' : 'problem'}>{lastError}</p>}
      <Problem text={problem} />
      {stderr.length > 0 && (
        <details class="raw">
          <summary>stderr ({stderr.length} lines)</summary>
          <pre>{stderr.join('\n')}</pre>
        </details>
      )}
    </article>
  );
}

function Tools({ hostTools }: { readonly hostTools: readonly HostTools[] }): VNode {
  return (
    <section aria-label="Host tools">
      <h2>Host tools by session</h2>
      <ScrollingTable label="Host tools by session">
        <table class="list matrix">
          <thead>
            <tr>
              <th>Session</th>
              <th>Agent</th>
              <th>By</th>
              <th>State</th>
              <th>Tools</th>
            </tr>
          </thead>
          <tbody>
            {hostTools.map(({ sessionId, agent, transport, state, tools }) => (
              <tr key={sessionId}>
                <td>
                  <a href={toSession(sessionId)}>{sessions.value.get(sessionId)?.title || shownId(sessionId).slice(0, 18)}</a>
                </td>
                <td>{agent}</td>
                <td>{transport}</td>
                <td class={state === 'offered' ? 'dim' : 'ok'}>{STEPS[state] ?? state}</td>
                <td>
                  <details>
                    <summary>{tools.length}</summary>
                    <p>{tools.join(', ')}</p>
                  </details>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollingTable>
    </section>
  );
}

function Clients({ clients }: { readonly clients: readonly NetworkClient[] }): VNode {
  const [problem, setProblem] = useState('');
  const [chosen, askAbout] = useState<NetworkClient>();
  return (
    <section aria-label="Network clients">
      <h2>Network clients</h2>
      <ScrollingTable label="Network clients">
        <table class="list matrix">
          <thead>
            <tr>
              <th>Token</th>
              <th>Role</th>
              <th>Program</th>
              <th>Since</th>
              <th>Sessions</th>
              <th>
                <span class="hidden">Disconnect</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {clients.map((client) => (
              <tr key={client.number}>
                <td>{client.principal}</td>
                <td>{client.role}</td>
                <td>{client.program ?? '–'}</td>
                <td>{new Date(client.since).toLocaleString()}</td>
                <td>
                  {client.sessions.map((sessionId) => (
                    <div key={sessionId}>
                      <a href={toSession(sessionId)}>{sessions.value.get(sessionId)?.title || shownId(sessionId).slice(0, 18)}</a>
                    </div>
                  ))}
                </td>
                <td>
                  <button type="button" aria-label={`Disconnect ${client.principal}`} onClick={() => askAbout(client)}>
                    Disconnect
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollingTable>
      <Problem text={problem} />
      {chosen && (
        <Confirm
          title={`Disconnect ${chosen.principal}`}
          confirmLabel="Disconnect"
          look="danger"
          action={() => {
            setProblem('');
            askAbout(undefined);
            ask('disconnectClient', { client: chosen.number }).catch((error: Error) => setProblem(error.message));
          }}
          close={() => askAbout(undefined)}
        >
          <p>Its sessions wait for it. It may connect again; to prevent that, revoke its token.</p>
        </Confirm>
      )}
    </section>
  );
}
