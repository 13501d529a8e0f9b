// A client as the hub sees it, and what must be true of every frame that it gets.
import { EventEmitter } from 'node:events';
import type { HubEvents } from '../../src/attach/hub.ts';
import type { AttachedClient, Principal } from '../../src/attach/state.ts';
import { createConnection } from '../../src/wire/connection.ts';
import { patchedText } from '../../src/wire/observer.ts';
import { framesOf } from '../../src/wire/scanner/frame-batch.ts';
import type { Scanner } from '../../src/wire/scanner/scanner.ts';
import type { Random } from '../sim/random.ts';
import type { Store } from './model-proxy.ts';

// biome-ignore lint/suspicious/noExplicitAny: frames of every shape
type Json = any;
type Sent = { readonly method: string; readonly sessionId: string | undefined };
/** The next item it must see; undefined while that is not known. While it loads, all that comes must be the history. */
type View = { next: number | undefined; loaded: string[] | undefined };
type Asked = { readonly id: number; readonly tag: string; isWithdrawn: boolean };

export type ModelClient = {
  readonly principal: Principal;
  readonly isGone: boolean;
  step(random: Random): boolean;
  /** Answers every open question. */
  answerAll(): void;
  disconnect(): void;
  /** Nothing is under way: every request has its answer, and everything was seen. */
  check(): void;
};

export type ClientWorld = {
  readonly hub: HubEvents;
  readonly store: Store;
  readonly scanner: Scanner;
  readonly fail: (why: string) => void;
  readonly trace: (line: string) => void;
  /** By tag: how many clients got a request for one client. */
  readonly given: Map<string, number>;
};

const ONE_CLIENT = /^(fs|terminal)\//;
const ATTACH_UPDATES = new Set(['prompt_received', 'turn_complete', 'permission_resolved', 'client_disconnected', 'client_connected']);

export function createModelClient(number: number, principal: Principal, world: ClientWorld): ModelClient {
  const { hub, store, scanner, fail, trace, given } = world;
  const open = new Map<number, Sent>();
  const views = new Map<string, View>();
  const questions: Asked[] = [];
  const source = new EventEmitter();
  let lastId = 0;
  let isGone = false;
  let isReady = false;

  const port = {
    frame: (frame: Parameters<typeof patchedText>[0], patches = [] as Json) => {
      for (const text of patchedText(frame, patches).split('\n')) got(text);
    },
    batch: (batch: Parameters<typeof framesOf>[0]) => {
      for (const frame of framesOf(batch)) got(patchedText(frame, []));
    },
    line: (line: string) => got(line.trimEnd()),
    queuedBytes: () => 0,
    end: (reason: string) => fail(`client ${number} was disconnected: ${reason}`),
  };
  const attached: AttachedClient = hub.connect(principal, port as never);
  createConnection(
    Object.assign(source, { pause() {}, resume() {} }) as never,
    { write: () => true, cork() {}, uncork() {}, end() {}, writableLength: 0, on() {} },
    { scanner, maxFrameBytes: 1 << 20 },
    { frame: (frame) => hub.fromClient(attached, frame), refused: () => {}, oversized: () => {}, end() {} },
  );
  function write(message: object): void {
    const line = JSON.stringify({ jsonrpc: '2.0', ...message });
    trace(`client ${number} (${principal.name}) > ${line}`);
    source.emit('data', Buffer.from(`${line}\n`));
  }
  function request(method: string, params: Json): void {
    const id = ++lastId;
    open.set(id, { method, sessionId: params.sessionId });
    write({ id, method, params });
  }

  function got(text: string): void {
    if (isGone) return fail(`client ${number} is gone and got ${text}`);
    trace(`client ${number} (${principal.name}) < ${text}`);
    const { id, method, params, result, error } = JSON.parse(text);
    if (method === 'session/update') return update(params);
    if (method === '$/cancel_request') {
      const asked = questions.find((one) => one.id === params.requestId);
      if (!asked || asked.isWithdrawn) return fail(`client ${number}: withdrawal of an unknown request ${params.requestId}`);
      asked.isWithdrawn = true;
      return;
    }
    if (method !== undefined) return question(id, method, params);
    const sent = open.get(id);
    if (!sent) return fail(`client ${number}: an answer to no open request, ${text}`);
    open.delete(id);
    answered(sent, result, error);
  }
  function question(id: number, method: string, { sessionId, tag }: Json): void {
    if (principal.role === 'observer') fail(`observer ${number} was asked ${method}`);
    if (!views.has(sessionId)) fail(`client ${number} was asked in session ${sessionId}, which it has not opened`);
    if (questions.some((one) => one.id === id)) fail(`client ${number} was asked ${id} twice`);
    questions.push({ id, tag, isWithdrawn: false });
    if (!ONE_CLIENT.test(method)) return;
    const times = (given.get(tag) ?? 0) + 1;
    given.set(tag, times);
    if (times > 1) fail(`${method} ${tag} went to ${times} clients`);
    if (store.get(sessionId)?.principal !== principal.name) fail(`${method} went to another principal`);
  }
  function answered({ method, sessionId }: Sent, result: Json, error: Json): void {
    if (method === 'initialize') isReady = true;
    if (method === 'session/new' && result) views.set(result.sessionId, { next: 0, loaded: undefined });
    if (sessionId === undefined) return;
    const session = store.get(sessionId);
    const view = views.get(sessionId);
    if (error || method === 'session/close') {
      if (error && view?.loaded && view.loaded.length > 0) fail(`client ${number} saw updates of ${sessionId}, and may not open it`);
      if (['session/load', 'session/resume', 'session/close'].includes(method)) views.delete(sessionId);
      return;
    }
    if (!view || !session) return;
    if (view.loaded) {
      const history = session.items.slice(0, view.loaded.length).map(({ tag }) => tag);
      if (view.loaded.join() !== history.join()) fail(`client ${number} loaded [${view.loaded}] and not [${history}]`);
      view.next = view.loaded.length;
      view.loaded = undefined;
    }
    view.next ??= session.items.length;
  }
  function update({ sessionId, update: news }: Json): void {
    if (ATTACH_UPDATES.has(news.sessionUpdate)) return;
    const tag: string = news.content?.text ?? news.currentModeId;
    const session = store.get(sessionId);
    const view = views.get(sessionId);
    if (!session || !view) return fail(`client ${number} got ${tag} of ${sessionId}, which it has not opened`);
    if (principal.role === 'client' && session.principal !== principal.name) fail(`client ${number} saw ${tag} of another principal`);
    if (view.loaded) return void view.loaded.push(tag);
    view.next ??= session.items.findIndex((one) => one.tag === tag);
    while (session.items[view.next]?.by === number) view.next++;
    const wanted = session.items[view.next]?.tag;
    if (wanted !== tag) return fail(`client ${number} got ${tag} in ${sessionId}, and ${wanted} is next`);
    view.next++;
  }

  const isBusy = (sessionId: string) => [...open.values()].some((sent) => sent.sessionId === sessionId);
  function load(sessionId: string, method: 'session/load' | 'session/resume'): boolean {
    if (isBusy(sessionId)) return false;
    views.set(sessionId, method === 'session/load' ? { next: undefined, loaded: [] } : { next: undefined, loaded: undefined });
    request(method, { sessionId, cwd: '/', mcpServers: [] });
    return true;
  }
  function answer(asked: Asked): void {
    questions.splice(questions.indexOf(asked), 1);
    write({ id: asked.id, result: { outcome: { outcome: 'selected', optionId: 'x' }, terminalId: `t${asked.tag}`, content: '' } });
  }

  return {
    principal,
    get isGone() {
      return isGone;
    },
    step(random) {
      if (!isReady) {
        if (lastId > 0) return false;
        const files = random.chance(0.7);
        const clientCapabilities = { fs: { readTextFile: files, writeTextFile: files }, terminal: files };
        request('initialize', { protocolVersion: 1, clientCapabilities });
        return true;
      }
      const known = [...store.keys()];
      const isClosing = (id: string) => [...open.values()].some((sent) => sent.sessionId === id && sent.method === 'session/close');
      const mine = [...views].filter(([id, { loaded }]) => !loaded && !isClosing(id)).map(([id]) => id);
      const act = random.weighted([
        [principal.role === 'client' ? 2 : 0, 'new'],
        [4, 'load'],
        [principal.role === 'client' ? 1 : 0, 'resume'],
        [principal.role === 'observer' ? 0 : 5, 'prompt'],
        [principal.role === 'observer' ? 0 : 1, 'mode'],
        [2, 'cancel'],
        [1, 'withdraw'],
        [1, 'close'],
        [4, 'answer'],
        [1, 'list'],
      ] as const);
      if (act === 'new') request('session/new', { cwd: '/', mcpServers: [] });
      else if (act === 'list') request('session/list', {});
      else if (act === 'answer') {
        if (questions.length === 0) return false;
        answer(random.pick(questions)); // also those that were withdrawn: late answers are dropped
      } else if (act === 'load' || act === 'resume') {
        const foreign = known.filter((id) => store.get(id)?.principal !== principal.name);
        const choice =
          act === 'load' && principal.role !== 'client'
            ? known
            : random.chance(0.1)
              ? foreign
              : known.filter((id) => !foreign.includes(id));
        if (choice.length === 0) return false;
        return load(random.pick(choice), `session/${act}`);
      } else {
        const sessionId = mine.length > 0 ? random.pick(mine) : undefined;
        if (sessionId === undefined) return false;
        if (act === 'withdraw') {
          const mine = [...open].flatMap(([id, sent]) => (sent.method === 'session/prompt' ? [id] : []));
          if (mine.length === 0) return false;
          write({ method: '$/cancel_request', params: { requestId: random.pick(mine) } });
        } else if (act === 'cancel') {
          if (principal.role === 'observer') return false;
          write({ method: 'session/cancel', params: { sessionId, by: number, ...(random.chance(0.3) && { _meta: { own: 1 } }) } });
        } else if (act === 'close') {
          if (isBusy(sessionId)) return false;
          request('session/close', { sessionId });
        } else if (act === 'mode') request('session/set_mode', { sessionId, modeId: `m-${number}-${lastId}` });
        else request('session/prompt', { sessionId, prompt: [{ type: 'text', text: `p-${number}-${lastId}` }] });
      }
      return true;
    },
    answerAll() {
      for (const asked of [...questions]) answer(asked);
    },
    disconnect() {
      trace(`client ${number} (${principal.name}) disconnects`);
      hub.disconnect(attached);
      isGone = true;
    },
    check() {
      if (open.size > 0) fail(`client ${number} has no answer to ${JSON.stringify([...open])}`);
      for (const [sessionId, view] of views) {
        const rest = (store.get(sessionId)?.items ?? []).slice(view.next).filter(({ by }) => by !== number);
        if (rest.length > 0) fail(`client ${number} has not seen ${rest.map(({ tag }) => tag)} of ${sessionId}`);
      }
    },
  };
}
