// The doctor, the configuration in force with its origins, and the theme.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Finding, Settings as Read } from '../../src/console/protocol/settings.ts';
import { Copy } from '../components/controls/copy.tsx';
import { Fact } from '../components/controls/fact.tsx';
import { Icon } from '../components/controls/icon.tsx';
import { Problem } from '../components/controls/problem.tsx';
import { ScrollingTable } from '../components/controls/scrolling-table.tsx';
import { SearchField } from '../components/controls/search-field.tsx';
import { isNotifying, notify } from '../notify.ts';
import { ask } from '../socket.ts';
import { chooseTheme, type Theme, theme } from '../theme.ts';

export function Settings(): VNode {
  return (
    <div class="screen">
      <header class="bar">
        <h1>Settings</h1>
      </header>
      <div class="body settings">
        <Doctor />
        <ThisPage />
        <OtherBrowser />
        <Configuration />
        <Documentation />
      </div>
    </div>
  );
}

function Doctor(): VNode {
  const [findings, setFindings] = useState<readonly Finding[]>();
  const [isAtWork, work] = useState(false);
  const [problem, setProblem] = useState('');
  const run = (isStarting: boolean) => {
    work(true);
    setProblem('');
    ask('doctor', { isStarting })
      .then(
        ({ findings: found }) => setFindings(found),
        (error: Error) => setProblem(error.message),
      )
      .finally(() => work(false));
  };
  useEffect(() => run(false), []);
  const count = (status: Finding['status']) => findings?.filter((finding) => finding.status === status).length ?? 0;
  const counted = (status: Finding['status']) => `${count(status)} ${status}${count(status) === 1 ? '' : 's'}`;
  return (
    <section aria-label="Doctor">
      <h2>Doctor</h2>
      <div class="buttons">
        <button type="button" disabled={isAtWork} onClick={() => run(false)}>
          <Icon name="restart" /> Check again
        </button>
        <button type="button" disabled={isAtWork} title="Starts each agent briefly, next to those that run" onClick={() => run(true)}>
          Check and start each agent
        </button>
        <span class="dim" role="status">
          {isAtWork ? 'Checking…' : findings && `${counted('problem')}, ${counted('warning')}, ${count('ok')} passed`}
        </span>
      </div>
      <Problem text={problem} />
      <FoundAll findings={findings?.filter(({ status }) => status === 'problem')} />
      <FoundAll findings={findings?.filter(({ status }) => status === 'warning')} />
      {findings && (
        <details class="passed">
          <summary>What passed</summary>
          <FoundAll findings={findings.filter(({ status }) => status === 'ok')} />
        </details>
      )}
    </section>
  );
}

const FoundAll = ({ findings = [] }: { readonly findings: readonly Finding[] | undefined }): VNode => (
  <ul class="checks">
    {findings.map((finding) => (
      <Found key={finding.check + finding.what} finding={finding} />
    ))}
  </ul>
);

function Found({ finding: { status, what, why, next } }: { readonly finding: Finding }): VNode {
  return (
    <li class={`check ${status}`}>
      <Icon name={status === 'ok' ? 'check' : 'warning'} />
      <div>
        <p>
          <span class="hidden">{status}: </span>
          {what}
        </p>
        {why !== undefined && <p class="dim">{why}</p>}
        {next !== undefined && (
          <p>
            Next: <code>{next}</code>{' '}
            <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(next)}>
              Copy
            </button>
          </p>
        )}
      </div>
    </li>
  );
}

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'system'],
  ['light', 'light'],
  ['dark', 'dark'],
];

function Documentation(): VNode {
  return (
    <section aria-label="Documentation">
      <h2>Documentation</h2>
      <p>
        In a terminal, <code>switchboard help</code> lists the pages, <code>switchboard help console</code> and{' '}
        <code>switchboard help policy</code> show one.
      </p>
    </section>
  );
}

function ThisPage(): VNode {
  return (
    <section aria-label="This page">
      <h2>This page</h2>
      <fieldset class="choices">
        <legend>Colours</legend>
        {THEMES.map(([name, text]) => (
          <label key={name}>
            <input type="radio" name="theme" checked={theme.value === name} onChange={() => chooseTheme(name)} /> {text}
          </label>
        ))}
      </fieldset>
      <Notifying />
      <p class="dim">Stored in this browser.</p>
    </section>
  );
}

function Notifying(): VNode {
  const [isRefused, setRefused] = useState(false);
  return (
    <div class="choices">
      <label>
        <input
          type="checkbox"
          checked={isNotifying.value}
          onChange={({ currentTarget: { checked } }) => void notify(checked).then((isDone) => setRefused(!isDone))}
        />{' '}
        Notify me when an agent asks or is done while this page is out of sight
      </label>
      {isRefused && <span role="status">The browser does not allow notifications from this page.</span>}
    </div>
  );
}

/** A link for another browser of this user. It works once. */
function OtherBrowser(): VNode {
  const [link, setLink] = useState('');
  const [problem, setProblem] = useState('');
  return (
    <section aria-label="Another browser">
      <h2>Another browser</h2>
      <div class="buttons">
        <button
          type="button"
          onClick={() =>
            ask('link', {}).then(
              (made) => setLink(made.link),
              (error: Error) => setProblem(error.message),
            )
          }
        >
          Make a link
        </button>
        {link !== '' && <Copy label="Copy the link" text={() => link} />}
        <span class="dim" role="status">
          {link === '' ? 'Opens the console in another browser on this machine, once.' : 'Copy it and open it there. It works once.'}
        </span>
      </div>
      <Problem text={problem} />
    </section>
  );
}

function Configuration(): VNode {
  const [read, setRead] = useState<Read>();
  const [problem, setProblem] = useState('');
  const [text, setText] = useState('');
  const [isAll, showAll] = useState(false);
  useEffect(() => {
    ask('settings', {}).then(setRead, (error: Error) => setProblem(error.message));
  }, []);
  const shown = read?.settings.filter(
    ({ key, value, from }) => (isAll || from !== '') && `${key} ${value}`.toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <section aria-label="Configuration">
      <h2>Configuration</h2>
      <Problem text={problem} />
      {read && <Files read={read} />}
      <div class="buttons">
        <SearchField label="Filter settings" placeholder="Filter" text={text} set={setText} />
        <label>
          <input type="checkbox" checked={isAll} onChange={({ currentTarget }) => showAll(currentTarget.checked)} /> with defaults
        </label>
      </div>
      {shown && (
        <ScrollingTable label="Settings">
          <table class="list matrix">
            <thead>
              <tr>
                <th>Key</th>
                <th>Value</th>
                <th>From</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ key, value, from }) => (
                <tr key={key + from}>
                  <td>
                    <code>{key}</code>
                  </td>
                  <td>
                    <code>{value}</code>
                  </td>
                  <td class="dim">{from === '' ? 'default' : from}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {shown.length === 0 && <p class="quiet-text">No setting matches.</p>}
        </ScrollingTable>
      )}
    </section>
  );
}

function Files({ read: { files, problems, notices, places, pid, node, isReadAgain } }: { readonly read: Read }): VNode {
  const isChanged = files.some((file) => file.isChanged);
  return (
    <>
      {problems.length > 0 && (
        <div class="problem">
          The files are invalid, so the previous configuration is still in force:
          {problems.map((text) => (
            <div key={text}>{text}</div>
          ))}
        </div>
      )}
      {problems.length === 0 && isChanged && (
        <p class="note">
          {isReadAgain
            ? 'A file has changed since start; the change applies to new sessions.'
            : 'A file has changed since start; the values shown take effect at the next start of the console.'}
        </p>
      )}
      {notices.map((text) => (
        <p key={text} class="note">
          {text}
        </p>
      ))}
      <dl class="places-of-files">
        {files.length === 0 && <Fact name="File">none: switchboard uses the demo agents</Fact>}
        {files.map(({ path, isChanged: changed }) => (
          <Fact key={path} name="File">
            {path + (changed ? ' (changed)' : '')}
          </Fact>
        ))}
        {places.map(({ name, path }) => (
          <Fact key={name} name={name}>
            {path}
          </Fact>
        ))}
        <Fact name="Process">{`${pid} · Node ${node}`}</Fact>
      </dl>
      <p class="dim">
        Change settings in their files. <code>switchboard config show --origin</code> prints the same. Values of variables and headers are
        never shown.
      </p>
    </>
  );
}
