// Explains why a request would be allowed, asked or denied.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Explained } from '../../../src/console/protocol/policy.ts';
import { ask } from '../../socket.ts';
import { agents, cwd } from '../../state.ts';
import { Problem } from '../controls/problem.tsx';

const KINDS = ['execute', 'read', 'edit', 'delete', 'move', 'search', 'tool', 'mode', 'delegate'];
const HINTS: Readonly<Record<string, string>> = { execute: 'npm test', tool: 'server:tool', mode: 'plan', delegate: 'another agent' };

export function Explain(): VNode {
  const names = [...new Set(agents.value.map(({ name }) => name))];
  const [agent, setAgent] = useState(names[0] ?? '');
  const [directory, setDirectory] = useState(cwd.value);
  const [kind, setKind] = useState('execute');
  const [what, setWhat] = useState('');
  const [explained, setExplained] = useState<Explained>();
  const [problem, setProblem] = useState('');

  function explain(): void {
    const about =
      kind === 'execute'
        ? { command: what }
        : kind === 'tool'
          ? { tool: what }
          : kind === 'mode' || kind === 'delegate'
            ? { tool: what, action: kind }
            : { path: what, action: kind };
    ask('policy.explain', { agent, cwd: directory, ...about }).then(
      (found) => {
        setExplained(found);
        setProblem('');
      },
      (error: Error) => {
        setExplained(undefined);
        setProblem(error.message);
      },
    );
  }
  return (
    <section aria-labelledby="explain">
      <h2 id="explain">What if?</h2>
      <form
        class="explain"
        onSubmit={(event) => {
          event.preventDefault();
          explain();
        }}
      >
        <select aria-label="Agent" value={agent} onChange={({ currentTarget }) => setAgent(currentTarget.value)}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select aria-label="Action" value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value)}>
          {KINDS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <input
          class="what"
          aria-label="What"
          spellcheck={false}
          required
          placeholder={HINTS[kind] ?? 'src/index.ts'}
          value={what}
          onInput={({ currentTarget }) => setWhat(currentTarget.value)}
        />
        <input
          class="where"
          aria-label="Directory"
          spellcheck={false}
          value={directory}
          onInput={({ currentTarget }) => setDirectory(currentTarget.value)}
        />
        <button type="submit">Explain</button>
      </form>
      <Problem text={problem} />
      {explained && <Answer explained={explained} />}
    </section>
  );
}

function Answer({ explained: { verdict, why, summary, matches, opaque } }: { readonly explained: Explained }): VNode {
  return (
    <div class="answer" role="status">
      <p>
        <span class={`verdict ${verdict}`}>{verdict}</span> {why}
      </p>
      <p class="dim">
        Understood as <code>{summary}</code>
        {opaque.length > 0 && `, and not understood: ${opaque.join(', ')}`}
      </p>
      {matches.length > 0 && (
        <ol aria-label="Matching rules">
          {matches.map((rule) => (
            <li key={`${rule.file}:${rule.id}`}>
              <span class={`verdict ${rule.verdict}`}>{rule.verdict}</span> {rule.id}{' '}
              <span class="dim">
                {rule.file}:{rule.line} · {rule.layer}
                {rule.reason !== undefined && ` · ${rule.reason}`}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
