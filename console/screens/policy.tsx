// What agents may do: the rules in the order in which they are judged, why something would be allowed, and what another text would change.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PolicyShown, RuleRow } from '../../src/console/protocol/policy.ts';
import { DryRun } from '../components/dry-run.tsx';
import { Explain } from '../components/explain.tsx';
import { ago, place } from '../components/format.ts';
import { subscribe } from '../socket.ts';

type There = Extract<PolicyShown, { isThere: true }>;

const shown = signal<PolicyShown | undefined>(undefined);

export function Policy(): VNode {
  useEffect(
    () =>
      subscribe('policy', {}, (news) => {
        shown.value = news;
      }),
    [],
  );
  const policy = shown.value;
  return (
    <div class="screen policy">
      <header class="bar">
        <h1>Policy</h1>
        {policy?.isThere && (
          <>
            <span class={policy.isObserving ? 'chip warn' : 'chip'}>{policy.isObserving ? 'observed, not enforced' : 'enforced'}</span>
            <span class="chip">otherwise {policy.default}</span>
          </>
        )}
      </header>
      <div class="body">{policy === undefined ? <p class="quiet-text">…</p> : policy.isThere ? <All policy={policy} /> : <None />}</div>
    </div>
  );
}

function None(): VNode {
  return (
    <div class="empty">
      <p>There is no policy: what agents ask is asked, and what they do not ask is done.</p>
      <p>
        Set <code>"policy": "standard"</code> in the configuration, or start with <code>--policy standard</code>.
      </p>
    </div>
  );
}

function All({ policy }: { readonly policy: There }): VNode {
  const { isOurs, isObserving, problem, place: where, files, rules, defaultHits } = policy;
  return (
    <>
      {problem !== undefined && (
        <section>
          <pre class="problem" role="alert">
            The files have changed and cannot be used, so what was there before still holds.{'\n'}
            {problem}
          </pre>
        </section>
      )}
      {isObserving && (
        <section>
          <p class="note">Nothing is blocked; the audit log says what would have been.</p>
        </section>
      )}
      <section>
        <ul class="files">
          {files.map(({ layer, file, isTrusted }) => (
            <li key={file}>
              <span class="chip">{layer}</span> <code>{file}</code>
              {!isTrusted && <span class="dim"> not trusted: only what tightens counts</span>}
            </li>
          ))}
        </ul>
        {isOurs && <p class="quiet-text">No policy is configured; this one holds in the console alone. It is yours to change.</p>}
        {'why' in where && <p class="quiet-text">Rules cannot be added from here: {where.why}.</p>}
      </section>
      <Explain />
      <section aria-labelledby="rules">
        <h2 id="rules">Rules, in the order in which they are judged</h2>
        <ul class="rules">
          {rules.map((rule) => (
            <Rule key={`${rule.file}:${rule.id}`} rule={rule} />
          ))}
          <li>
            <span class={`verdict ${policy.default}`}>{policy.default}</span>
            <div>what no rule settles</div>
            <Count count={defaultHits} lastAt={undefined} />
          </li>
        </ul>
      </section>
      <DryRun files={files.map(({ file }) => file)} />
    </>
  );
}

function Rule({ rule }: { readonly rule: RuleRow }): VNode {
  const { verdict, id, file, line, layer, text, reason, onlyTightens, hits, lastAt } = rule;
  return (
    <li>
      <span class={`verdict ${verdict}`}>{verdict}</span>
      <div>
        <b>{id}</b> {reason !== undefined && <span class="dim">{reason}</span>}
        {text !== '' && <pre>{text}</pre>}
        <small title={file}>
          {layer === 'built-in' ? 'built in: it makes an allow into a question' : `${place(file)}:${line} · ${layer}`}
          {onlyTightens && layer !== 'built-in' && ' · only tightens'}
        </small>
      </div>
      <Count count={hits} lastAt={lastAt} />
    </li>
  );
}

function Count({ count, lastAt }: { readonly count: number; readonly lastAt: number | undefined }): VNode {
  return (
    <span class="number hits" title={count === 0 ? 'has decided nothing since the start' : 'decisions since the start'}>
      {count === 0 ? <span class="dim">–</span> : `${count}×`}
      {lastAt !== undefined && <small> {ago(lastAt)}</small>}
    </span>
  );
}
