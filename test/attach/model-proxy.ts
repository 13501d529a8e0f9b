// A proxy as the hub sees it: it answers later, in any order, and its agent speaks and asks whenever it likes. Sessions are in a common store.
import type { Principal, ProxyPort } from '../../src/attach/state.ts';
import type { Multiplexer } from '../../src/proxy/boundary.ts';
import type { Frame } from '../../src/wire/frame.ts';
import { patchedText } from '../../src/wire/observer.ts';
import { framesOf } from '../../src/wire/scanner/frame-batch.ts';
import { parseLine } from '../../src/wire/scanner/strict-parse.ts';
import type { Random } from '../sim/random.ts';

/** What all clients of a session see, in order. `by` is the client that does not see its own. */
export type Item = { readonly updateText: string; readonly tag: string; readonly by: number | undefined };
export type StoredSession = { readonly id: string; readonly principal: string; readonly items: Item[] };
export type Store = Map<string, StoredSession>;

// biome-ignore lint/suspicious/noExplicitAny: frames of every shape
type Json = any;
type Pending = { readonly id: number; readonly method: string; readonly params: Json };

export type ModelProxy = {
  readonly port: ProxyPort;
  readonly isClosed: boolean;
  /** One thing happens; false if nothing can. `isQuiet`: only what was asked for. */
  step(random: Random, isQuiet: boolean): boolean;
  openQuestions(): number;
  /** Sessions that the agent has open. */
  readonly open: Set<string>;
};

const MODES = { currentModeId: 'first', availableModes: [{ id: 'first', name: 'First' }] };
const LINE_FEED = '\n';

/** `number`: a principal may have several proxies, one after the other, and no tag must come twice. */
export function createModelProxy(
  number: number,
  principal: Principal,
  store: Store,
  emit: (chunk: Buffer) => void,
  { promptBegan: began, serves }: Multiplexer,
  fail: (why: string) => void,
): ModelProxy {
  const pending: Pending[] = [];
  /** Prompts that wait for the turn of their session, oldest first. */
  let queued: readonly Pending[] = [];
  const open = new Set<string>();
  const questions = new Map<number, { readonly method: string; readonly sessionId: string }>();
  const settled = new Set<number>();
  let lastQuestion = 0;
  let lastUpdate = 0;
  let isClosed = false;

  const send = (...messages: readonly object[]) =>
    emit(Buffer.from(messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }) + LINE_FEED).join('')));
  const lineOf = (sessionId: string, { updateText }: Item): object => ({
    method: 'session/update',
    params: { sessionId, update: JSON.parse(updateText) },
  });
  const mine = (sessionId: string): StoredSession | undefined => {
    const found = store.get(sessionId);
    return found?.principal === principal.name ? found : undefined;
  };

  function received(text: string): void {
    if (isClosed) fail(`a frame for a closed proxy: ${text}`);
    const { id, method, params, ...rest } = JSON.parse(text);
    if (method === undefined) return answered(id, rest);
    if (method === 'session/cancel') return cancel(params);
    if (method === '$/cancel_request')
      return remove(
        ({ id: one }) => one === params.requestId,
        () => ({ error: { code: -32800, message: 'Cancelled' } }),
      );
    const session = mine(params.sessionId);
    const request = { id, method, params };
    if (method !== 'session/prompt' || !session) return void pending.push(request);
    open.add(session.id); // a prompt recovers its session
    if (isRunning(session.id)) queued = [...queued, request];
    else begin(request);
  }
  const isRunning = (sessionId: string) =>
    pending.some(({ method, params }) => method === 'session/prompt' && params.sessionId === sessionId);
  const senderOf = ({ params }: Pending) => Number(params.prompt[0].text.split('-')[1]);
  function begin(request: Pending): void {
    pending.push(request);
    const { id, method, params } = request;
    for (const content of params.prompt)
      mine(params.sessionId)?.items.push(item({ sessionUpdate: 'user_message_chunk', content }, content.text, senderOf(request)));
    const frame = parseLine(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    if (frame) began(String(id), frame);
  }
  function beginNext(sessionId: string): void {
    const next = isRunning(sessionId) ? undefined : queued.find(({ params }) => params.sessionId === sessionId);
    queued = queued.filter((one) => one !== next);
    if (next) begin(next);
  }
  function remove(isMeant: (request: Pending) => boolean, answerOf: () => object): void {
    const removed = queued.filter(isMeant);
    queued = queued.filter((one) => !isMeant(one));
    for (const { id } of removed) send({ id, ...answerOf() });
  }
  /** A cancel ends what its sender has queued, and nothing of others. */
  function cancel({ sessionId, by, _meta }: Json): void {
    const kept: readonly number[] = _meta?.['acp-switchboard']?.keep ?? [];
    const isMeant = (one: Pending) => one.params.sessionId === sessionId && !kept.includes(one.id);
    for (const one of queued)
      if (by !== undefined && one.params.sessionId === sessionId && isMeant(one) !== (senderOf(one) === by))
        fail(`a cancel of client ${by} ${isMeant(one) ? 'ends' : 'keeps'} a prompt of client ${senderOf(one)}`);
    remove(isMeant, () => ({ result: { stopReason: 'cancelled' } }));
  }
  function answered(id: number, answer: Json): void {
    if (settled.has(id)) return fail(`question ${id} was answered twice`);
    if (!questions.delete(id)) return fail(`an answer to a question that was never asked: ${id}`);
    settled.add(id);
    if (answer.result === undefined && answer.error === undefined) fail(`question ${id} got an empty answer`);
    if (answer.error?.code === -32601) fail(`question ${id} reached no client, though one serves it`);
  }
  const item = (update: object, tag: string, by: number | undefined): Item => ({ updateText: JSON.stringify(update), tag, by });

  function answer({ id, method, params }: Pending): void {
    const unknown = { id, error: { code: -32002, message: 'No agent owns this session' } };
    const session = params.sessionId === undefined ? undefined : mine(params.sessionId);
    if (params.sessionId !== undefined && !session) return send(unknown);
    switch (method) {
      case 'session/new': {
        const sessionId = `s${store.size + 1}`;
        store.set(sessionId, { id: sessionId, principal: principal.name, items: [] });
        open.add(sessionId);
        return send({ id, result: { sessionId, modes: MODES } });
      }
      case 'session/load':
      case 'session/resume': {
        if (!session) return send(unknown);
        open.add(session.id);
        const replay = method === 'session/load' ? session.items.map((one) => lineOf(session.id, one)) : [];
        return send(...replay, { id, result: { modes: MODES } });
      }
      case 'session/prompt':
        send({ id, result: { stopReason: 'end_turn' } });
        return beginNext(params.sessionId);
      case 'session/set_mode':
        session?.items.push(
          item({ sessionUpdate: 'current_mode_update', currentModeId: params.modeId }, params.modeId, Number(params.modeId.split('-')[1])),
        );
        return send({ id, result: {} });
      case 'session/close':
        if (session) {
          open.delete(session.id);
          for (const [question, { sessionId }] of questions) if (sessionId === session.id) withdraw(question);
          cancel({ sessionId: session.id });
          for (const one of [...pending]) {
            if (one.params.sessionId !== session.id || !['session/prompt', 'session/set_mode'].includes(one.method)) continue;
            pending.splice(pending.indexOf(one), 1);
            send(one.method === 'session/prompt' ? { id: one.id, result: { stopReason: 'cancelled' } } : { ...unknown, id: one.id });
          }
        }
        return send({ id, result: {} });
      case 'initialize':
        return send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
      default:
        return send({ id, result: { sessions: [] } });
    }
  }
  function withdraw(question: number): void {
    questions.delete(question);
    settled.add(question);
    send({ method: '$/cancel_request', params: { requestId: question } });
  }
  function speak(random: Random): boolean {
    const sessionId = open.size > 0 ? random.pick([...open]) : undefined;
    const session = sessionId === undefined ? undefined : store.get(sessionId);
    if (!session) return false;
    const count = random.int(1, 4);
    const news = Array.from({ length: count }, () => {
      const tag = `u${principal.name}${number}-${++lastUpdate}`;
      return item({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: tag } }, tag, undefined);
    });
    session.items.push(...news);
    send(...news.map((one) => lineOf(session.id, one)));
    return true;
  }
  function ask(random: Random): boolean {
    if (open.size === 0) return false;
    const sessionId = random.pick([...open]);
    const id = ++lastQuestion;
    const method = random.pick(['session/request_permission', 'fs/read_text_file', 'fs/write_text_file', 'terminal/create']);
    // The proxy serves files and terminals itself where no client does.
    if (method !== 'session/request_permission' && !serves(sessionId, method)) return true;
    questions.set(id, { method, sessionId });
    send({ id, method, params: { sessionId, tag: `${principal.name}${number}-${id}` } });
    return true;
  }

  const self: ModelProxy = {
    open,
    get isClosed() {
      return isClosed;
    },
    openQuestions: () => questions.size,
    step(random, isQuiet) {
      if (isClosed) return false;
      const act = isQuiet
        ? 'answer'
        : random.weighted([
            [4, 'answer'],
            [4, 'speak'],
            [2, 'ask'],
            [1, 'withdraw'],
          ] as const);
      if (act === 'speak') return speak(random);
      if (act === 'ask') return ask(random);
      if (act === 'withdraw') {
        if (questions.size === 0) return false;
        withdraw(random.pick([...questions.keys()]));
        return true;
      }
      if (pending.length === 0) return false;
      const [one] = pending.splice(random.int(0, pending.length - 1), 1);
      answer(one as Pending);
      return true;
    },
    port: {
      frame: (frame: Frame, patches = []) => received(patchedText(frame, patches)),
      batch: (batch) => {
        for (const frame of framesOf(batch)) received(patchedText(frame, []));
      },
      line: (line) => received(line),
      queuedBytes: () => 0,
      pause() {},
      resume() {},
      close() {
        isClosed = true;
      },
    },
  };
  return self;
}
