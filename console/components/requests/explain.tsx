// Explains, as you type, what a request does and why it would be allowed, asked or denied.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CommandEffects, Explained } from '../../../src/console/protocol/policy.ts';
import { ask } from '../../socket.ts';
import { agents, cwd } from '../../state.ts';
import { Problem } from '../controls/problem.tsx';

const KINDS = ['execute', 'read', 'edit', 'delete', 'move', 'search', 'tool', 'mode', 'delegate'];
/** A pause in typing. */
const PAUSE_MS = 200;
const HINTS: Readonly<Record<string, string>> = { execute: 'npm test', tool: 'server:tool', mode: 'plan', delegate: 'another agent' };

export function Explain(): VNode {
  const names = [...new Set(agents.value.map(({ name }) => name))];
  const [agent, setAgent] = useState(names[0] ?? '');
  const [directory, setDirectory] = useState(cwd.value);
  const [kind, setKind] = useState('execute');
  const [what, setWhat] = useState('');
  const [explained, setExplained] = useState<Explained>();
  const [problem, setProblem] = useState('');

  function explain(isWanted: () => boolean): void {
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
        if (!isWanted()) return;
        setExplained(found);
        setProblem('');
      },
      (error: Error) => {
        if (!isWanted()) return;
        setExplained(undefined);
        setProblem(error.message);
      },
    );
  }
  useEffect(() => {
    if (what.trim() === '') {
      setExplained(undefined);
      return setProblem('');
    }
    let isWanted = true;
    const timer = setTimeout(() => explain(() => isWanted), PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [agent, directory, kind, what]);
  return (
    <section aria-labelledby="explain">
      <h2 id="explain">What if?</h2>
      <form
        class="explain"
        onSubmit={(event) => {
          event.preventDefault();
          explain(() => true);
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
      </form>
      <Problem text={problem} />
      {explained && <Answer explained={explained} />}
    </section>
  );
}

function Answer({ explained: { verdict, why, summary, matches, opaque, effects } }: { readonly explained: Explained }): VNode {
  return (
    <div class="answer" role="status">
      <p>
        <span class={`verdict ${verdict}`}>{verdict}</span> {why}
      </p>
      <p class="dim">
        Understood as <code>{summary}</code>
        {opaque.length > 0 && `, and not understood: ${opaque.join(', ')}`}
      </p>
      {effects.length > 0 && <Effects commands={effects} />}
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

/** What each command of a line does. */
function Effects({ commands }: { readonly commands: readonly CommandEffects[] }): VNode {
  return (
    <ul class="effects" aria-label="Effects">
      {commands.map(({ command, effects, notUnderstood }, index) => (
        <li key={index}>
          <code>{command}</code>
          <ul>
            <Does effects={effects.filter(({ unasked }) => !unasked)} />
            {effects.some(({ unasked }) => unasked) && (
              <li>
                <details>
                  <summary class="dim">{effects.filter(({ unasked }) => unasked).length} effects that its words do not name</summary>
                  <ul>
                    <Does effects={effects.filter(({ unasked }) => unasked)} />
                  </ul>
                </details>
              </li>
            )}
            {notUnderstood && (
              <li>
                <span class="warn-text">not understood:</span> <code>{notUnderstood.word}</code>{' '}
                <span class="dim">{notUnderstood.reason}</span>
              </li>
            )}
            {effects.length === 0 && !notUnderstood && <li class="dim">changes nothing, connects to nothing</li>}
          </ul>
        </li>
      ))}
    </ul>
  );
}

const Does = ({ effects }: Pick<CommandEffects, 'effects'>): VNode => (
  <>
    {effects.map(({ does, what }) => (
      <li key={does + what}>
        <span class="dim">{does}</span> <code>{what}</code>
      </li>
    ))}
  </>
);
