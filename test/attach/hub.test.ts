// Single cases of the client multiplexer. test/attach/history.test.ts runs it through many histories.
import { beforeEach, expect, test } from 'vitest';
import { createHub, type HubEvents } from '../../src/attach/hub.ts';
import type { AttachedClient, Principal, SharedProxy } from '../../src/attach/state.ts';
import type { Frame } from '../../src/wire/frame.ts';
import { patchedText } from '../../src/wire/observer.ts';
import { strictParse } from '../../src/wire/scanner/strict-parse.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into frames of every shape
type Json = any;

const ANN: Principal = { name: 'ann', role: 'client' };
const TV: Principal = { name: 'tv', role: 'observer' };
const FILES = { fs: { readTextFile: true, writeTextFile: true } };
const read = (message: object): Frame => {
  const bytes = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const frame = strictParse(bytes, 0, bytes.length - 1);
  if ('why' in frame) throw new Error(frame.reason);
  return frame;
};

let hub: HubEvents;
let proxies: Map<string, { readonly shared: () => SharedProxy; readonly got: Json[]; readonly flow: string[] }>;
let timers: (() => void)[];

beforeEach(() => {
  proxies = new Map();
  timers = [];
  hub = createHub({
    openProxy({ name }, shared) {
      const got: Json[] = [];
      const flow: string[] = [];
      proxies.set(name, { shared, got, flow });
      return {
        ...{ frame: (frame, patches = []) => void got.push(JSON.parse(patchedText(frame, patches))), batch() {}, queuedBytes: () => 0 },
        line: (line) => void got.push(JSON.parse(line)),
        pause: () => void flow.push('pause'),
        resume: () => void flow.push('resume'),
        close: () => void flow.push('close'),
      };
    },
    mark: () => undefined,
    history: () => [],
    refuses: () => undefined,
    isStored: () => true,
    after(_, act) {
      timers.push(act);
      return () => void timers.splice(timers.indexOf(act), 1);
    },
    graceMs: 1,
    limits: { maxLogBytes: 1 << 20, trimLogBytes: 1 << 20, maxObserverBytes: 1000, maxHeldBytes: 1000, maxOpen: 20 },
    offersAttach: false,
  });
});

type Peer = {
  readonly client: AttachedClient;
  readonly got: Json[];
  readonly ended: string[];
  queued: number;
  send(message: object): void;
};

function connectSilently(principal: Principal): Peer {
  const peer: Peer = { got: [], ended: [], queued: 0, send: (message: object) => hub.fromClient(peer.client, read(message)) } as never;
  const client = hub.connect(principal, {
    frame(frame, patches = []) {
      for (const line of patchedText(frame, patches).split('\n')) peer.got.push(JSON.parse(line));
    },
    batch() {},
    line: (line) => void peer.got.push(JSON.parse(line)),
    queuedBytes: () => peer.queued,
    end: (reason) => void peer.ended.push(reason),
  });
  return Object.assign(peer, { client });
}
/** A client that has initialized. */
function connect(principal: Principal, clientCapabilities: object = {}): Peer {
  const peer = connectSilently(principal);
  peer.send({ id: 0, method: 'initialize', params: { protocolVersion: 1, clientCapabilities } });
  const asked = proxyOf(principal).got.find(({ method }) => method === 'initialize');
  if (!peer.got.some(({ id }) => id === 0)) fromProxy(principal, { id: asked.id, result: { protocolVersion: 1 } });
  return peer;
}
const proxyOf = ({ name }: Principal) => proxies.get(name) as NonNullable<ReturnType<typeof proxies.get>>;
const fromProxy = (principal: Principal, message: object) => hub.fromProxy(proxyOf(principal).shared(), read(message));
const last = (list: readonly Json[]) => list.at(-1);

function open(peer: Peer): void {
  peer.send({ id: 1, method: 'session/new', params: { cwd: '/', mcpServers: [] } });
  fromProxy(ANN, { id: last(proxyOf(ANN).got).id, result: { sessionId: 's' } });
}
const load = (peer: Peer) => peer.send({ id: 2, method: 'session/load', params: { sessionId: 's', cwd: '/', mcpServers: [] } });
const update = (text: string) => ({
  method: 'session/update',
  params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
});

test('an observer that does not read is disconnected with a reason, and holds nobody up', () => {
  const ann = connect(ANN);
  open(ann);
  const tv = connect(TV);
  load(tv);
  tv.queued = 1001;
  hub.full(tv.client);
  fromProxy(ANN, update('x'));
  expect(tv.ended).toEqual(['too slow: attach again']);
  expect(proxyOf(ANN).flow).toEqual([]);
});

// 7019450
test('an observer that loads a session again while a client opens it sees the history once', () => {
  const tv = connect(TV);
  load(tv);
  const ann = connect(ANN);
  ann.send({ id: 3, method: 'session/resume', params: { sessionId: 's', cwd: '/', mcpServers: [] } });
  const resume = last(proxyOf(ANN).got);
  fromProxy(ANN, update('x'));
  load(tv);
  fromProxy(ANN, { id: resume.id, result: {} });
  fromProxy(ANN, update('y'));
  expect(tv.got.flatMap(({ params }) => params?.update.content.text ?? [])).toEqual(['x', 'y']);
});

test('each initialize is answered, also one that comes before the answer to another', () => {
  const ann = connectSilently(ANN);
  for (const id of [1, 2]) ann.send({ id, method: 'initialize', params: { protocolVersion: 1 } });
  ann.send({ id: 3, method: 'session/list', params: {} });
  fromProxy(ANN, { id: last(proxyOf(ANN).got).id, result: { protocolVersion: 1 } });
  expect(ann.got.map(({ id, result }) => [id, result?.protocolVersion])).toEqual([
    [1, 1],
    [2, 1],
  ]);
  expect(last(proxyOf(ANN).got).method).toBe('session/list');
});

test('what waits for an initialize that fails is answered, and the next initialize counts', () => {
  const ann = connectSilently(ANN);
  ann.send({ id: 1, method: 'initialize', params: { protocolVersion: 1 } });
  ann.send({ id: 2, method: 'session/list', params: {} });
  fromProxy(ANN, { id: last(proxyOf(ANN).got).id, error: { code: -32603, message: 'no agent' } });
  expect(ann.got.map(({ id, error }) => [id, error.code])).toEqual([
    [1, -32603],
    [2, -32600],
  ]);
  ann.send({ id: 3, method: 'initialize', params: { protocolVersion: 1 } });
  fromProxy(ANN, { id: last(proxyOf(ANN).got).id, result: { protocolVersion: 1 } });
  expect(last(ann.got)).toMatchObject({ id: 3, result: {} });
});

test('a principal whose role has changed gets a proxy of its own', () => {
  const owner = connect({ ...ANN, role: 'owner' });
  const before = proxyOf(ANN).shared();
  const client = connect(ANN);
  expect([owner.client.proxy, client.client.proxy === before]).toEqual([before, false]);
});

test('a controller that does not read pauses the agents until it reads, or goes', () => {
  const [first, second] = [connect(ANN), connect(ANN)];
  open(first);
  load(second);
  hub.full(first.client);
  hub.full(second.client);
  hub.drained(first.client);
  expect(proxyOf(ANN).flow).toEqual(['pause']);
  hub.disconnect(second.client);
  expect(proxyOf(ANN).flow).toEqual(['pause', 'resume']);
});

test('files go to the client that opened the session, then to another that has them, then to nobody', () => {
  const [first, second, bare] = [connect(ANN, FILES), connect(ANN, FILES), connect(ANN)];
  open(first);
  load(bare);
  load(second);
  const ask = (id: number) => fromProxy(ANN, { id, method: 'fs/read_text_file', params: { sessionId: 's', path: '/a' } });
  ask(1);
  expect(last(first.got).method).toBe('fs/read_text_file');
  hub.disconnect(first.client);
  expect(last(proxyOf(ANN).got)).toMatchObject({ id: 1, error: { code: -32603, data: { reason: 'client_gone' } } });
  ask(2);
  expect(last(second.got).method).toBe('fs/read_text_file');
  second.send({ id: last(second.got).id, result: { content: 'text' } });
  expect(last(proxyOf(ANN).got)).toMatchObject({ id: 2, result: { content: 'text' } });
  hub.disconnect(second.client);
  ask(3);
  expect(last(proxyOf(ANN).got)).toMatchObject({ id: 3, error: { code: -32601 } });
  expect(bare.got.some(({ method }) => method === 'fs/read_text_file')).toBe(false);
});

test('a late answer to a withdrawn request does not count when the request is asked again', () => {
  const [first, second] = [connect(ANN), connect(ANN)];
  open(first);
  load(second);
  fromProxy(ANN, { id: 7, method: 'session/request_permission', params: { sessionId: 's', options: [] } });
  const { id } = last(second.got);
  second.send({ id: 3, method: 'session/close', params: { sessionId: 's' } });
  load(second);
  expect(last(second.got)).toMatchObject({ method: 'session/request_permission' });
  expect(last(second.got).id).not.toBe(id);
  const answers = () => proxyOf(ANN).got.filter((one) => one.id === 7);
  second.send({ id, error: { code: -32800, message: 'cancelled' } });
  expect(answers()).toEqual([]);
  second.send({ id: last(second.got).id, result: { outcome: { outcome: 'cancelled' } } });
  expect(answers()).toHaveLength(1);
});

test('a client that follows the session learns that another one answered before its own copy is withdrawn, by the id that it knows', () => {
  const [first, second] = [connect(ANN), connect(ANN)];
  open(first);
  load(second);
  fromProxy(ANN, { id: 7, method: 'session/request_permission', params: { sessionId: 's', options: [] } });
  const { id: before } = last(second.got);
  second.send({ id: 3, method: 'session/close', params: { sessionId: 's' } });
  const _meta = { 'acp-switchboard': { attach: true } };
  second.send({ id: 4, method: 'session/load', params: { sessionId: 's', cwd: '/w', mcpServers: [], _meta } });
  const { id } = last(second.got);
  expect(id).not.toBe(before);
  first.send({ id: last(first.got).id, result: { outcome: { outcome: 'cancelled' } } });
  const update = { sessionUpdate: 'permission_resolved', requestId: id, resolvedBy: String(first.client.number) };
  expect(second.got.slice(-2)).toMatchObject([{ params: { update } }, { method: '$/cancel_request', params: { requestId: id } }]);
});

test('session/cancel of one client withdraws the open requests from the others, and answers them once', () => {
  const [first, second] = [connect(ANN), connect(ANN)];
  open(first);
  load(second);
  fromProxy(ANN, { id: 7, method: 'session/request_permission', params: { sessionId: 's', options: [] } });
  const { id } = last(first.got);
  first.send({ method: 'session/cancel', params: { sessionId: 's' } });
  expect(last(second.got)).toMatchObject({ method: '$/cancel_request', params: { requestId: id } });
  first.send({ id, result: { outcome: { outcome: 'cancelled' } } });
  expect(proxyOf(ANN).got.filter((one) => one.id === 7)).toEqual([
    { jsonrpc: '2.0', id: 7, result: { outcome: { outcome: 'cancelled' } } },
  ]);
});

test('an elicitation goes only to clients that can show one, and fails if there are others only', () => {
  const [able, other] = [connect(ANN, { elicitation: { form: {} } }), connect(ANN)];
  open(able);
  load(other);
  const ask = (id: number) => fromProxy(ANN, { id, method: 'elicitation/create', params: { sessionId: 's', message: 'Name?' } });
  ask(1);
  expect(last(able.got).method).toBe('elicitation/create');
  expect(last(other.got).method).toBeUndefined();
  hub.disconnect(able.client);
  ask(2);
  expect(last(proxyOf(ANN).got)).toMatchObject({ id: 2, error: { code: -32601 } });
});

test('frames before the answer to initialize wait for it, and before initialize they are refused', () => {
  const peer = connect(ANN);
  const held: Json[] = [];
  const late = hub.connect(TV, {
    frame() {},
    batch() {},
    line: (line) => void held.push(JSON.parse(line)),
    queuedBytes: () => 0,
    end() {},
  });
  hub.fromClient(late, read({ id: 1, method: 'session/list', params: {} }));
  expect(held).toMatchObject([{ id: 1, error: { code: -32600 } }]);
  hub.fromClient(late, read({ id: 2, method: 'initialize', params: { protocolVersion: 1 } }));
  hub.fromClient(late, read({ id: 3, method: 'session/list', params: {} }));
  expect(proxyOf(TV).got.map(({ method }) => method)).toEqual(['initialize']);
  fromProxy(TV, { id: proxyOf(TV).got[0].id, result: { protocolVersion: 1 } });
  expect(proxyOf(TV).got.map(({ method }) => method)).toEqual(['initialize', 'session/list']);
  expect(peer.ended).toEqual([]);
});

test('the proxy of a principal is closed when its last session has waited long enough', () => {
  const ann = connect(ANN);
  open(ann);
  hub.disconnect(ann.client);
  expect(proxyOf(ANN).flow).toEqual([]);
  for (const act of timers.splice(0)) act();
  expect(last(proxyOf(ANN).got)).toMatchObject({ method: 'session/close', params: { sessionId: 's' } });
  fromProxy(ANN, { id: last(proxyOf(ANN).got).id, result: {} });
  expect(proxyOf(ANN).flow).toEqual(['close']);
});

test('what a later client cannot take is withheld from it or made plainer, live and in the history; the others get it as it is', () => {
  const session = { configOptions: { boolean: {} }, notices: {}, compaction: {} };
  const rich = connect(ANN, { session, plan: {}, subagents: {}, terminal: true, elicitation: { form: {}, url: {} } });
  const options = [
    { id: 'model', type: 'select' },
    { id: 'fast', type: 'boolean' },
  ];
  rich.send({ id: 1, method: 'session/new', params: { cwd: '/', mcpServers: [] } });
  fromProxy(ANN, { id: last(proxyOf(ANN).got).id, result: { sessionId: 's', configOptions: options } });
  expect(last(rich.got).result.configOptions).toEqual(options);
  const plain = connect(ANN, { elicitation: { form: {} } });
  load(plain);
  expect(last(plain.got).result.configOptions).toEqual([options[0]]);
  fromProxy(ANN, { id: 1, method: 'terminal/create', params: { sessionId: 's', command: 'ls' } });
  rich.send({ id: last(rich.got).id, result: { terminalId: 't' } });

  const content = [
    { type: 'terminal', terminalId: 't' },
    { type: 'content', content: { type: 'text', text: 'done' } },
  ];
  const updates: Json[] = [
    { sessionUpdate: 'config_option_update', configOptions: options },
    { sessionUpdate: 'notice', severity: 'info', title: 'Careful', description: 'it is late' },
    { sessionUpdate: 'compaction_update', compactionId: 'c', status: 'in_progress' },
    { sessionUpdate: 'plan_update', plan: { type: 'items', planId: 'p', entries: [{ content: 'one' }] } },
    { sessionUpdate: 'plan_removed', planId: 'p' },
    { sessionUpdate: 'subagent_update', sessionId: 'child' },
    { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'ls', content },
    { sessionUpdate: 'available_commands_update', availableCommands: [] },
  ];
  const seen = (peer: Peer) => peer.got.flatMap(({ params }) => (params?.update ? [params.update] : []));
  for (const one of updates) fromProxy(ANN, { method: 'session/update', params: { sessionId: 's', update: one } });
  expect(seen(rich)).toEqual(updates);
  const plainer = [
    { sessionUpdate: 'config_option_update', configOptions: [options[0]] },
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: '[Careful. it is late]\n' } },
    { sessionUpdate: 'plan', entries: [{ content: 'one' }] },
    { ...updates[6], content: [{ type: 'content', content: { type: 'text', text: '(a terminal of another client)' } }, content[1]] },
    updates[7],
  ];
  expect(seen(plain)).toEqual(plainer);
  const late = connect(TV);
  load(late);
  expect(seen(late)).toEqual(plainer);

  fromProxy(ANN, { id: 2, method: 'elicitation/create', params: { sessionId: 's', mode: 'url', url: 'https://example.org' } });
  expect([last(rich.got).method, last(plain.got).method]).toEqual(['elicitation/create', 'session/update']);
  rich.send({ id: 5, method: 'session/set_config_option', params: { sessionId: 's', configId: 'fast', type: 'boolean', value: true } });
  fromProxy(ANN, { id: last(proxyOf(ANN).got).id, result: { configOptions: options } });
  expect(last(plain.got).params.update).toEqual({ sessionUpdate: 'config_option_update', configOptions: [options[0]] });
  expect(last(rich.got).result.configOptions).toEqual(options);
});

test('a client has only so many open requests; the next gets an error, and cancels still pass', () => {
  const ann = connect(ANN);
  open(ann);
  for (let n = 0; n < 20; n++) ann.send({ id: 100 + n, method: 'session/list', params: {} });
  ann.send({ id: 'more', method: 'session/list', params: {} });
  expect(last(ann.got)).toMatchObject({
    id: 'more',
    error: { message: expect.stringContaining('requests are open on this connection (limit 20)') },
  });
  ann.send({ method: 'session/cancel', params: { sessionId: 's' } });
  expect(last(proxyOf(ANN).got).method).toBe('session/cancel');
  const other = connect(ANN);
  other.send({ id: 1, method: 'session/list', params: {} });
  expect(last(proxyOf(ANN).got).method).toBe('session/list');
});

test('a client opens only so many sessions', () => {
  const ann = connect(ANN);
  for (let n = 0; n < 20; n++) {
    ann.send({ id: n, method: 'session/new', params: { cwd: '/', mcpServers: [] } });
    fromProxy(ANN, { id: last(proxyOf(ANN).got).id, result: { sessionId: `s${n}` } });
  }
  ann.send({ id: 'more', method: 'session/new', params: { cwd: '/', mcpServers: [] } });
  expect(last(ann.got)).toMatchObject({
    id: 'more',
    error: { message: expect.stringContaining('sessions are open on this connection (limit 20)') },
  });
});

test('a client that is told all learns when the agent has its own prompt, and can leave a session', () => {
  const ann = connect(ANN);
  open(ann);
  const seen: Json[] = [];
  const port = { frame() {}, batch() {}, line: (line: string) => void seen.push(JSON.parse(line)), queuedBytes: () => 0, end() {} };
  const page = hub.connect({ name: 'the console', role: 'owner' }, port, true);
  const send = (message: object) => hub.fromClient(page, read(message));
  send({ id: 0, method: 'initialize', params: { protocolVersion: 1 } });
  hub.fromProxy(proxyOf(page.principal).shared(), read({ id: last(proxyOf(page.principal).got).id, result: { protocolVersion: 1 } }));
  send({ id: 1, method: 'session/load', params: { sessionId: 's', cwd: '/', mcpServers: [] } });
  send({ id: 2, method: 'session/prompt', params: { sessionId: 's', prompt: [] } });
  const sent = last(proxyOf(ANN).got);
  expect(hub.prompts(page, 's')).toEqual({ own: [String(sent.id)], others: 0 });
  hub.promptBegan(proxyOf(ANN).shared(), String(sent.id), read(sent));
  expect(last(seen).params.update).toEqual({ sessionUpdate: 'prompt_received', sentBy: String(page.number) });
  hub.leave(page, 's');
  expect(hub.sessions().map(({ attached }) => attached.size)).toEqual([1]);
});
