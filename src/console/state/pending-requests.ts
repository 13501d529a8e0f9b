// Pending permission requests and elicitations. The first answer counts, wherever it comes from.
import { randomUUID } from 'node:crypto';
import { describePermission } from '../../client/describe-permission.ts';
import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { Action } from '../../policy/actions/action.ts';
import type { Decision } from '../../policy/decide.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { redactUrl } from '../../redaction/redact-url.ts';
import type { ChatActions } from '../protocol/chat.ts';
import type { Elicitation, PendingRequest, RequestPolicy, SessionRow } from '../protocol/state.ts';
import { cleanValue } from './clean-text.ts';
import type { Feed } from './feed.ts';
import { readForm } from './form-schema.ts';
import { type Fields, shown, text, toolOf } from './read-update.ts';
import { mergeCall } from './tool-calls.ts';

// An elicitation: what is shown, and how it is answered.
type Values = Parameters<NonNullable<ReturnType<typeof readForm>>['answer']>[0];

export type Elicited = {
  readonly message: string;
  readonly shown: Elicitation;
  /** The result of accepting: content for the agent, or a URL for the page. */
  accept(values: Values): { readonly content?: Fields; readonly url?: string } | { readonly problem: string };
};

const CANNOT = { problem: 'this request cannot be answered here; decline it' };

export function readElicitation(params: Fields, clean: (value: string) => string): Elicited {
  const message = clean(text(params.message) ?? 'The agent requests input');
  const { mode, url } = params;
  if (mode === 'url' && typeof url === 'string') {
    const address = URL.canParse(url) ? new URL(url) : undefined;
    // Other schemes could run something locally.
    if (address && /^https?:$/.test(address.protocol))
      return {
        message,
        shown: { mode: 'url', url: clean(redactUrl(url)), host: clean(address.host) },
        // The display is redacted; the page opens the real URL.
        accept: () => ({ url }),
      };
  }
  const form = mode === 'form' ? readForm(params.requestedSchema, clean) : undefined;
  if (form) return { message, shown: { mode: 'form', fields: form.fields }, accept: form.answer };
  const unsupported = clean(shown(mode === 'form' ? params.requestedSchema : (url ?? mode)) ?? '');
  return { message, shown: { mode: 'other', text: unsupported }, accept: () => CANNOT };
}

/**
 * How a request ended: with the option at this index, or with none. `by` is the page that answered, or `client` for the editor, or
 * `another client`, whose answer is not known here.
 */
export type Settled = { readonly option: number | undefined; readonly by: string | undefined; readonly reply?: Reply | undefined };

export const ANOTHER_CLIENT = 'another client';

/** The answer to an elicitation. */
export type Reply = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Fields | undefined };

/** The policy's own result for a request. The request's text is not trusted: the agent wrote it. */
export type PolicyResult = { readonly action: Action; readonly decision: Decision; readonly isFromPolicy: boolean };

export type RequestHooks = {
  readonly policyResult?: PolicyResult | undefined;
  readonly opened?: (requestId: string) => void;
  /** Called when a page answers. Returns false when another answer was first. */
  readonly take?: ((option: number | undefined, reply: Reply | undefined) => boolean) | undefined;
};

export type RequestDeps = {
  readonly feed: Feed;
  readonly redact: Redactor;
  readonly now: () => number;
  readonly row: (sessionId: string) => SessionRow | undefined;
  /** What is known of a tool call, cleaned. */
  readonly toolCall: (sessionId: string, toolCallId: unknown) => Fields | undefined;
  readonly opened: (request: PendingRequest) => void;
  readonly settled: (
    request: PendingRequest,
    how: { readonly outcome: string; readonly by: string | undefined; readonly isAccepted: boolean | undefined },
  ) => void;
};

type Open = {
  readonly request: PendingRequest;
  readonly settle: (how: Settled) => void;
  readonly take: RequestHooks['take'];
  readonly policyResult: PolicyResult | undefined;
  readonly elicited: Elicited | undefined;
};

/** An agent may send any number of requests; nobody could answer more than this. */
const MOST_OPEN = 500;
const REPLIES = { accept: 'Answered', decline: 'Declined', cancel: 'Cancelled' } as const;

export function createPendingRequests({ feed, redact, now, row, toolCall, opened, settled }: RequestDeps) {
  const all = new Map<string, Open>();
  const ofSession = (sessionId: string) => [...all.values()].filter(({ request }) => request.sessionId === sessionId);

  /** Shows a request until it is settled. */
  function pose(request: PendingRequest, signal: AbortSignal, hooks: RequestHooks, elicited?: Elicited): Promise<Settled> {
    if (all.size >= MOST_OPEN) return Promise.resolve({ option: undefined, by: undefined });
    return new Promise((resolve) => {
      const settle = (how: Settled) => {
        if (!all.delete(request.requestId)) return;
        signal.removeEventListener('abort', withdrawn);
        const chosen = request.options[how.option ?? -1];
        const name = how.reply ? REPLIES[how.reply.action] : chosen?.name;
        const isUnknown = how.by === ANOTHER_CLIENT;
        const outcome = name ?? (isUnknown ? `answered by ${ANOTHER_CLIENT}` : signal.aborted ? 'withdrawn' : 'cancelled');
        const isAccepted = chosen?.kind.startsWith('allow') === true || how.reply?.action === 'accept';
        feed.publish({ b: 'settled', requestId: request.requestId, outcome, by: how.by });
        settled(request, { outcome, by: how.by, isAccepted: isUnknown ? undefined : isAccepted });
        resolve(how);
      };
      const withdrawn = () => settle({ option: undefined, by: undefined });
      all.set(request.requestId, { request, settle, take: hooks.take, policyResult: hooks.policyResult, elicited });
      hooks.opened?.(request.requestId);
      signal.addEventListener('abort', withdrawn);
      feed.publish({ b: 'request', request });
      opened(request);
      if (signal.aborted) withdrawn();
    });
  }

  return {
    /** A pending request with the policy's result. */
    open: (requestId: string): Pick<Open, 'request' | 'policyResult'> | undefined => all.get(requestId),
    list: (): readonly PendingRequest[] => [...all.values()].map(({ request }) => request),
    isAsking: (sessionId: string): boolean => ofSession(sessionId).length > 0,

    /** Shows a permission request. Resolves to the index of the chosen option, or undefined. */
    ask(sessionId: string, params: Fields, signal: AbortSignal, hooks: RequestHooks = {}): Promise<Settled> {
      const clean = fields(cleanValue(params, redact));
      const asked = fields(clean.toolCall);
      const whole = { ...clean, toolCall: mergeCall(toolCall(sessionId, asked.toolCallId), asked) };
      return pose(requestOf(sessionId, whole, row(sessionId), now(), policyOf(hooks.policyResult, redact)), signal, hooks);
    },
    /** Shows an elicitation. `sessionId` is undefined before a session exists. */
    elicit(sessionId: string | undefined, params: Fields, signal: AbortSignal, hooks: RequestHooks = {}): Promise<Settled> {
      const elicited = readElicitation(params, (value) => neutralise(redact(value)));
      const about = sessionId === undefined ? undefined : row(sessionId);
      const request: PendingRequest = {
        ...{ requestId: randomUUID(), sessionId: sessionId ?? '', toolCallId: text(params.toolCallId) ?? '', toolKind: 'other' },
        ...{ agent: about?.agent ?? '', sessionTitle: about?.title ?? '', cwd: about?.cwd ?? '' },
        ...{ title: elicited.message, content: [], locations: [], options: [], elicitation: elicited.shown, at: now() },
      };
      return pose(request, signal, hooks, elicited);
    },
    /** Whether it was still pending, what is wrong with the values, and the URL to open, if any. */
    reply({ requestId, action, values }: ChatActions['reply']['params'], by: string): ChatActions['reply']['result'] {
      const open = all.get(requestId);
      if (!open?.elicited) return { isFirst: false };
      const filled = action === 'accept' ? open.elicited.accept(values) : {};
      if ('problem' in filled) return { isFirst: true, problem: filled.problem };
      const { content, url } = filled;
      const reply: Reply = { action, ...(content && { content }) };
      if (open.take && !open.take(undefined, reply)) return { isFirst: false };
      open.settle({ option: undefined, by, reply });
      return { isFirst: true, url };
    },
    /** Returns whether it was still pending: the first answer counts. */
    answer(requestId: string, option: number | undefined, by: string): boolean {
      const open = all.get(requestId);
      if (!open || open.elicited || (option !== undefined && !open.request.options[option])) return false;
      if (open.take && !open.take(option, undefined)) return false;
      open.settle({ option, by });
      return true;
    },
    /** It was answered elsewhere. */
    settle(requestId: string, how: Settled): void {
      all.get(requestId)?.settle(how);
    },
    /** The turn is cancelled, so its requests are cancelled too. */
    cancel(sessionId: string, by: string | undefined): void {
      for (const { settle } of ofSession(sessionId)) settle({ option: undefined, by });
    },
    stop(): void {
      for (const { settle } of [...all.values()]) settle({ option: undefined, by: undefined });
    },
  };
}

function policyOf(policyResult: PolicyResult | undefined, redact: Redactor): RequestPolicy | undefined {
  if (!policyResult) return undefined;
  const { isFromPolicy, decision } = policyResult;
  const { verdict, why, rule } = decision;
  const value = { verdict, why, rule: rule && { id: rule.id, file: rule.file, line: rule.line, layer: rule.layer } };
  return { isFromPolicy, ...(cleanValue(value, redact) as typeof value) };
}

function requestOf(
  sessionId: string,
  clean: Fields,
  row: SessionRow | undefined,
  at: number,
  policy: RequestPolicy | undefined,
): PendingRequest {
  const call = toolOf(fields(clean.toolCall));
  const { title, command, options } = describePermission(clean);
  return {
    requestId: randomUUID(),
    sessionId,
    toolCallId: call.toolCallId,
    agent: neutralise(row?.agent ?? ''),
    sessionTitle: row?.title ?? '',
    cwd: neutralise(row?.cwd ?? ''),
    title,
    toolKind: call.toolKind ?? 'other',
    command,
    content: call.content ?? [],
    locations: call.locations ?? [],
    input: call.input,
    policy,
    options: options.map(({ name, kind }) => ({ name, kind })),
    at,
  };
}
