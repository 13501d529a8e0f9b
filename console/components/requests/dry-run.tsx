// Tries an edited policy on past requests. Saves nothing.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Tried } from '../../../src/console/protocol/policy.ts';
import { ask } from '../../socket.ts';
import { Problem } from '../controls/problem.tsx';

export function DryRun({ files }: { readonly files: readonly string[] }): VNode {
  const [chosen, setChosen] = useState(files[0] ?? '');
  const file = files.includes(chosen) ? chosen : (files[0] ?? '');
  const [text, setText] = useState('');
  const [recording, setRecording] = useState('');
  const [tried, setTried] = useState<Tried>();
  const [problem, setProblem] = useState('');
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!isOpen) return;
    setTried(undefined);
    ask('policy.text', { file }).then(
      (found) => setText(found.text),
      (error: Error) => setProblem(error.message),
    );
  }, [file, isOpen]);
  function run(): void {
    setProblem('');
    ask('policy.try', { file, text, ...(recording !== '' && { recording }) }).then(setTried, (error: Error) => {
      setTried(undefined);
      setProblem(error.message);
    });
  }
  return (
    <section>
      <details class="dry-run" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <h2>Try a change on past requests</h2>
        </summary>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            run();
          }}
        >
          {files.length > 1 && (
            <select aria-label="File" value={file} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
              {files.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
          <textarea
            aria-label={`New text of ${file}`}
            rows={14}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <div class="buttons">
            <input
              aria-label="Recording"
              placeholder="permission requests in all transcripts, or a file made with --record"
              spellcheck={false}
              value={recording}
              onInput={({ currentTarget }) => setRecording(currentTarget.value)}
            />
            <button type="submit">Try it</button>
          </div>
        </form>
        <Problem text={problem} />
        {tried && <Result tried={tried} />}
      </details>
    </section>
  );
}

function Result({ tried: { problems, requests, counts, changed } }: { readonly tried: Tried }): VNode {
  if (problems.length > 0)
    return (
      <ul class="problem" role="alert">
        {problems.map(({ line, column, message, hint }) => (
          <li key={`${line}:${column}`}>
            line {line}:{column}: {message}
            {hint !== undefined && `; ${hint}`}
          </li>
        ))}
      </ul>
    );
  return (
    <div class="answer" role="status">
      <p>
        {requests === 0
          ? 'There are no past requests to try it on.'
          : `${requests} requests: ${counts.allow} allow, ${counts.ask} ask, ${counts.deny} deny. ${
              changed.length === 0 ? 'Nothing changes.' : `${changed.length} would be decided differently:`
            }`}
      </p>
      <ol class="changed">
        {changed.map(({ where, agent, summary, was, now, answer }, index) => (
          <li key={index}>
            <span class={`verdict ${was.verdict}`}>{was.verdict}</span> → <span class={`verdict ${now.verdict}`}>{now.verdict}</span>{' '}
            <code>{summary}</code>
            <small>
              {agent} · {where} · {now.why}
              {answer !== undefined && ` · answered then: ${answer}`}
            </small>
          </li>
        ))}
      </ol>
    </div>
  );
}
