// Permission questions and elicitations that are open. The first answer counts, wherever it comes from.
import { randomUUID } from 'node:crypto';
import { fields } from '../../json-object.ts';
import type { Action } from '../../policy/actions/action.ts';
import type { Decision } from '../../policy/decide.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { ChatActions } from '../protocol/chat.ts';
import type { Elicitation, Question, QuestionPolicy, SessionRow } from '../protocol/state.ts';
import { cleanValue, neutralise } from './clean-text.ts';
import type { Feed } from './feed.ts';
import { readForm } from './form-schema.ts';
import { type Fields, list, shown, text, toolOf } from './read-update.ts';

// An elicitation of an agent's, as it is shown and as it is answered.
type Values = Parameters<NonNullable<ReturnType<typeof readForm>>['answer']>[0];

export type Elicited = {
  readonly message: string;
  readonly shown: Elicitation;
  /** What a yes brings: content for the agent, an address for the page. */
  accept(values: Values): { readonly content?: Fields; readonly url?: string } | { readonly problem: string };
};

const CANNOT = { problem: 'this cannot be answered here; decline it' };

export function readElicitation(params: Fields, clean: (words: string) => string): Elicited {
  const message = clean(text(params.message) ?? 'The agent asks for something');
  const { mode, url } = params;
  if (mode === 'url' && typeof url === 'string') {
    const address = URL.canParse(url) ? new URL(url) : undefined;
    // Anything else would not go to a place but do something here.
    if (address && /^https?:$/.test(address.protocol))
      return {
        message,
        shown: { mode: 'url', url: clean(url), host: clean(address.host) },
        // Hidden parts of it are hidden from whoever looks on, and belong to it all the same.
        accept: () => ({ url }),
      };
  }
  const form = mode === 'form' ? readForm(params.requestedSchema, clean) : undefined;
  if (form) return { message, shown: { mode: 'form', fields: form.fields }, accept: form.answer };
  const asked = clean(shown(mode === 'form' ? params.requestedSchema : (url ?? mode)) ?? '');
  return { message, shown: { mode: 'other', text: asked }, accept: () => CANNOT };
}

/** How a question ended: with the option at that place, or with none. `by` is the page that answered. */
export type Settled = { readonly option: number | undefined; readonly by: string | undefined; readonly reply?: Reply | undefined };

/** The answer to an elicitation. */
export type Reply = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Fields | undefined };

/** What our own policy has said of a question. Nothing that the question itself says of that is taken for true: an agent words it. */
export type Judged = { readonly asked: Action; readonly decision: Decision; readonly isOurs: boolean };

export type QuestionHooks = {
  readonly judged?: Judged | undefined;
  readonly opened?: (questionId: string) => void;
  /** A page wants to answer it; false when somebody else was first. */
  readonly take?: ((option: number | undefined, reply: Reply | undefined) => boolean) | undefined;
};

export type QuestionDeps = {
  readonly feed: Feed;
  readonly redact: Redactor;
  readonly now: () => number;
  readonly row: (sessionId: string) => SessionRow | undefined;
  /** One has come. */
  readonly asked: (question: Question) => void;
  readonly settled: (
    question: Question,
    how: { readonly outcome: string; readonly by: string | undefined; readonly isYes: boolean },
  ) => void;
};

type Open = {
  readonly question: Question;
  readonly settle: (how: Settled) => void;
  readonly take: QuestionHooks['take'];
  readonly judged: Judged | undefined;
  readonly elicited: Elicited | undefined;
};

/** An agent may ask as often as it likes; nobody would get to the end of more. */
const MOST_OPEN = 500;
const REPLIES = { accept: 'Answered', decline: 'Declined', cancel: 'Cancelled' } as const;

export function createQuestions({ feed, redact, now, row, asked, settled }: QuestionDeps) {
  const all = new Map<string, Open>();
  const ofSession = (sessionId: string) => [...all.values()].filter(({ question }) => question.sessionId === sessionId);

  /** To whoever looks on, until it is settled. */
  function pose(question: Question, signal: AbortSignal, hooks: QuestionHooks, elicited?: Elicited): Promise<Settled> {
    if (all.size >= MOST_OPEN) return Promise.resolve({ option: undefined, by: undefined });
    return new Promise((resolve) => {
      const settle = (how: Settled) => {
        if (!all.delete(question.questionId)) return;
        signal.removeEventListener('abort', withdrawn);
        const chosen = question.options[how.option ?? -1];
        const name = how.reply ? REPLIES[how.reply.action] : chosen?.name;
        const outcome = name ?? (signal.aborted ? 'withdrawn' : 'cancelled');
        feed.publish({ b: 'settled', questionId: question.questionId, outcome, by: how.by });
        settled(question, { outcome, by: how.by, isYes: chosen?.kind.startsWith('allow') === true || how.reply?.action === 'accept' });
        resolve(how);
      };
      const withdrawn = () => settle({ option: undefined, by: undefined });
      all.set(question.questionId, { question, settle, take: hooks.take, judged: hooks.judged, elicited });
      hooks.opened?.(question.questionId);
      signal.addEventListener('abort', withdrawn);
      feed.publish({ b: 'question', question });
      asked(question);
      if (signal.aborted) withdrawn();
    });
  }

  return {
    /** One that is open, and what the policy has said of it. */
    open: (questionId: string): Pick<Open, 'question' | 'judged'> | undefined => all.get(questionId),
    list: (): readonly Question[] => [...all.values()].map(({ question }) => question),
    isAsking: (sessionId: string): boolean => ofSession(sessionId).length > 0,

    /** Puts a permission question to whoever looks on. Resolves to the place of the option, or undefined for none. */
    ask(sessionId: string, params: Fields, signal: AbortSignal, hooks: QuestionHooks = {}): Promise<Settled> {
      const clean = fields(cleanValue(params, redact));
      return pose(questionOf(sessionId, clean, row(sessionId), now(), policyOf(hooks.judged, redact)), signal, hooks);
    },
    /** Likewise something that an agent wants to know. `sessionId` is undefined before there is a session. */
    elicit(sessionId: string | undefined, params: Fields, signal: AbortSignal, hooks: QuestionHooks = {}): Promise<Settled> {
      const elicited = readElicitation(params, (words) => neutralise(redact(words)));
      const about = sessionId === undefined ? undefined : row(sessionId);
      const question: Question = {
        ...{ questionId: randomUUID(), sessionId: sessionId ?? '', toolCallId: text(params.toolCallId) ?? '', toolKind: 'other' },
        ...{ agent: about?.agent ?? '', sessionTitle: about?.title ?? '', cwd: about?.cwd ?? '' },
        ...{ title: elicited.message, content: [], locations: [], options: [], elicitation: elicited.shown, at: now() },
      };
      return pose(question, signal, hooks, elicited);
    },
    /** Whether it was still open, what is wrong with the answer, and the address to open where there is one. */
    reply({ questionId, action, values }: ChatActions['reply']['give'], by: string): ChatActions['reply']['get'] {
      const open = all.get(questionId);
      if (!open?.elicited) return { isFirst: false };
      const filled = action === 'accept' ? open.elicited.accept(values) : {};
      if ('problem' in filled) return { isFirst: true, problem: filled.problem };
      const { content, url } = filled;
      const reply: Reply = { action, ...(content && { content }) };
      if (open.take && !open.take(undefined, reply)) return { isFirst: false };
      open.settle({ option: undefined, by, reply });
      return { isFirst: true, url };
    },
    /** Whether the question was still open: the first answer counts. */
    answer(questionId: string, option: number | undefined, by: string): boolean {
      const open = all.get(questionId);
      if (!open || open.elicited || (option !== undefined && !open.question.options[option])) return false;
      if (open.take && !open.take(option, undefined)) return false;
      open.settle({ option, by });
      return true;
    },
    /** It was answered somewhere else. */
    settle(questionId: string, how: Settled): void {
      all.get(questionId)?.settle(how);
    },
    /** The turn is being cancelled: what it has asked is answered with that. */
    cancel(sessionId: string, by: string | undefined): void {
      for (const { settle } of ofSession(sessionId)) settle({ option: undefined, by });
    },
    stop(): void {
      for (const { settle } of [...all.values()]) settle({ option: undefined, by: undefined });
    },
  };
}

function policyOf(judged: Judged | undefined, redact: Redactor): QuestionPolicy | undefined {
  if (!judged) return undefined;
  const { isOurs, decision } = judged;
  const { verdict, why, rule } = decision;
  const words = { verdict, why, rule: rule && { id: rule.id, file: rule.file, line: rule.line, layer: rule.layer } };
  return { isOurs, ...(cleanValue(words, redact) as typeof words) };
}

function questionOf(
  sessionId: string,
  clean: Fields,
  row: SessionRow | undefined,
  at: number,
  policy: QuestionPolicy | undefined,
): Question {
  const call = toolOf(fields(clean.toolCall));
  return {
    questionId: randomUUID(),
    sessionId,
    toolCallId: call.toolCallId,
    agent: neutralise(row?.agent ?? ''),
    sessionTitle: row?.title ?? '',
    cwd: neutralise(row?.cwd ?? ''),
    title: call.title ?? 'The agent asks for permission',
    toolKind: call.toolKind ?? 'other',
    command: commandOf(fields(fields(clean.toolCall).rawInput)),
    content: call.content ?? [],
    locations: call.locations ?? [],
    input: call.input,
    policy,
    options: list(clean.options).map((option) => {
      const { name, kind } = fields(option);
      return { name: text(name) ?? '', kind: text(kind) ?? '' };
    }),
    at,
  };
}

/** The command as it would be run, where the agent tells. */
function commandOf({ command, args }: Fields): string | undefined {
  if (Array.isArray(command)) return command.map(String).map(quoted).join(' ');
  if (typeof command !== 'string') return undefined;
  return Array.isArray(args) ? [command, ...args.map(String)].map(quoted).join(' ') : command;
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
