// "Always" as a rule: shown with its file and editable before it is saved.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Checked, Proposed } from '../../../src/console/protocol/policy.ts';
import type { PendingRequest } from '../../../src/console/protocol/state.ts';
import { ask } from '../../socket.ts';
import { Problem } from '../controls/problem.tsx';

/** The last saved rule, for a status line. */
export const savedRule = signal<{ readonly sessionId: string; readonly place: string } | undefined>(undefined);

const CHECK_AFTER_MS = 200;

export type RulePanelProps = {
  readonly request: PendingRequest;
  readonly verdict: 'allow' | 'deny';
  /** Answers with the request's own "always" option; undefined when it has none. */
  readonly remember: (() => void) | undefined;
  readonly close: () => void;
};

export function RulePanel({ request: { requestId, sessionId }, verdict, remember, close }: RulePanelProps): VNode {
  const [proposed, setProposed] = useState<Proposed>();
  const [rule, setRule] = useState('');
  const [checked, setChecked] = useState<Checked>();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const text = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const failed = (error: Error) => {
    setProblem(error.message);
    setBusy(false);
  };
  useEffect(() => {
    ask('rule.propose', { requestId, verdict }).then((found) => {
      setProposed(found);
      if ('rule' in found) setRule(found.rule);
    }, failed);
  }, [requestId, verdict]);
  useEffect(() => {
    text.current?.focus();
    form.current?.scrollIntoView({ block: 'nearest' });
  }, [proposed]);
  useEffect(() => {
    if (rule === '') return;
    const timer = setTimeout(() => ask('rule.check', { requestId, verdict, rule }).then(setChecked, failed), CHECK_AFTER_MS);
    return () => clearTimeout(timer);
  }, [rule]);
  async function save(): Promise<void> {
    if (!proposed || !('rule' in proposed)) return;
    setBusy(true);
    setProblem('');
    const { line } = await ask('rule.save', { requestId, verdict, rule });
    savedRule.value = { sessionId, place: `${proposed.place.file}:${line}` };
    close();
  }
  return (
    <form
      class="rule"
      ref={form}
      aria-label="Rule"
      onSubmit={(event) => {
        event.preventDefault();
        save().catch(failed);
      }}
      onKeyDown={({ key }) => key === 'Escape' && close()}
    >
      {proposed === undefined && problem === '' && <p class="quiet-text">…</p>}
      {proposed && 'cannot' in proposed && <p class="note">{sentence(proposed.cannot)}</p>}
      {proposed && 'rule' in proposed && (
        <>
          <label class="field">
            <span>A rule that {verdict === 'allow' ? 'allows' : 'denies'} this. Remove a line to widen it.</span>
            <textarea
              ref={text}
              rows={Math.max(3, rule.split('\n').length)}
              spellcheck={false}
              value={rule}
              onInput={({ currentTarget }) => setRule(currentTarget.value)}
            />
          </label>
          <p class="from">
            It will be added to <code>{proposed.place.file}</code>
            {checked?.line !== undefined && `, line ${checked.line}, under ${verdict}`}
            {proposed.place.isNew && '. Creates the file: a copy of the console’s current policy plus this rule'}.
          </p>
          {checked?.problems.map(({ line, message, hint }) => (
            <p class="problem">
              line {line}: {message}
              {hint !== undefined && `; ${hint}`}
            </p>
          ))}
          {checked?.after && checked.after.verdict !== verdict && (
            <p class="note">
              This would still be {checked.after.verdict === 'ask' ? 'asked' : 'denied'}: {checked.after.why}
            </p>
          )}
        </>
      )}
      <Problem text={problem} />
      <div class="buttons">
        {proposed && 'rule' in proposed && (
          <button
            type="submit"
            class={verdict === 'allow' ? 'primary' : 'danger'}
            disabled={isBusy || checked === undefined || checked.problems.length > 0}
          >
            Save the rule and {verdict === 'allow' ? 'allow' : 'reject'}
          </button>
        )}
        {remember && (
          <button type="button" title="The agent’s own option, without a rule" onClick={remember}>
            Always for exactly this request
          </button>
        )}
        <button type="button" class="quiet" onClick={close}>
          Back
        </button>
      </div>
    </form>
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
