// Everything the console shows, kept here so that a page can come and go: sessions, what was said in them, questions that are open, agents.
// Each change is published with a number.
import { randomUUID } from 'node:crypto';
import type { Redactor } from '../log/redact.ts';
import { type CleanStream, createCleanStream } from './clean-stream.ts';
import { cleanUpdate, cleanValue } from './clean-value.ts';
import { type Accepts, apply, type Conversation, createConversation, type Event, type Role } from './conversation.ts';
import type { Feed } from './feed.ts';
import { neutralise } from './neutralise.ts';
import { chunkOf, eventOf, type Fields, fields, list, optionsOf, text, toolOf } from './read-update.ts';
import type { AgentRow, Board, Question, SessionRow } from './wire.ts';

/** How a question ended: with the option at that place, or with none. `by` is the page that answered. */
export type Settled = { readonly option: number | undefined; readonly by: string | undefined };

export type BoardDeps = {
  readonly feed: Feed;
  readonly redact: Redactor;
  readonly now: () => number;
  readonly version: string;
  readonly cwd: string;
  readonly isBeside: boolean;
  /** Sessions of before and of other processes. */
  readonly stored: () => readonly SessionRow[];
};

type Live = {
  row: SessionRow;
  readonly conversation: Conversation;
  /** Text that is on its way: pieces that come close together go out as one. */
  pending: { readonly role: Role; readonly messageId: string | undefined; text: string } | undefined;
  stream: { readonly key: string; readonly clean: CleanStream } | undefined;
};

export type Opened = {
  readonly cwd: string;
  readonly agent: string;
  readonly accepts: Accepts;
  readonly isEditors?: boolean | undefined;
};

type Open = { readonly question: Question; readonly settle: (how: Settled) => void; readonly take: QuestionHooks['take'] };

export type QuestionHooks = {
  readonly opened?: (questionId: string) => void;
  /** A page wants to answer it; false when somebody else was first. */
  readonly take?: ((option: number | undefined) => boolean) | undefined;
};

export type BoardKeeper = ReturnType<typeof createBoard>;

const TEXT_EVERY_MS = 25;

export function createBoard({ feed, redact, now, version, cwd, isBeside, stored }: BoardDeps) {
  const live = new Map<string, Live>();
  const questions = new Map<string, Open>();
  const waiting = new Set<Live>();
  let agents: readonly AgentRow[] = [];
  let known = new Map<string, SessionRow>();
  let timer: NodeJS.Timeout | undefined;

  function tell(session: Live, event: Event): void {
    apply(session.conversation, event);
    feed.publish(event, session.row.sessionId);
  }
  function changeRow(session: Live, news: Partial<SessionRow>): void {
    session.row = { ...session.row, ...news };
    feed.publish({ b: 'session', row: session.row });
  }
  function stateOf({ row, conversation }: Live): SessionRow['state'] {
    const isAsking = [...questions.values()].some(({ question }) => question.sessionId === row.sessionId);
    return isAsking ? 'asking' : conversation.isRunning ? 'running' : 'idle';
  }
  function noteState(session: Live): void {
    const state = stateOf(session);
    if (state !== session.row.state) changeRow(session, { state, at: now() });
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const session of waiting) sayPending(session);
    waiting.clear();
  }
  function sayPending(session: Live): void {
    const { pending } = session;
    if (!pending) return;
    session.pending = undefined;
    const key = `${pending.role}\n${pending.messageId ?? ''}`;
    if (session.stream?.key !== key) session.stream = { key, clean: createCleanStream(redact) };
    const { drop, text: words } = session.stream.clean.push(pending.text);
    const { role, messageId } = pending;
    if (drop > 0 || words !== '') tell(session, { e: 'text', role, messageId, text: words, ...(drop > 0 && { drop }) });
  }
  /** Anything but text ends the message that is being told. */
  function other(session: Live, event: Event): void {
    sayPending(session);
    session.stream = undefined;
    tell(session, event);
  }

  const self = {
    snapshot(): Board {
      flush();
      self.refresh();
      const rows = new Map([...known, ...[...live].map(([id, { row }]) => [id, row] as const)]);
      return {
        version,
        cwd,
        isBeside,
        agents,
        sessions: [...rows.values()],
        questions: [...questions.values()].map(({ question }) => question),
      };
    },
    conversation(sessionId: string): Conversation | undefined {
      flush();
      return live.get(sessionId)?.conversation;
    },
    row: (sessionId: string): SessionRow | undefined => live.get(sessionId)?.row ?? known.get(sessionId),
    isLive: (sessionId: string): boolean => live.has(sessionId),

    /** Looks for sessions of other processes, and says what is new. */
    refresh(): void {
      const before = known;
      known = new Map(stored().map((row) => [row.sessionId, row]));
      for (const [id, row] of known) if (!live.has(id) && before.get(id)?.at !== row.at) feed.publish({ b: 'session', row });
    },
    agentsAre(rows: readonly AgentRow[]): void {
      if (JSON.stringify(rows) === JSON.stringify(agents)) return;
      agents = rows;
      feed.publish({ b: 'agents', agents });
    },
    agents: () => agents,

    /** A session is open in this process; `answer` is what the agent said to that. */
    opened(sessionId: string, about: Opened, answer: Fields): void {
      const before = self.row(sessionId);
      const session: Live = live.get(sessionId) ?? {
        row: {
          sessionId,
          agent: about.agent,
          title: before?.title ?? '',
          cwd: about.cwd,
          state: 'idle',
          turns: before?.turns ?? 0,
          at: now(),
        },
        conversation: createConversation(sessionId),
        pending: undefined,
        stream: undefined,
      };
      // A page may show it as it was written down; it is told from the beginning now.
      if (!live.has(sessionId)) tell(session, { e: 'reset' });
      live.set(sessionId, session);
      changeRow(session, { agent: about.agent, cwd: about.cwd, isEditors: about.isEditors, state: stateOf(session), at: now() });
      tell(session, { e: 'accepts', accepts: about.accepts });
      self.options(sessionId, answer);
    },
    options(sessionId: string, answer: Fields): void {
      const session = live.get(sessionId);
      if (!session) return;
      tell(session, { e: 'options', options: optionsOf(fields(cleanValue(answer, redact))) });
      const agent = list(answer.configOptions)
        .map(fields)
        .find(({ category }) => category === '_agent');
      if (agent && typeof agent.currentValue === 'string' && agent.currentValue !== session.row.agent)
        changeRow(session, { agent: agent.currentValue });
    },
    accepts(sessionId: string, accepts: Accepts): void {
      const session = live.get(sessionId);
      if (session) tell(session, { e: 'accepts', accepts });
    },
    update(sessionId: string, update: Fields): void {
      const session = live.get(sessionId);
      if (!session) return;
      const chunk = chunkOf(update);
      if (chunk) {
        const { pending } = session;
        if (pending && (pending.role !== chunk.role || pending.messageId !== chunk.messageId)) sayPending(session);
        if (session.pending) session.pending.text += chunk.text;
        else session.pending = { ...chunk };
        waiting.add(session);
        timer ??= setTimeout(flush, TEXT_EVERY_MS);
        return;
      }
      const clean = cleanUpdate(update, redact);
      if (clean.sessionUpdate === 'session_info_update') {
        const title = text(clean.title);
        if (title !== undefined) changeRow(session, { title });
        return;
      }
      const event = eventOf(clean);
      if (!event) return;
      other(session, event);
      if (event.e === 'usage') changeRow(session, { used: event.usage.used, size: event.usage.size, cost: event.usage.cost });
    },
    event(sessionId: string, event: Event): void {
      const session = live.get(sessionId);
      if (!session) return;
      other(session, event);
      if (event.e === 'prompt') {
        const isFirst = session.row.title === '';
        changeRow(session, { state: stateOf(session), at: now(), ...(isFirst && { title: titleOf(event.text) }) });
      }
      if (event.e === 'end')
        changeRow(session, { state: stateOf(session), turns: session.row.turns + 1, stopReason: event.stopReason ?? 'error', at: now() });
    },
    /** Told anew from the beginning; what is set in the session stays. */
    retell(sessionId: string, events: readonly Event[]): void {
      const session = live.get(sessionId);
      if (!session) return;
      const { isRunning, commands, options, accepts, usage } = session.conversation;
      const kept: Event[] = [
        { e: 'commands', commands },
        { e: 'options', options },
        { e: 'accepts', accepts },
      ];
      other(session, { e: 'reset' });
      for (const event of [...events, ...kept, ...(usage ? [{ e: 'usage' as const, usage }] : [])]) tell(session, event);
      // Ends of turns may stand in what was told; the turn that runs goes on.
      if (session.conversation.isRunning !== isRunning) tell(session, { e: 'running', isRunning });
    },
    /** Something of before: nothing of it is news. */
    replay(sessionId: string, event: Event): void {
      const session = live.get(sessionId);
      if (session) other(session, event);
    },
    closed(sessionId: string): void {
      const session = live.get(sessionId);
      if (!session) return;
      live.delete(sessionId);
      feed.publish({ b: 'session', row: { ...session.row, state: 'stored' } });
    },

    /** Puts a permission question to whoever looks on. Resolves to the place of the option, or undefined for none. */
    ask(sessionId: string, params: Fields, signal: AbortSignal, hooks: QuestionHooks = {}): Promise<Settled> {
      const session = live.get(sessionId);
      const clean = fields(cleanValue(params, redact));
      const call = toolOf(fields(clean.toolCall));
      const question: Question = {
        questionId: randomUUID(),
        sessionId,
        toolCallId: call.toolCallId,
        agent: session?.row.agent ?? '',
        sessionTitle: session?.row.title ?? '',
        cwd: session?.row.cwd ?? '',
        title: call.title ?? 'The agent asks for permission',
        toolKind: call.toolKind ?? 'other',
        command: commandOf(fields(fields(clean.toolCall).rawInput)),
        content: call.content ?? [],
        locations: call.locations ?? [],
        input: call.input,
        why: text(fields(fields(clean._meta)['acp-switchboard']).why),
        options: list(clean.options).map((option) => {
          const { name, kind } = fields(option);
          return { name: text(name) ?? '', kind: text(kind) ?? '' };
        }),
        at: now(),
      };
      return new Promise((resolve) => {
        const settle = (how: Settled) => {
          if (!questions.delete(question.questionId)) return;
          signal.removeEventListener('abort', withdrawn);
          const name = how.option === undefined ? undefined : question.options[how.option]?.name;
          const outcome = name ?? (signal.aborted ? 'withdrawn' : 'cancelled');
          feed.publish({ b: 'settled', questionId: question.questionId, outcome, by: how.by });
          if (session) {
            other(session, {
              e: 'decision',
              title: question.title,
              outcome,
              by: how.by === undefined ? 'nobody' : how.by === 'editor' ? 'the editor' : 'you',
            });
            noteState(session);
          }
          resolve(how);
        };
        const withdrawn = () => settle({ option: undefined, by: undefined });
        questions.set(question.questionId, { question, settle, take: hooks.take });
        hooks.opened?.(question.questionId);
        signal.addEventListener('abort', withdrawn);
        feed.publish({ b: 'question', question });
        if (session) noteState(session);
        if (signal.aborted) withdrawn();
      });
    },
    /** Whether the question was still open: the first answer counts. */
    answer(questionId: string, option: number | undefined, by: string): boolean {
      const open = questions.get(questionId);
      if (!open || (option !== undefined && !open.question.options[option])) return false;
      if (open.take && !open.take(option)) return false;
      open.settle({ option, by });
      return true;
    },
    /** It was answered somewhere else. */
    settle(questionId: string, how: Settled): void {
      questions.get(questionId)?.settle(how);
    },
    /** The turn is being cancelled: what it has asked is answered with that. */
    cancelQuestions(sessionId: string, by: string | undefined): void {
      for (const { question, settle } of [...questions.values()]) if (question.sessionId === sessionId) settle({ option: undefined, by });
    },
    stop(): void {
      clearTimeout(timer);
      for (const { settle } of [...questions.values()]) settle({ option: undefined, by: undefined });
    },
  };
  return self;
}

function titleOf(words: string): string {
  const line = neutralise(words).replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

/** The command as it would be run, where the agent tells. */
function commandOf({ command, args }: Fields): string | undefined {
  if (Array.isArray(command)) return command.map(String).map(quoted).join(' ');
  if (typeof command !== 'string') return undefined;
  return Array.isArray(args) ? [command, ...args.map(String)].map(quoted).join(' ') : command;
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
