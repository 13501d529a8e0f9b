// One page's connection: sends events in batches and answers actions. A slow page gets the whole state again once it has caught up, instead
// of an unbounded backlog.
import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { Conversation } from '../protocol/conversation.ts';
import type { Failure, FromServer } from '../protocol/messages.ts';
import type { ConsoleState } from '../protocol/state.ts';
import type { Feed, Numbered } from '../state/feed.ts';
import type { AllHandlers } from './screens.ts';

export type PageDeps = {
  readonly feed: Feed;
  readonly state: () => ConsoleState;
  readonly conversation: (sessionId: string) => Conversation;
  readonly handlers: AllHandlers;
  readonly failure: (error: unknown) => Failure;
  readonly opened: (page: Page) => void;
  readonly closed: (page: Page) => void;
};

export type Page = {
  readonly id: string;
  send(message: FromServer): void;
  /** Whether its send buffer is full. */
  readonly isBehind: boolean;
  watch(sessionId: string): void;
  unwatch(sessionId: string): void;
  watched(): readonly string[];
};

const BATCH_MS = 16;
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
const CAUGHT_UP_BYTES = 256 * 1024;
const MAX_IN_FLIGHT = 64;
/** Limited because each is sent again to a page that has caught up. */
const MAX_WATCHED = 100;

const helloShape = z.strictObject({
  hello: z.string().max(200),
  epoch: z.string().max(100).optional(),
  since: z.int().nonnegative().optional(),
  sessions: z.array(z.string().min(1).max(2000)).max(50).optional(),
});
const messageShape = z.strictObject({
  id: z.int().nonnegative(),
  action: z.string().max(100),
  topic: z.string().max(100).optional(),
  params: z.unknown(),
});
type PageMessage = z.infer<typeof messageShape>;

export function openPage(socket: WebSocket, first: unknown, deps: PageDeps): void {
  const hello = helloShape.safeParse(first).data;
  if (!hello) return socket.close(4400, 'not understood');
  const { feed } = deps;
  const watched = new Set<string>(hello.sessions ?? []);
  /** Ends each subscription. */
  const subscriptions = new Map<string, () => void>();
  let waiting: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isLost = false;
  let inFlight = 0;
  /** Messages received and not yet handled. */
  const unread: unknown[] = [];

  const page: Page = {
    id: randomUUID(),
    send: (message) => sendText(JSON.stringify(message)),
    get isBehind() {
      return isLost || socket.bufferedAmount > MAX_BUFFERED_BYTES;
    },
    watch(sessionId) {
      watched.add(sessionId);
      const [oldest = sessionId] = watched;
      if (watched.size > MAX_WATCHED) watched.delete(oldest);
      flush();
      sendConversation(sessionId);
    },
    unwatch: (sessionId) => void watched.delete(sessionId),
    watched: () => [...watched],
  };

  function sendText(text: string): void {
    socket.send(text, catchUp);
    // Stop reading from a page that does not read its responses: they would pile up.
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.pause();
  }
  /** Called after each write. */
  function catchUp(): void {
    if (socket.bufferedAmount > CAUGHT_UP_BYTES) return;
    socket.resume();
    if (isLost) {
      isLost = false;
      sendAll();
    }
    readNext();
  }
  /** One read may deliver more messages than a pause can stop. */
  function readNext(): void {
    while (unread.length > 0 && !socket.isPaused) void received(unread.shift());
  }
  /** `seq` is read after the snapshot: taking it may publish one more event. */
  function sendConversation(sessionId: string): void {
    const conversation = deps.conversation(sessionId);
    page.send({ t: 'conversation', seq: feed.seq, conversation });
  }
  function sendAll(): void {
    const state = deps.state();
    page.send({ t: 'state', seq: feed.seq, state });
    for (const sessionId of watched) sendConversation(sessionId);
  }
  function take({ sessionId, text }: Numbered): void {
    if (isLost || (sessionId !== undefined && !watched.has(sessionId))) return;
    waiting.push(text);
    timer ??= setTimeout(flush, BATCH_MS);
  }
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const text = `{"t":"deltas","deltas":[${waiting.join(',')}]}`;
    waiting = [];
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) isLost = true;
    else sendText(text);
  }
  function perform({ action, topic = '', params }: PageMessage): unknown {
    if (action !== 'subscribe' && action !== 'unsubscribe') return deps.handlers.perform(action, params, page);
    const end = subscriptions.get(topic);
    subscriptions.delete(topic);
    end?.();
    if (action === 'subscribe')
      subscriptions.set(
        topic,
        deps.handlers.subscribe(topic, params, (news) => page.send({ t: 'news', topic, news }), page),
      );
    return undefined;
  }
  async function received(data: unknown): Promise<void> {
    const value = parse(String(data));
    const message = messageShape.safeParse(value);
    const re = Number((value as { id?: unknown } | undefined)?.id ?? -1);
    if (!message.success) return page.send({ t: 'answer', re, error: { message: z.prettifyError(message.error) } });
    if (inFlight >= MAX_IN_FLIGHT) return page.send({ t: 'answer', re, error: { message: 'too many requests at once' } });
    inFlight++;
    try {
      const made = perform(message.data);
      // Send a synchronous result at once: the next message is read only if the buffer has room.
      const result = made instanceof Promise ? await made : made;
      flush(); // events caused by the action come before its response
      page.send({ t: 'answer', re, result: result ?? {} });
    } catch (error) {
      page.send({ t: 'answer', re, error: deps.failure(error) });
    } finally {
      inFlight--;
    }
  }

  deps.opened(page);
  const missed = hello.epoch === feed.epoch && hello.since !== undefined ? feed.since(hello.since) : undefined;
  page.send({ t: 'welcome', page: page.id, epoch: feed.epoch, isResumed: missed !== undefined });
  if (missed) for (const one of missed) take(one);
  else sendAll();
  const silence = feed.listen(take);
  socket.on('message', (data) => {
    unread.push(data);
    readNext();
  });
  socket.once('close', () => {
    unread.length = 0;
    silence();
    clearTimeout(timer);
    for (const end of subscriptions.values()) end();
    deps.closed(page);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
