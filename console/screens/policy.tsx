// The policy: rules in order of evaluation, explanations, and dry runs.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PolicyShown, RuleRow } from '../../src/console/protocol/policy.ts';
import { ago, place } from '../components/controls/format.ts';
import { DryRun } from '../components/requests/dry-run.tsx';
import { Explain } from '../components/requests/explain.tsx';
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
      <p>There is no policy: you answer what agents ask, and they do the rest without asking.</p>
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
            The files have changed and are invalid, so the previous policy is still in force.{'\n'}
            {problem}
          </pre>
        </section>
      )}
      {isObserving && (
        <section>
          <p class="note">Nothing is blocked; the audit log records what would have been.</p>
        </section>
      )}
      <section>
        <ul class="files">
          {files.map(({ layer, file, isTrusted }) => (
            <li key={file}>
              <span class="chip">{layer}</span> <code>{file}</code>
              {!isTrusted && <span class="dim"> not trusted: only rules that tighten apply</span>}
            </li>
          ))}
        </ul>
        {isOurs && <p class="quiet-text">No policy is configured. This default applies only in the console, and you can change it.</p>}
        {'why' in where && <p class="quiet-text">Rules cannot be added here: {where.why}.</p>}
      </section>
      <Explain />
      <section aria-labelledby="rules">
        <h2 id="rules">Rules, in order of evaluation</h2>
        <p class="quiet-text">The counts are decisions since start, and in the last week.</p>
        <ul class="rules">
          {rules.map((rule) => (
            <Rule key={`${rule.file}:${rule.id}`} rule={rule} />
          ))}
          <li>
            <span class={`verdict ${policy.default}`}>{policy.default}</span>
            <div>anything no rule matches</div>
            <Count count={defaultHits} lastAt={undefined} week={policy.defaultWeek} />
          </li>
        </ul>
      </section>
      <DryRun files={files.map(({ file }) => file)} saved={'why' in where ? undefined : where} />
    </>
  );
}

function Rule({ rule }: { readonly rule: RuleRow }): VNode {
  const { verdict, id, file, line, layer, text, reason, onlyTightens, hits, lastAt, week } = rule;
  return (
    <li>
      <span class={`verdict ${verdict}`}>{verdict}</span>
      <div>
        <b>{id}</b> {reason !== undefined && <span class="dim">{reason}</span>}
        {text !== '' && <pre>{text}</pre>}
        <small title={file}>
          {layer === 'built-in' ? 'built in: turns an allow into an ask' : `${place(file)}:${line} · ${layer}`}
          {onlyTightens && layer !== 'built-in' && ' · only tightens'}
        </small>
      </div>
      <Count count={hits} lastAt={lastAt} week={week} />
    </li>
  );
}

type CountProps = { readonly count: number; readonly lastAt: number | undefined; readonly week: number | undefined };

/** Decisions since start, and in the last week. */
function Count({ count, lastAt, week }: CountProps): VNode {
  return (
    <span class="number hits">
      {count === 0 ? <span class="dim">–</span> : `${count}×`}
      {lastAt !== undefined && <small> {ago(lastAt)}</small>}
      {week !== undefined && week > 0 && <small> {week}× in 7 days</small>}
      <span class="hidden"> since start</span>
    </span>
  );
}
