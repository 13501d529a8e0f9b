// Requests of agents. A permission request or an elicitation goes to every controller of its session, and the first answer counts. Files,
// terminals and everything else go to exactly one client.
import { failure } from '../errors.ts';
import { errorLine, notificationLine, resultLine } from '../proxy/json-rpc-lines.ts';
import { type Frame, detach as ownCopy, type Span, textOf } from '../wire/frame.ts';
import { memberAt } from '../wire/json-path.ts';
import { idTextOf, sessionIdOf, stringIn } from '../wire/scanner/large-frame.ts';
import { notifyAware } from './show.ts';
import type { AttachedClient, Hub, LiveSession, Question, SharedProxy } from './state.ts';

const CANCELLED: Readonly<Record<string, string>> = {
  'session/request_permission': '{"outcome":{"outcome":"cancelled"}}',
  'elicitation/create': '{"action":"cancel"}',
};

const MOST_SHOWN_TERMINALS = 1000;

/** A request of an agent has come. */
export function ask(hub: Hub, proxy: SharedProxy, frame: Frame): void {
  const method = frame.method as string;
  const proxyId = idTextOf(frame);
  const session = proxy.sessions.get(sessionIdOf(frame) ?? '');
  const isForAll = session !== undefined && CANCELLED[method] !== undefined;
  const question: Question = {
    id: hub.nextId(),
    proxyId,
    proxy,
    session,
    method,
    frame: ownCopy(frame),
    isForAll,
    asked: new Map(),
    askedBefore: new Set(),
  };
  proxy.questions.set(proxyId, question);
  session?.questions.add(question);
  if (!isForAll) return askOne(question);
  const controllers = [...session.attached].filter(isController);
  for (const client of controllers) askIfAble(hub, client, question);
  // Nobody will be able to answer; with no client at all, the request waits for one.
  if (controllers.length > 0 && question.asked.size === 0) fail(question, failure('METHOD_UNKNOWN', [method], { method }));
}

export const isController = ({ principal }: AttachedClient): boolean => principal.role !== 'observer';

function askIfAble(hub: Hub, client: AttachedClient, question: Question): void {
  if (question.asked.has(client) || !isController(client)) return;
  if (!can(client, question)) return;
  const id = question.askedBefore.has(client) ? hub.nextId() : question.id;
  question.asked.set(client, id);
  question.askedBefore.add(client);
  client.port.frame(question.frame, [{ span: question.frame.id as Span, text: id }]);
}

/** Asks a client that has just attached what nobody has answered yet. */
export function askAgain(hub: Hub, client: AttachedClient, session: LiveSession): void {
  for (const question of session.questions) if (question.isForAll) askIfAble(hub, client, question);
}

function askOne(question: Question): void {
  const client = hostOf(question);
  if (client) sendToHost(client, question);
  else fail(question, failure('METHOD_UNKNOWN', [question.method], { method: question.method }));
}

/** An elicitation outside a session names the request that it belongs to by our id. */
function sendToHost(client: AttachedClient, question: Question): void {
  const { frame, proxy } = question;
  question.asked.set(client, question.id);
  const patches = [{ span: frame.id as Span, text: question.id }];
  const named = question.method === 'elicitation/create' ? memberAt(frame.bytes, frame.body, 'requestId') : undefined;
  const call = named && proxy.calls.get(textOf(frame.bytes, named));
  if (named && call) patches.push({ span: named, text: call.idText });
  client.port.frame(
    frame,
    patches.sort((a, b) => a.span.start - b.span.start),
  );
}

/** The one client for a request. It stays the same as long as it is attached. */
function hostOf(question: Question): AttachedClient | undefined {
  const { method, proxy, session, frame } = question;
  if (method === 'mcp/message') return proxy.servers.get(stringIn(frame, 'serverId') ?? '');
  const terminal = method.startsWith('terminal/') && method !== 'terminal/create' ? stringIn(frame, 'terminalId') : undefined;
  if (terminal !== undefined) return proxy.terminals.get(terminal);
  if (!session) {
    const named = memberAt(frame.bytes, frame.body, 'requestId');
    const asker = named && proxy.calls.get(textOf(frame.bytes, named))?.client;
    return asker ?? ableClient(proxy, undefined, question);
  }
  const client = ableClient(proxy, session, question);
  if (client) session.host ??= client;
  return client;
}

/** The host of a session as long as it is able; then another client of the same principal. */
function ableClient(proxy: SharedProxy, session: LiveSession | undefined, request: Asked): AttachedClient | undefined {
  const isAble = (client: AttachedClient) => client.proxy === proxy && isController(client) && can(client, request);
  if (session?.host && isAble(session.host)) return session.host;
  return [...(session?.attached ?? proxy.clients)].find(isAble);
}

/** Whether a client takes a request for files or a new terminal. Else the proxy serves it. */
export const serves = (proxy: SharedProxy, sessionId: string, method: string): boolean =>
  ableClient(proxy, proxy.sessions.get(sessionId), { method }) !== undefined;

type Asked = { readonly method: string; readonly frame?: Frame };

function can({ capabilities }: AttachedClient, { method, frame }: Asked): boolean {
  if (method === 'elicitation/create')
    return (frame && stringIn(frame, 'mode') === 'url' ? capabilities?.urls : capabilities?.forms) === true;
  if (method === 'fs/read_text_file') return capabilities?.readsFiles === true;
  if (method === 'fs/write_text_file') return capabilities?.writesFiles === true;
  return !method.startsWith('terminal/') || capabilities?.terminals === true;
}

/** A client's answer. Only the first counts. */
export function answered(hub: Hub, client: AttachedClient, answer: Frame): void {
  const question = findAsked(hub, client, idTextOf(answer));
  if (!question || !settle(question)) return;
  const { proxy, session, proxyId, method } = question;
  if (method === 'terminal/create' && answer.outcome === 'result') {
    const terminal = stringIn(answer, 'terminalId');
    if (terminal !== undefined) {
      proxy.terminals.set(terminal, client);
      remember(proxy.shownTerminals, terminal, client);
    }
  }
  if (method === 'terminal/release') proxy.terminals.delete(stringIn(question.frame, 'terminalId') ?? '');
  // Before the withdrawal, so that a client knows the reason for it.
  if (session && question.isForAll) {
    const resolved = { sessionUpdate: 'permission_resolved', resolvedBy: String(client.number) };
    notifyAware(session, (other) => ({ ...resolved, requestId: Number(question.asked.get(other) ?? question.id) }), client);
  }
  withdraw(question, client);
  proxy.port.frame(answer, [{ span: answer.id as Span, text: proxyId }]);
}

function remember(terminals: SharedProxy['shownTerminals'], terminal: string, client: AttachedClient): void {
  terminals.set(terminal, client);
  for (const oldest of terminals.keys()) {
    if (terminals.size <= MOST_SHOWN_TERMINALS) return;
    terminals.delete(oldest);
  }
}

/** The request that a client knows by this id. */
export function findAsked(hub: Hub, client: AttachedClient, id: string): Question | undefined {
  for (const { questions } of hub.proxies.values())
    for (const question of questions.values()) if (question.asked.get(client) === id) return question;
  return undefined;
}

/** False if it is settled already. */
function settle({ proxy, proxyId, session, ...question }: Question): boolean {
  const open = proxy.questions.get(proxyId);
  if (open?.id !== question.id) return false;
  proxy.questions.delete(proxyId);
  session?.questions.delete(open);
  return true;
}

/** The other clients need not answer any more. */
function withdraw({ asked }: Question, except: AttachedClient | undefined): void {
  for (const [client, id] of asked) if (client !== except) withdrawFrom(client, id);
}

/** The client need not answer any more. */
export function withdrawFrom({ port }: AttachedClient, id: string): void {
  port.line(notificationLine('$/cancel_request', `{"requestId":${id}}`));
}

function fail(question: Question, error: ReturnType<typeof failure>): void {
  if (settle(question)) question.proxy.port.line(errorLine(question.proxyId, error));
}

/** The agent, or the proxy, withdraws a request. */
export function withdrawn(proxy: SharedProxy, proxyId: string): void {
  const question = proxy.questions.get(proxyId);
  if (!question || !settle(question)) return;
  withdraw(question, undefined);
}

/** The turn was cancelled. `by` answers its own copies, which are late then. */
export function cancelQuestions(session: LiveSession, by: AttachedClient | undefined): void {
  for (const question of [...session.questions]) {
    if (!question.isForAll || !settle(question)) continue;
    withdraw(question, by);
    question.proxy.port.line(resultLine(question.proxyId, CANCELLED[question.method] as string));
  }
}

/** The requests that only this client could answer fail. It may have acted on them, so no other client gets them. */
export function clientGone(hub: Hub, client: AttachedClient): void {
  for (const proxy of hub.proxies.values()) {
    for (const question of [...proxy.questions.values()])
      if (!question.isForAll && question.asked.has(client))
        fail(question, failure('CLIENT_GONE', [question.method], { method: question.method }));
    for (const [server, owner] of proxy.servers) if (owner === client) proxy.servers.delete(server);
    for (const [terminal, owner] of proxy.terminals) if (owner === client) proxy.terminals.delete(terminal);
  }
}
