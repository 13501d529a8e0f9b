// All state the console shows, so that pages can come and go: sessions, conversations, pending requests, agents. Publishes every change
// with a number.

import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { apply, continuedBy, isMeant } from '../protocol/apply-event.ts';
import { type Accepts, type Conversation, createConversation, type Event } from '../protocol/conversation.ts';
import type { AgentRow, ConsoleState, SessionRow } from '../protocol/state.ts';
import { cleanUpdate, cleanValue } from './clean-text.ts';
import type { Feed } from './feed.ts';
import { ANOTHER_CLIENT, createPendingRequests } from './pending-requests.ts';
import { chunkOf, eventOf, type Fields, isPlaceholder, type SummaryChunk, summaryChunkOf, text, withPrints } from './read-update.ts';
import { agentIn, optionsOf } from './session-options.ts';
import { type CleanStream, createCleanStream, createTextStream, type TextStream } from './text-stream.ts';
import { noteCall } from './tool-calls.ts';

export type StateDeps = {
  readonly feed: Feed;
  readonly redact: Redactor;
  readonly now: () => number;
  readonly version: string;
  readonly cwd: string;
  readonly servers: readonly string[];
  /** Sessions of earlier and other processes. */
  readonly stored: () => readonly SessionRow[];
};

type Live = {
  row: SessionRow;
  readonly conversation: Conversation;
  readonly textStream: TextStream;
  /** The compaction summary in progress. */
  summary: { readonly compactionId: string; readonly clean: CleanStream } | undefined;
  /** What updates said about tool calls that are not finished: a permission request may have only the id. */
  readonly calls: Map<string, Fields>;
  /** The agent repeats the conversation, so the time of its messages is unknown. */
  isReplaying: boolean;
};

export type Opened = {
  readonly cwd: string;
  readonly agent: string;
  readonly accepts: Accepts;
  readonly isFromClient?: boolean | undefined;
};

export type StateKeeper = ReturnType<typeof createState>;

const TEXT_EVERY_MS = 25;

export function createState({ feed, redact, now, version, cwd, servers, stored }: StateDeps) {
  const live = new Map<string, Live>();
  const requests = createPendingRequests({
    feed,
    redact,
    now,
    row: (sessionId) => live.get(sessionId)?.row,
    toolCall: (sessionId, toolCallId) => live.get(sessionId)?.calls.get(toolCallId as string),
    opened({ sessionId }) {
      const session = live.get(sessionId);
      if (session) noteState(session);
    },
    settled({ sessionId, title }, { outcome, by, isAccepted }) {
      const session = live.get(sessionId);
      if (!session) return;
      const actor = by === undefined ? 'nobody' : by === 'client' ? 'the editor' : by === ANOTHER_CLIENT ? by : 'you';
      other(session, { e: 'decision', title, outcome, by: actor, isAccepted });
      noteState(session);
    },
  });
  const waiting = new Set<Live>();
  let agents: readonly AgentRow[] = [];
  let known = new Map<string, SessionRow>();
  let timer: NodeJS.Timeout | undefined;

  function begin(row: SessionRow): Live {
    const session: Live = {
      row,
      conversation: createConversation(row.sessionId),
      textStream: createTextStream(redact, (event) => publish(session, event)),
      summary: undefined,
      calls: new Map(),
      isReplaying: false,
    };
    return session;
  }
  function publish(session: Live, incoming: Event): void {
    const event = session.isReplaying ? incoming : timed(session, incoming);
    apply(session.conversation, event);
    feed.publish(event, session.row.sessionId);
  }
  function timed({ conversation }: Live, event: Event): Event {
    if (!('e' in event) || 'at' in event) return event;
    const isBegin = event.e === 'text' ? continuedBy(conversation, event) === undefined : ['block', 'prompt', 'end'].includes(event.e);
    return isBegin ? ({ ...event, at: now() } as Event) : event;
  }
  function changeRow(session: Live, news: Partial<SessionRow>): void {
    session.row = { ...session.row, ...news };
    publishRow(session.row);
  }
  const clean = (value: string) => neutralise(redact(value));
  const publishRow = (row: SessionRow) => feed.publish({ b: 'session', row: shownRow(row) });
  function stateOf({ row, conversation }: Live): SessionRow['state'] {
    return requests.isAsking(row.sessionId) ? 'asking' : conversation.isRunning ? 'running' : 'idle';
  }
  function noteState(session: Live): void {
    const state = stateOf(session);
    if (state !== session.row.state) changeRow(session, { state, at: now() });
  }
  /** The session may have moved to another agent: by the option, or by `/agent`, which only an update reveals. */
  function noteAgent(session: Live, incoming: Fields): void {
    const agent = agentIn(incoming);
    if (agent !== undefined && agent !== session.row.agent) changeRow(session, { agent });
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const { textStream } of waiting) textStream.flush();
    waiting.clear();
  }
  /** Any event but text ends the current message. */
  function other(session: Live, event: Event): void {
    session.textStream.end();
    publish(session, event);
  }

  /** Cleaned as a stream, like messages: a secret may span two chunks. */
  function summarise(session: Live, { compactionId, text: chunk }: SummaryChunk): void {
    if (session.summary?.compactionId !== compactionId) session.summary = { compactionId, clean: createCleanStream(redact) };
    const { drop, text: summary } = session.summary.clean.push(chunk);
    other(session, { e: 'compaction', compactionId, summary, isMore: true, ...(drop > 0 && { drop }) });
  }

  const self = {
    snapshot(): ConsoleState {
      flush();
      self.refresh();
      const rows = new Map([...known, ...[...live].map(([id, { row }]) => [id, row] as const)]);
      return {
        version,
        cwd,
        servers,
        agents,
        sessions: [...rows.values()].map(shownRow),
        requests: requests.list(),
      };
    },
    conversation(sessionId: string): Conversation | undefined {
      flush();
      return live.get(sessionId)?.conversation;
    },
    row: (sessionId: string): SessionRow | undefined => live.get(sessionId)?.row ?? known.get(sessionId),
    isLive: (sessionId: string): boolean => live.has(sessionId),

    /** Reads sessions of other processes and publishes changes. */
    refresh(): void {
      const before = known;
      known = new Map(stored().map((row) => [row.sessionId, row]));
      for (const id of before.keys()) if (!known.has(id) && !live.has(id)) feed.publish({ b: 'deleted', sessionId: id });
      for (const [id, row] of known) if (!live.has(id) && isOther(before.get(id), row)) publishRow(row);
    },
    setAgents(rows: readonly AgentRow[]): void {
      if (JSON.stringify(rows) === JSON.stringify(agents)) return;
      agents = rows;
      feed.publish({ b: 'agents', agents });
    },
    agents: () => agents,

    /** A session was opened in this process; `answer` is the agent's response. */
    opened(sessionId: string, about: Opened, answer: Fields): void {
      const before = self.row(sessionId);
      const { agent, cwd: directory, accepts, isFromClient } = about;
      const session: Live =
        live.get(sessionId) ??
        begin({ sessionId, agent, title: before?.title ?? '', cwd: directory, state: 'idle', turns: before?.turns ?? 0, at: now() });
      // A page may show the stored transcript; replace it.
      if (!live.has(sessionId)) publish(session, { e: 'reset' });
      live.set(sessionId, session);
      changeRow(session, { agent, cwd: directory, isFromClient, state: stateOf(session), at: now() });
      publish(session, { e: 'accepts', accepts });
      self.options(sessionId, answer);
    },
    options(sessionId: string, answer: Fields): void {
      const session = live.get(sessionId);
      if (!session) return;
      // Another agent has other modes.
      const hasMoved = (agentIn(answer) ?? session.row.agent) !== session.row.agent;
      const before = hasMoved ? [] : session.conversation.options;
      other(session, { e: 'options', options: optionsOf(fields(cleanValue(answer, redact)), before) });
      noteAgent(session, answer);
    },
    accepts(sessionId: string, accepts: Accepts): void {
      const session = live.get(sessionId);
      if (session) publish(session, { e: 'accepts', accepts });
    },
    update(sessionId: string, update: Fields): void {
      const session = live.get(sessionId);
      if (!session) return;
      const chunk = chunkOf(update);
      if (chunk) {
        if (isPlaceholder(chunk)) return;
        session.textStream.add(chunk);
        waiting.add(session);
        timer ??= setTimeout(flush, TEXT_EVERY_MS);
        return;
      }
      const more = summaryChunkOf(update);
      if (more) return summarise(session, more);
      const cleaned = cleanUpdate(update, redact);
      if (cleaned.sessionUpdate === 'session_info_update') {
        const title = cleaned.title === null ? '' : text(cleaned.title);
        if (title !== undefined) changeRow(session, { title });
        return;
      }
      if (cleaned.sessionUpdate === 'tool_call' || cleaned.sessionUpdate === 'tool_call_update') noteCall(session.calls, cleaned);
      if (cleaned.sessionUpdate === 'config_option_update') return self.options(sessionId, update);
      const incoming = eventOf(cleaned);
      if (!incoming) return;
      const event = withPrints(incoming, update);
      other(session, event);
      if (event.e === 'option') {
        const option = session.conversation.options.find((one) => isMeant(one, event));
        const name = option?.type === 'select' ? option.choices.find(({ value }) => value === event.value)?.name : undefined;
        other(session, { e: 'note', text: `${option?.name ?? 'Mode'}: ${name ?? String(event.value)}` });
      }
      if (event.e === 'usage') changeRow(session, { used: event.usage.used, size: event.usage.size, cost: event.usage.cost });
    },
    /** Updates with which the agent repeats the conversation of a session that was just opened. */
    repeated(sessionId: string, updates: readonly Fields[]): void {
      const session = live.get(sessionId);
      if (!session) return;
      session.isReplaying = true;
      for (const update of updates) self.update(sessionId, update);
      session.textStream.end();
      session.isReplaying = false;
    },
    event(sessionId: string, incoming: Event): void {
      const session = live.get(sessionId);
      if (!session) return;
      // The agent chooses the stop reason; it may be any text.
      const event =
        incoming.e === 'end' && incoming.stopReason !== undefined ? { ...incoming, stopReason: clean(incoming.stopReason) } : incoming;
      other(session, event);
      if (event.e === 'prompt') {
        const isFirst = session.row.title === '';
        changeRow(session, { state: stateOf(session), at: now(), ...(isFirst && { title: titleOf(event.text) }) });
      }
      if (event.e === 'running') noteState(session);
      if (event.e === 'end')
        changeRow(session, { state: stateOf(session), turns: session.row.turns + 1, stopReason: event.stopReason ?? 'error', at: now() });
    },
    /** Replaces the conversation but keeps the session's settings. */
    replaceHistory(sessionId: string, events: readonly Event[]): void {
      const session = live.get(sessionId);
      if (!session) return;
      const { isRunning, commands, options, accepts, usage } = session.conversation;
      const kept: Event[] = [
        { e: 'commands', commands },
        { e: 'options', options },
        { e: 'accepts', accepts },
      ];
      other(session, { e: 'reset' });
      for (const event of [...events, ...kept, ...(usage ? [{ e: 'usage' as const, usage }] : [])]) publish(session, event);
      // The history may contain ends of turns, but the current turn still runs.
      if (session.conversation.isRunning !== isRunning) publish(session, { e: 'running', isRunning });
    },
    /** Adds an event from a transcript: no row changes. */
    replay(sessionId: string, event: Event): void {
      const session = live.get(sessionId);
      if (session) other(session, event);
    },
    setTitle(sessionId: string, title: string): void {
      const session = live.get(sessionId);
      if (session) changeRow(session, { title: clean(title) });
    },
    /** The session was deleted, here or in its records. */
    deleted(sessionId: string): void {
      live.delete(sessionId);
      known.delete(sessionId);
      feed.publish({ b: 'deleted', sessionId });
    },
    closed(sessionId: string): void {
      const session = live.get(sessionId);
      if (!session) return;
      live.delete(sessionId);
      // Until the next refresh: it may be reopened at once.
      const row: SessionRow = { ...session.row, state: 'stored' };
      known.set(sessionId, row);
      publishRow(row);
    },

    ask: requests.ask,
    elicit: requests.elicit,
    reply: requests.reply,
    answer: requests.answer,
    openRequest: requests.open,
    settle: requests.settle,
    cancelRequests: requests.cancel,
    stop(): void {
      clearTimeout(timer);
      requests.stop();
    },
  };
  return self;
}

const isOther = (before: SessionRow | undefined, row: SessionRow): boolean => before?.at !== row.at || before.state !== row.state;

/** A directory may have any name. The id stays as it is: pages use it as a key and clean it for display. */
function shownRow(row: SessionRow): SessionRow {
  return {
    ...row,
    agent: neutralise(row.agent),
    cwd: neutralise(row.cwd),
    title: neutralise(row.title),
    stopReason: row.stopReason && neutralise(row.stopReason),
  };
}

function titleOf(prompt: string): string {
  const line = neutralise(prompt).replace(/\s+/g, ' ').trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
