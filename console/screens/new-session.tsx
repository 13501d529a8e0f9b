import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { go, toSession } from '../route.ts';
import { ask, Refused } from '../socket.ts';
import { agents, cwd } from '../state.ts';

type AuthMethod = { readonly id: string; readonly name: string };

export function NewSession(): VNode {
  const names = [...new Map(agents.value.map((agent) => [agent.name, agent])).values()];
  const [agent, setAgent] = useState<string | undefined>(undefined);
  const [directory, setDirectory] = useState(cwd.value);
  const [problem, setProblem] = useState('');
  const [methods, setMethods] = useState<readonly AuthMethod[]>([]);
  const [isBusy, setBusy] = useState(false);

  async function attempt(act: () => Promise<void>): Promise<void> {
    setBusy(true);
    setProblem('');
    try {
      await act();
    } catch (error) {
      setProblem((error as Error).message);
      const wanted = error instanceof Refused ? (error.failure.authMethods ?? []) : [];
      const known = agents.value.flatMap(({ authMethods }) => authMethods);
      setMethods(wanted.map((id) => ({ id, name: known.find((one) => id === one.id || id.endsWith(`/${one.id}`))?.name ?? id })));
    }
    setBusy(false);
  }
  const open = () =>
    attempt(async () => {
      const { sessionId } = await ask('new', { cwd: directory, agent });
      go(toSession(sessionId));
    });
  const logIn = (methodId: string) =>
    attempt(async () => {
      await ask('authenticate', { methodId });
      setMethods([]);
      await open();
    });

  return (
    <div class="screen">
      <header class="bar">
        <h1>New session</h1>
      </header>
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
                <input
                  type="radio"
                  name="agent"
                  checked={agent === undefined ? isDefault : agent === name}
                  onChange={() => setAgent(name)}
                />
                <span class="name">
                  {title} {isDefault && <span class="chip">default</span>}
                </span>
                <span class="dim">
                  {state === 'unavailable' ? (lastError ?? 'not available') : [name, version].filter(Boolean).join(' ')}
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <label class="field">
          <span>Directory</span>
          <input value={directory} spellcheck={false} onInput={({ currentTarget }) => setDirectory(currentTarget.value)} />
          <small>The agent works here; files and terminals it gets from the console stay inside.</small>
        </label>
        {problem !== '' && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {methods.length > 0 && (
          <fieldset>
            <legend>The agent wants you to log in</legend>
            <div class="buttons">
              {methods.map(({ id, name }) => (
                <button type="button" key={id} onClick={() => void logIn(id)}>
                  {name}
                </button>
              ))}
            </div>
          </fieldset>
        )}
        <div class="buttons">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? 'Starting…' : 'Begin'}
          </button>
        </div>
      </form>
    </div>
  );
}
