// A permission question: what exactly is to be done, and an answer by button or key. Keys never work while one types somewhere.
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Question } from '../../src/console/wire/board.ts';
import { toSession } from '../route.ts';
import { ask } from '../socket.ts';
import { settled } from '../state.ts';
import { Content, Raw } from './content.tsx';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';
import { Problem } from './problem.tsx';
import { shownId } from './words.ts';

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
  const { options, questionId, elicitation } = question;
  const answer = (option: number | null) => {
    ask('answer', { questionId, option }).catch((error: Error) => setProblem(error.message));
  };
  const keys = keysOf(question);
  useEffect(() => {
    if (!isCurrent) return;
    const since = performance.now();
    const pressed = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target) || performance.now() - since < DEAF_MS) return;
      const option = keys.indexOf(key);
      if (option === -1) return;
      event.preventDefault();
      answer(option);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [questionId, isCurrent]);
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
        <pre class="command">{question.locations.join('\n')}</pre>
      )}
      {question.policy && (
        <p class="why">
          {question.policy.isOurs ? 'Asked because' : 'The agent asks; the policy says'}: {question.policy.why}
        </p>
      )}
      {question.input !== undefined && <Raw name="What the agent sent" text={question.input} />}
      {elicitation ? (
        <Elicitation question={question} asked={elicitation} />
      ) : (
        <div class="buttons">
          {options.map(({ name, kind }, index) => (
            <button
              type="button"
              key={index}
              class={kind === 'allow_once' ? 'primary' : kind.startsWith('reject') ? 'danger' : ''}
              onClick={() => answer(index)}
            >
              {name} <small class="kind">{KINDS[kind] ?? `of no known kind`}</small> <kbd>{keys[index]}</kbd>
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

/** A key for each option: by its kind, else by its number. */
function keysOf({ options }: Question): string[] {
  const used = new Set<string>();
  return options.map(({ kind }, index) => {
    const wanted = KEYS[kind] ?? '';
    const key = wanted === '' || used.has(wanted) ? String(index + 1) : wanted;
    used.add(key);
    return key;
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Questions of a session, or of all, that were answered while one looked at them. */
export function Elsewhere({ sessionId }: { readonly sessionId?: string }): VNode | null {
  const last = settled.value
    .filter(({ question, isElsewhere }) => isElsewhere && (sessionId === undefined || question.sessionId === sessionId))
    .at(-1);
  if (!last || Date.now() - last.question.at > 600_000) return null;
  return (
    <p class="elsewhere" role="status">
      “{last.question.title}” was answered {last.isEditors ? 'in the editor' : 'elsewhere'}: <b>{last.outcome}</b>
    </p>
  );
}
