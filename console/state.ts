// The page's state. Messages are applied once per animation frame, however many arrived.
import { batch, computed, type Signal, signal } from '@preact/signals';
import { apply } from '../src/console/protocol/apply-event.ts';
import type { Conversation, Event } from '../src/console/protocol/conversation.ts';
import type { FromServer } from '../src/console/protocol/messages.ts';
import type { AgentRow, PendingRequest, SessionRow, StateEvent } from '../src/console/protocol/state.ts';
import { ask, deliver, pageId } from './socket.ts';

export const version = signal('');
export const cwd = signal('');
/** Names of the configured MCP servers. */
export const configured = signal<readonly string[]>([]);
export const agents = signal<readonly AgentRow[]>([]);
export const sessions = signal<ReadonlyMap<string, SessionRow>>(new Map());
export const requests = signal<readonly PendingRequest[]>([]);
/** Recent outcomes of requests that this page has shown. */
export const settled = signal<
  readonly {
    readonly request: PendingRequest;
    readonly outcome: string;
    readonly isElsewhere: boolean;
    readonly answeredBy: string | undefined;
  }[]
>([]);
export const isReady = signal(false);
export const newestFirst = computed(() => [...sessions.value.values()].sort((a, b) => b.at - a.at));

/** A conversation on screen. The signals count changes: of the list, of each item, of the rest. */
export type Shown = {
  readonly conversation: Conversation;
  readonly list: Signal<number>;
  readonly around: Signal<number>;
  item(id: number): Signal<number>;
};

type Kept = Shown & { seq: number; readonly items: Map<number, Signal<number>> };
const shown = new Map<string, Kept>();
/** Counts loaded conversations. */
export const arrived = signal(0);
let epoch: string | undefined;
let seq = 0;

export const position = () => ({
  ...(epoch !== undefined && { epoch, since: seq }),
  sessions: [...shown.keys()],
});

export function conversation(sessionId: string): Shown | undefined {
  return arrived.value >= 0 ? shown.get(sessionId) : undefined;
}

/** One conversation is shown at a time; a few more stay up to date. */
export async function watch(sessionId: string): Promise<void> {
  if (shown.has(sessionId)) return;
  for (const other of [...shown.keys()].slice(0, -4)) {
    shown.delete(other);
    void ask('unwatch', { sessionId: other }).catch(() => {});
  }
  await ask('watch', { sessionId });
}

function keep(conversation: Conversation, at: number): void {
  const items = new Map<number, Signal<number>>();
  shown.set(conversation.sessionId, {
    conversation,
    seq: at,
    items,
    list: signal(0),
    around: signal(0),
    item(id) {
      const known = items.get(id) ?? signal(0);
      items.set(id, known);
      return known;
    },
  });
  arrived.value++;
}

let waiting: FromServer[] = [];
let isScheduled = false;

export function receive(message: FromServer): void {
  waiting.push(message);
  if (isScheduled) return;
  isScheduled = true;
  // A hidden page gets no animation frames.
  if (document.hidden) setTimeout(takeIn, 100);
  else requestAnimationFrame(takeIn);
}

function takeIn(): void {
  const messages = waiting;
  waiting = [];
  isScheduled = false;
  batch(() => {
    for (const message of messages) take(message);
  });
}

function take(message: FromServer): void {
  switch (message.t) {
    case 'welcome':
      epoch = message.epoch;
      return;
    case 'state': {
      const { state } = message;
      seq = message.seq;
      version.value = state.version;
      cwd.value = state.cwd;
      configured.value = state.servers;
      agents.value = state.agents;
      sessions.value = new Map(state.sessions.map((row) => [row.sessionId, row]));
      requests.value = state.requests;
      isReady.value = true;
      return;
    }
    case 'conversation':
      return keep(message.conversation, message.seq);
    case 'deltas':
      for (const delta of message.deltas) {
        seq = Math.max(seq, delta.seq);
        if (delta.sessionId === undefined) onState(delta.event as StateEvent);
        else onSession(delta.sessionId, delta.seq, delta.event as Event);
      }
      return;
    case 'news':
      return deliver(message);
  }
}

function onState(event: StateEvent): void {
  switch (event.b) {
    case 'session':
      sessions.value = new Map(sessions.value).set(event.row.sessionId, event.row);
      return;
    case 'deleted': {
      const left = new Map(sessions.value);
      left.delete(event.sessionId);
      sessions.value = left;
      return;
    }
    case 'agents':
      agents.value = event.agents;
      return;
    case 'request':
      requests.value = [...requests.value.filter(({ requestId }) => requestId !== event.request.requestId), event.request];
      return;
    case 'settled': {
      const request = requests.value.find(({ requestId }) => requestId === event.requestId);
      requests.value = requests.value.filter((one) => one !== request);
      if (request)
        settled.value = [
          ...settled.value,
          { request, outcome: event.outcome, isElsewhere: event.by !== pageId.value, answeredBy: event.by },
        ].slice(-20);
    }
  }
}

function onSession(sessionId: string, at: number, event: Event): void {
  const kept = shown.get(sessionId);
  if (!kept || at <= kept.seq) return;
  kept.seq = at;
  const before = kept.conversation.nextId;
  const changed = apply(kept.conversation, event);
  if (changed) kept.item(changed.id).value++;
  if (changed === undefined || event.e === 'prompt' || event.e === 'end') kept.around.value++;
  if (kept.conversation.nextId !== before) kept.list.value++;
}
