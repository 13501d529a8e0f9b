// A permission request: exactly what the agent wants to do, answered by button or key. Keys are ignored while the user types.
import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PendingRequest } from '../../../src/console/protocol/state.ts';
import { toSession } from '../../route.ts';
import { ask } from '../../socket.ts';
import { settled } from '../../state.ts';
import { isOutside, OUTSIDE, shownId } from '../controls/format.ts';
import { Icon } from '../controls/icon.tsx';
import { later } from '../controls/later.tsx';
import { Problem } from '../controls/problem.tsx';
import { Content, Raw } from '../conversation/content.tsx';
import { RulePanel, savedRule } from './rule.tsx';

const Elicitation = later(() => import('./elicitation.tsx').then((loaded) => loaded.Elicitation), 'form');

const KEYS: Readonly<Record<string, string>> = { allow_once: 'a', allow_always: 'A', reject_once: 'd', reject_always: 'D' };
/** Shown next to the agent's own name for an option, which may be anything. */
const KINDS: Readonly<Record<string, string>> = {
  allow_once: 'allows once',
  allow_always: 'allows always',
  reject_once: 'rejects once',
  reject_always: 'rejects always',
};
/** A key meant for something else must not answer a request that just appeared. */
const IGNORE_KEYS_MS = 600;

export function RequestCard({
  request,
  isCurrent,
  isInSession,
  card,
  leave,
}: {
  request: PendingRequest;
  isCurrent: boolean;
  isInSession?: boolean;
  /** Set to the card's element. */
  card?: RefObject<HTMLElement | null>;
  /** Focuses what comes after the card, once the request is answered. */
  leave?: () => void;
}): VNode {
  const [problem, setProblem] = useState('');
  const own = useRef<HTMLElement>(null);
  const place = card ?? own;
  const { requestId, elicitation } = request;
  const [rule, setRule] = useState<{ readonly verdict: 'allow' | 'deny'; readonly option: number | undefined }>();
  const answer = (option: number | null) => {
    ask('answer', { requestId, option }).catch((error: Error) => setProblem(error.message));
  };
  const choices = choicesOf(request);
  /** Under a policy, "always" is a rule, which is shown before it is saved. */
  const choose = ({ kind, option }: Choice) => {
    if (request.policy && /_always$/.test(kind)) setRule({ verdict: kind === 'allow_always' ? 'allow' : 'deny', option });
    else if (option !== undefined) answer(option);
  };
  useEffect(() => {
    if (!isCurrent) return;
    const since = performance.now();
    const pressed = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(target) || performance.now() - since < IGNORE_KEYS_MS) return;
      const choice = choices.find((one) => one.key === key);
      if (!choice || rule) return;
      event.preventDefault();
      choose(choice);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [requestId, isCurrent, rule]);
  useEffect(() => {
    const element = place.current;
    let hasFocus = false;
    const look = ({ target }: FocusEvent) => {
      hasFocus = element?.contains(target as Node) === true;
    };
    addEventListener('focusin', look);
    // A field that is being written in keeps the focus: Escape leads from there to the card.
    if (isInSession && !isTyping(document.activeElement)) element?.focus({ preventScroll: true });
    return () => {
      removeEventListener('focusin', look);
      if (hasFocus) leave?.();
    };
  }, [requestId]);
  return (
    <section
      class="request-card"
      ref={place}
      tabIndex={-1}
      aria-label={elicitation ? 'Request for input' : 'Permission request'}
      data-request={requestId}
    >
      <header>
        <Icon name={request.toolKind} />
        <h2>{request.title}</h2>
        <span class="chip">{request.agent}</span>
      </header>
      {!isInSession && request.sessionId !== '' && (
        <p class="from">
          in <a href={toSession(request.sessionId)}>{request.sessionTitle || shownId(request.sessionId)}</a> · {request.cwd}
        </p>
      )}
      {request.command !== undefined && (
        <pre class="command">
          <span class="prompt">$ </span>
          {request.command}
        </pre>
      )}
      {request.content.map((content) => (
        <Content content={content} cwd={request.cwd} />
      ))}
      {request.command === undefined && request.content.length === 0 && request.locations.length > 0 && (
        <pre class="command">
          {request.locations.map((path) => (
            <div class={isOutside(path, request.cwd) ? 'outside' : undefined} title={isOutside(path, request.cwd) ? OUTSIDE : undefined}>
              {isOutside(path, request.cwd) ? `⚠ ${path}` : path}
            </div>
          ))}
        </pre>
      )}
      {request.policy && (
        <p class="why">
          {request.policy.isFromPolicy ? 'Asked because' : 'The agent asks; the policy says'}: {request.policy.why}
        </p>
      )}
      {request.input !== undefined && <Raw name="What the agent sent" text={request.input} />}
      {elicitation ? (
        <Elicitation request={request} elicitation={elicitation} />
      ) : rule ? (
        <RulePanel
          request={request}
          verdict={rule.verdict}
          remember={rule.option === undefined ? undefined : () => answer(rule.option as number)}
          close={() => setRule(undefined)}
        />
      ) : (
        <div class="buttons">
          {choices.map((choice) => (
            <button type="button" key={choice.key} class={lookOf(choice)} onClick={() => choose(choice)}>
              {choice.name} {choice.option !== undefined && <small class="kind">{KINDS[choice.kind] ?? 'unknown kind'}</small>}{' '}
              <kbd>{choice.key}</kbd>
            </button>
          ))}
          <button type="button" class="quiet" onClick={() => answer(null)}>
            Dismiss
          </button>
          {isInSession && (
            <small class="key-hint wide-only">
              <kbd>Esc</kbd> in the prompt, then a key
            </small>
          )}
        </div>
      )}
      <Problem text={problem} />
    </section>
  );
}

/** An option of the agent, or our own rule where the agent offers no "always". */
type Choice = { readonly name: string; readonly kind: string; readonly key: string; readonly option: number | undefined };

/** Each has a key: by its kind, else its number. */
function choicesOf({ options, policy, elicitation }: PendingRequest): readonly Choice[] {
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

/** Without an answer known here, the outcome says it all: withdrawn, cancelled, answered by another client. */
function endOf({ outcome, answeredBy }: (typeof settled.value)[number]): ComponentChildren {
  if (answeredBy === undefined || outcome.endsWith(answeredBy)) return <>was {outcome}</>;
  return (
    <>
      was answered {answeredBy === 'client' ? 'in the editor' : 'elsewhere'}: <b>{outcome}</b>
    </>
  );
}

/** Requests of one session, or of all, that were answered elsewhere while the page showed them. */
export function Elsewhere({ sessionId }: { readonly sessionId?: string }): VNode {
  const last = settled.value
    .filter(({ request, isElsewhere }) => isElsewhere && (sessionId === undefined || request.sessionId === sessionId))
    .at(-1);
  const saved = savedRule.value;
  const isMine = saved && (sessionId === undefined || saved.sessionId === sessionId);
  const isShown = last !== undefined && Date.now() - last.request.at <= 600_000;
  return (
    <>
      {isMine && (
        <p class="elsewhere" role="status">
          Rule saved: <code>{saved.place}</code>. Remove it there to be asked again.
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => (savedRule.value = undefined)}>
            ×
          </button>
        </p>
      )}
      {isShown && (
        <p class="elsewhere" role="status">
          “{last.request.title}” {endOf(last)}
        </p>
      )}
    </>
  );
}
