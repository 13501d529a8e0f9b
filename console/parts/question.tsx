// A permission question: what exactly is to be done, and an answer by button or key. Keys never work while one types somewhere.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Question } from '../../src/console/protocol/state.ts';
import { toSession } from '../route.ts';
import { ask } from '../socket.ts';
import { settled } from '../state.ts';
import { Content, Raw } from './content.tsx';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';
import { Problem } from './problem.tsx';
import { RulePanel, savedRule } from './rule.tsx';
import { isOutside, OUTSIDE, shownId } from './words.ts';

const Elicitation = later(() => import('./elicitation.tsx').then((loaded) => loaded.Elicitation), 'form');

const KEYS: Readonly<Record<string, string>> = { allow_once: 'a', allow_always: 'A', reject_once: 'd', reject_always: 'D' };
/** Said beside the agent's own name for an option, which may be any. */
const KINDS: Readonly<Record<string, string>> = {
  allow_once: 'allows once',
  allow_always: 'allows always',
  reject_once: 'rejects once',
  reject_always: 'rejects always',
};
/** A key that was meant for something else must not answer a question that has just come up under it. */
const DEAF_MS = 600;

export function QuestionCard({ question, isCurrent, isAlone }: { question: Question; isCurrent: boolean; isAlone?: boolean }): VNode {
  const [problem, setProblem] = useState('');
  const { questionId, elicitation } = question;
  const [rule, setRule] = useState<{ readonly verdict: 'allow' | 'deny'; readonly option: number | undefined }>();
  const answer = (option: number | null) => {
    ask('answer', { questionId, option }).catch((error: Error) => setProblem(error.message));
  };
  const choices = choicesOf(question);
  /** Under a policy, "always" is a rule, and is seen before it holds. */
  const choose = ({ kind, option }: Choice) => {
    if (question.policy && /_always$/.test(kind)) setRule({ verdict: kind === 'allow_always' ? 'allow' : 'deny', option });
    else if (option !== undefined) answer(option);
  };
  useEffect(() => {
    if (!isCurrent) return;
    const since = performance.now();
    const pressed = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target) || performance.now() - since < DEAF_MS) return;
      const choice = choices.find((one) => one.key === key);
      if (!choice || rule) return;
      event.preventDefault();
      choose(choice);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [questionId, isCurrent, rule]);
  return (
    <section class="question" aria-label={elicitation ? 'Question' : 'Permission question'} data-question={questionId}>
      <header>
        <Icon name={question.toolKind} />
        <h3>{question.title}</h3>
        <span class="chip">{question.agent}</span>
      </header>
      {!isAlone && question.sessionId !== '' && (
        <p class="from">
          in <a href={toSession(question.sessionId)}>{question.sessionTitle || shownId(question.sessionId)}</a> · {question.cwd}
        </p>
      )}
      {question.command !== undefined && (
        <pre class="command">
          <span class="prompt">$ </span>
          {question.command}
        </pre>
      )}
      {question.content.map((content) => (
        <Content content={content} cwd={question.cwd} />
      ))}
      {question.command === undefined && question.content.length === 0 && question.locations.length > 0 && (
        <pre class="command">
          {question.locations.map((path) => (
            <div class={isOutside(path, question.cwd) ? 'outside' : undefined} title={isOutside(path, question.cwd) ? OUTSIDE : undefined}>
              {isOutside(path, question.cwd) ? `⚠ ${path}` : path}
            </div>
          ))}
        </pre>
      )}
      {question.policy && (
        <p class="why">
          {question.policy.isOurs ? 'Asked because' : 'The agent asks; the policy says'}: {question.policy.why}
        </p>
      )}
      {question.input !== undefined && <Raw name="What the agent sent" text={question.input} />}
      {elicitation ? (
        <Elicitation question={question} asked={elicitation} />
      ) : rule ? (
        <RulePanel
          question={question}
          verdict={rule.verdict}
          remember={rule.option === undefined ? undefined : () => answer(rule.option as number)}
          close={() => setRule(undefined)}
        />
      ) : (
        <div class="buttons">
          {choices.map((choice) => (
            <button type="button" key={choice.key} class={lookOf(choice)} onClick={() => choose(choice)}>
              {choice.name} {choice.option !== undefined && <small class="kind">{KINDS[choice.kind] ?? 'of no known kind'}</small>}{' '}
              <kbd>{choice.key}</kbd>
            </button>
          ))}
          <button type="button" class="quiet" onClick={() => answer(null)}>
            Dismiss
          </button>
        </div>
      )}
      <Problem text={problem} />
    </section>
  );
}

/** An option as the agent offers it, or a rule of one's own where it offers none for always. */
type Choice = { readonly name: string; readonly kind: string; readonly key: string; readonly option: number | undefined };

/** Each with a key: by its kind, else by its number. */
function choicesOf({ options, policy, elicitation }: Question): readonly Choice[] {
  if (elicitation) return [];
  const used = new Set<string>();
  const choices = options.map(({ name, kind }, option): Choice => {
    const wanted = KEYS[kind] ?? '';
    const key = wanted === '' || used.has(wanted) ? String(option + 1) : wanted;
    used.add(key);
    return { name, kind, key, option };
  });
  const own = policy ? [OWN.allow_always, OWN.reject_always] : [];
  return [...choices, ...own.filter(({ key }) => !used.has(key))];
}

const OWN = {
  allow_always: { name: 'Always…', kind: 'allow_always', key: 'A', option: undefined },
  reject_always: { name: 'Never…', kind: 'reject_always', key: 'D', option: undefined },
};

const lookOf = ({ kind, option }: Choice): string =>
  option === undefined ? 'quiet' : kind === 'allow_once' ? 'primary' : kind.startsWith('reject') ? 'danger' : '';

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Questions of a session, or of all, that were answered while one looked at them. */
export function Elsewhere({ sessionId }: { readonly sessionId?: string }): VNode {
  const last = settled.value
    .filter(({ question, isElsewhere }) => isElsewhere && (sessionId === undefined || question.sessionId === sessionId))
    .at(-1);
  const saved = savedRule.value;
  const isMine = saved && (sessionId === undefined || saved.sessionId === sessionId);
  const isShown = last !== undefined && Date.now() - last.question.at <= 600_000;
  return (
    <>
      {isMine && (
        <p class="elsewhere" role="status">
          The rule was saved: <code>{saved.place}</code>. Take it out there to be asked again.
          <button type="button" class="quiet" aria-label="Do not show this any more" onClick={() => (savedRule.value = undefined)}>
            ×
          </button>
        </p>
      )}
      {isShown && (
        <p class="elsewhere" role="status">
          “{last.question.title}” was answered {last.isFromClient ? 'in the editor' : 'elsewhere'}: <b>{last.outcome}</b>
        </p>
      )}
    </>
  );
}
