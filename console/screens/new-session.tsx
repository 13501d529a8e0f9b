import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Failure } from '../../src/console/protocol/messages.ts';
import { Logins } from '../components/agents/logins.tsx';
import { keepServers, problemWithServers, Servers, savedServers, serversToSend } from '../components/agents/servers.tsx';
import { Problem } from '../components/controls/problem.tsx';
import { RequestCard } from '../components/requests/request.tsx';
import { go, toSession } from '../route.ts';
import { ask, Refused } from '../socket.ts';
import { agents, cwd, requests } from '../state.ts';

export function NewSession(): VNode {
  const names = [...new Map(agents.value.map((agent) => [agent.name, agent])).values()];
  const [agent, setAgent] = useState<string | undefined>(undefined);
  const [directory, setDirectory] = useState(cwd.value);
  const [more, setMore] = useState('');
  const [problem, setProblem] = useState('');
  const [failure, setFailure] = useState<Failure>();
  const [servers, setServers] = useState(savedServers);
  const [isBusy, setBusy] = useState(false);

  const chosen = names.find(({ name, isDefault }) => (agent === undefined ? isDefault : agent === name));
  const takesMore = chosen?.capabilities.includes('sessionCapabilities.additionalDirectories') === true;

  async function attempt(action: () => Promise<void>): Promise<void> {
    setBusy(true);
    setProblem('');
    setFailure(undefined);
    try {
      await action();
    } catch (error) {
      setProblem((error as Error).message);
      setFailure(error instanceof Refused ? error.failure : undefined);
    }
    setBusy(false);
  }
  const open = () =>
    attempt(async () => {
      const wrong = problemWithServers(servers);
      if (wrong !== undefined) throw new Error(wrong);
      keepServers(servers);
      const additionalDirectories = takesMore ? linesOf(more) : [];
      const { sessionId } = await ask('new', { cwd: directory, additionalDirectories, agent, mcpServers: serversToSend(servers) });
      go(toSession(sessionId));
    });

  return (
    <div class="screen">
      <header class="bar">
        <h1>New session</h1>
      </header>
      {/* Requests an agent sends before a session exists. */}
      {requests.value
        .filter(({ sessionId }) => sessionId === '')
        .map((request) => (
          <RequestCard key={request.requestId} request={request} isCurrent isInSession />
        ))}
      <form
        class="body form"
        onSubmit={(event) => {
          event.preventDefault();
          void open();
        }}
      >
        <fieldset>
          <legend>Agent</legend>
          <div class="cards">
            {names.map(({ name, title, isDefault, state, version, lastError }) => (
              <label class="card" key={name}>
                <input type="radio" name="agent" checked={name === chosen?.name} onChange={() => setAgent(name)} />
                <span class="name">
                  {title} {isDefault && <span class="chip">default</span>}
                </span>
                <span class="dim">{isAway(state) && lastError !== undefined ? lastError : [name, version].filter(Boolean).join(' ')}</span>
              </label>
            ))}
          </div>
        </fieldset>
        <label class="field">
          <span>Directory</span>
          <input value={directory} spellcheck={false} onInput={({ currentTarget }) => setDirectory(currentTarget.value)} />
          <small>The agent works here. Its files and terminals stay inside.</small>
        </label>
        {takesMore && (
          <label class="field">
            <span>Additional directories</span>
            <textarea rows={2} value={more} spellcheck={false} onInput={({ currentTarget }) => setMore(currentTarget.value)} />
            <small>One per line. The agent may work there too.</small>
          </label>
        )}
        <Servers entries={servers} set={setServers} />
        <Problem text={problem} />
        {failure?.hint !== undefined && <p>{failure.hint}</p>}
        {failure?.logins && <Logins methods={failure.logins} then={() => void open()} />}
        <div class="buttons">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Starting…' : 'Begin'}
          </button>
        </div>
      </form>
    </div>
  );
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Shows why an agent does not run before the user chooses it. */
const isAway = (state: string): boolean => ['idle', 'unavailable', 'stopped'].includes(state);
