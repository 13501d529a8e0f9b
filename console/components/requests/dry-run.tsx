// Edits a policy file: what it would decide differently about the last week is shown as you type, and then it can be saved.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { RulePlace, Tried } from '../../../src/console/protocol/policy.ts';
import { ask } from '../../socket.ts';
import { Problem } from '../controls/problem.tsx';

type SavedIn = Exclude<RulePlace, { readonly why: string }>;
type Props = {
  readonly files: readonly string[];
  /** The file that can be saved; undefined if none can. */
  readonly saved: SavedIn | undefined;
};

const PAUSE_MS = 400;

export function DryRun({ files, saved }: Props): VNode {
  const [chosen, setChosen] = useState(saved?.insteadOf ?? files[0] ?? '');
  const file = files.includes(chosen) ? chosen : (files[0] ?? '');
  const [before, setBefore] = useState('');
  const [text, setText] = useState('');
  const [recording, setRecording] = useState('');
  const [tried, setTried] = useState<Tried>();
  const [problem, setProblem] = useState('');
  const [done, setDone] = useState('');
  const [isOpen, setOpen] = useState(false);
  function load(): void {
    setTried(undefined);
    ask('policy.text', { file }).then(
      (found) => {
        setText(found.text);
        setBefore(found.text);
      },
      (error: Error) => setProblem(error.message),
    );
  }
  useEffect(() => {
    if (isOpen) load();
  }, [file, isOpen]);
  useEffect(() => {
    if (!isOpen || text === '') return;
    let isWanted = true;
    const timer = setTimeout(() => {
      ask('policy.try', { file, text, ...(recording !== '' && { recording }) }).then(
        (found) => {
          if (!isWanted) return;
          setProblem('');
          setTried(found);
        },
        (error: Error) => {
          if (!isWanted) return;
          setTried(undefined);
          setProblem(error.message);
        },
      );
    }, PAUSE_MS);
    return () => {
      isWanted = false;
      clearTimeout(timer);
    };
  }, [isOpen, file, text, recording]);
  function save(): void {
    setDone('');
    ask('policy.save', { file, text, before }).then(
      () => {
        setBefore(text);
        setDone(`Saved in ${saved?.file}, and in force.`);
      },
      (error: Error) => setProblem(error.message),
    );
  }
  const isSavable = saved?.insteadOf === file;
  return (
    <section>
      <details class="dry-run" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <h2>Change the policy, and see what it would have decided in the last week</h2>
        </summary>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save();
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
            onInput={({ currentTarget }) => {
              setDone('');
              setText(currentTarget.value);
            }}
          />
          <input
            aria-label="Recording"
            placeholder="try it on a file made with --record instead of the last week"
            spellcheck={false}
            value={recording}
            onInput={({ currentTarget }) => setRecording(currentTarget.value)}
          />
          <Problem text={problem} />
          {tried && <Result tried={tried} of={recording === '' ? 'tool calls of the last week' : 'requests'} />}
          <div class="buttons">
            {isSavable ? (
              <button type="submit" class="primary" disabled={text === before || tried === undefined || tried.problems.length > 0}>
                Save{saved.isNew && ` as ${saved.file}`}
              </button>
            ) : (
              <span class="dim">This file cannot be saved here.</span>
            )}
            {text !== before && (
              <button type="button" onClick={load}>
                Discard
              </button>
            )}
            <output>{done}</output>
          </div>
        </form>
      </details>
    </section>
  );
}

function Result({ tried: { problems, requests, counts, changed }, of }: { readonly tried: Tried; readonly of: string }): VNode {
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
          ? `There are no ${of} to try it on.`
          : `${requests} ${of}: ${counts.allow} allow, ${counts.ask} ask, ${counts.deny} deny. ${
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
