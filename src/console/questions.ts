// Permission questions that are open. The first answer counts, wherever it comes from.
import { randomUUID } from 'node:crypto';
import type { Redactor } from '../log/redact.ts';
import type { Asked } from '../policy/asked.ts';
import type { Decision } from '../policy/decide.ts';
import { cleanValue } from './clean-value.ts';
import type { Feed } from './feed.ts';
import { neutralise } from './neutralise.ts';
import { type Fields, fields, list, text, toolOf } from './read-update.ts';
import type { Question, QuestionPolicy, SessionRow } from './wire/board.ts';

/** How a question ended: with the option at that place, or with none. `by` is the page that answered. */
export type Settled = { readonly option: number | undefined; readonly by: string | undefined };

/** What our own policy has said of a question. Nothing that the question itself says of that is taken for true: an agent words it. */
export type Judged = { readonly asked: Asked; readonly decision: Decision; readonly isOurs: boolean };

export type QuestionHooks = {
  readonly judged?: Judged | undefined;
  readonly opened?: (questionId: string) => void;
  /** A page wants to answer it; false when somebody else was first. */
  readonly take?: ((option: number | undefined) => boolean) | undefined;
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
};

export function createQuestions({ feed, redact, now, row, asked, settled }: QuestionDeps) {
  const all = new Map<string, Open>();
  const ofSession = (sessionId: string) => [...all.values()].filter(({ question }) => question.sessionId === sessionId);

  return {
    /** One that is open, and what the policy has said of it. */
    open: (questionId: string): Pick<Open, 'question' | 'judged'> | undefined => all.get(questionId),
    list: (): readonly Question[] => [...all.values()].map(({ question }) => question),
    isAsking: (sessionId: string): boolean => ofSession(sessionId).length > 0,

    /** Puts a permission question to whoever looks on. Resolves to the place of the option, or undefined for none. */
    ask(sessionId: string, params: Fields, signal: AbortSignal, hooks: QuestionHooks = {}): Promise<Settled> {
      const question = questionOf(sessionId, fields(cleanValue(params, redact)), row(sessionId), now(), policyOf(hooks.judged, redact));
      return new Promise((resolve) => {
        const settle = (how: Settled) => {
          if (!all.delete(question.questionId)) return;
          signal.removeEventListener('abort', withdrawn);
          const chosen = how.option === undefined ? undefined : question.options[how.option];
          const outcome = chosen?.name ?? (signal.aborted ? 'withdrawn' : 'cancelled');
          feed.publish({ b: 'settled', questionId: question.questionId, outcome, by: how.by });
          settled(question, { outcome, by: how.by, isYes: chosen?.kind.startsWith('allow') === true });
          resolve(how);
        };
        const withdrawn = () => settle({ option: undefined, by: undefined });
        all.set(question.questionId, { question, settle, take: hooks.take, judged: hooks.judged });
        hooks.opened?.(question.questionId);
        signal.addEventListener('abort', withdrawn);
        feed.publish({ b: 'question', question });
        asked(question);
        if (signal.aborted) withdrawn();
      });
    },
    /** Whether the question was still open: the first answer counts. */
    answer(questionId: string, option: number | undefined, by: string): boolean {
      const open = all.get(questionId);
      if (!open || (option !== undefined && !open.question.options[option])) return false;
      if (open.take && !open.take(option)) return false;
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
