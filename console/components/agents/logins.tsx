// An agent's login methods: a button for those it handles itself, instructions for the others.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { LoginMethod } from '../../../src/console/protocol/chat.ts';
import { ask } from '../../socket.ts';
import { Problem } from '../controls/problem.tsx';

type Props = {
  readonly methods: readonly LoginMethod[];
  /** Shown after the login; `then` runs as well. */
  readonly done?: string;
  readonly then?: () => void;
};

export function Logins({ methods, done, then }: Props): VNode {
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState<string>();
  const [isDone, setDone] = useState(false);
  function logIn(methodId: string): void {
    setProblem('');
    setBusy(methodId);
    ask('authenticate', { methodId })
      .then(
        () => {
          setDone(true);
          then?.();
        },
        (error: Error) => setProblem(error.message),
      )
      .finally(() => setBusy(undefined));
  }
  if (isDone && done !== undefined) return <p role="status">{done}</p>;
  return (
    <fieldset class="logins">
      <legend>The agent requires a login</legend>
      <ul>
        {methods.map((method) => (
          <li key={method.id}>
            {method.command === undefined && method.variables === undefined ? (
              <button type="button" disabled={busy !== undefined} onClick={() => logIn(method.id)}>
                {method.name}
              </button>
            ) : (
              <b>{method.name}</b>
            )}{' '}
            {method.description !== undefined && <span class="dim">{method.description}</span>}
            {method.command !== undefined && (
              <p>
                In a terminal, run <code>{method.command}</code> and try again.
              </p>
            )}
            {method.variables !== undefined && (
              <p>
                Set <code>{method.variables.join(', ')}</code> in the agent's <code>env</code> in your configuration and restart.
              </p>
            )}
          </li>
        ))}
      </ul>
      {busy !== undefined && (
        <p role="status">The agent is logging in. It may have opened a window, or print instructions on the Agents screen.</p>
      )}
      <Problem text={problem} />
    </fieldset>
  );
}
