// Requests that the client answers: those of agents, and our own. An agent's request has two sides, the agent's and the client's. They close
// separately, and the record lives until both are closed: the agent may have its answer while the client still shows the request.
import { failure, type ProxyError } from '../../errors.ts';
import { canonicalId } from '../../router/pending-ids.ts';
import type { Frame, Span } from '../../wire/frame.ts';
import { idTextOf, stringIn } from '../../wire/scanner/large-frame.ts';
import { parseLine } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import type { Counters } from '../context.ts';
import type { Evaluated } from '../enforcement/enforcement.ts';
import { errorLine, notificationLine, requestLine } from '../json-rpc-lines.ts';
import type { Session } from '../sessions/session.ts';
import { type Aliases, createAliases } from './aliases.ts';

export type AgentRequest = {
  /** The id that the client knows. */
  readonly key: string;
  /** The id as the agent wrote it. */
  readonly idText: string;
  readonly method: string;
  readonly agent: Agent;
  readonly session: Session | undefined;
  /** The session's public id at the time of the request. */
  readonly sessionIdAtRequest: string | undefined;
  /** Sees the client's answer first; `true` when it has answered the agent itself. */
  readonly onAnswer: ((answer: Frame) => boolean) | undefined;
  /** Answers the agent when the turn is cancelled; without it a permission request or elicitation gets the protocol's own answer. */
  readonly onCancel: (() => void) | undefined;
  /** The agent's side has closed, for whatever reason. */
  readonly onClosed: (() => void) | undefined;
  /** The policy's decision about it. */
  readonly evaluated: Evaluated | undefined;
  /** The client has said that no person sees the request: it answers by itself. */
  readonly isAutomatic: boolean;
  /** The agent waits for an answer. */
  readonly isOpen: boolean;
};

export type NewAgentRequest = Pick<AgentRequest, 'idText' | 'method' | 'agent' | 'session'> & {
  readonly [key in 'onAnswer' | 'onCancel' | 'onClosed' | 'evaluated']?: AgentRequest[key];
};

export type AgentRequests = {
  /** Names that agents chose for elicitations and MCP requests, each held as long as a request uses it. */
  readonly elicitations: Aliases;
  readonly mcpRequests: Aliases;

  /** Passes an agent's request on to the client. */
  put(request: NewAgentRequest, frame: Frame, patches: readonly Patch[]): AgentRequest;
  /** Puts the policy's own permission request to the client, on behalf of an agent's request. */
  putOwn(request: NewAgentRequest, paramsText: string): AgentRequest;
  /** Sends a request of our own; the returned function withdraws it. */
  ask(method: string, paramsText: string, onAnswer: (answer: Frame) => void): () => void;
  /** Sends a request of our own and ignores its answer. */
  send(method: string, paramsText: string): void;

  /** The client has answered a request; false when there never was one with this id. */
  answered(answer: Frame): boolean;
  /** The client's answer cannot be used: the agent that waits for it, or our own code, gets an error instead. */
  unusable(key: string, error: ProxyError): void;
  /** The client is about to answer the request without asking a person. */
  markAutomatic(key: string): void;
  /** The request was answered in the console: the client no longer needs to. */
  answeredElsewhere(answer: Frame): void;

  /** The agent withdraws a request: its notification passes, and the client still answers. */
  forwardCancel(request: AgentRequest, notification: Frame, requestId: Span): void;
  /** Closes both sides. The agent hears nothing of it; the client gets `$/cancel_request`, once per request. */
  withdraw(request: AgentRequest): void;
  /** The turn is cancelled: answers the session's permission requests and elicitations. They stay open at the client, which has to answer them too. */
  cancel(session: Session): readonly AgentRequest[];
  /** Nobody has answered in time: answers this one, and withdraws it from the client. */
  expire(request: AgentRequest): void;
  /** Cancels them, and withdraws from the client what is answered. */
  cancelAndWithdraw(session: Session): void;
  /** The client leaves the session, or never was in it: answers all its requests, and withdraws them from the client. */
  endOf(session: Session): void;
  /** The agent's connection has ended: withdraws its requests. */
  endOfConnection(agent: Agent): void;
  /** The proxy stops: answers every agent that waits. */
  stop(): void;

  /** The newest request with the agent's id that is open on either side. */
  find(agent: Agent, idText: string): AgentRequest | undefined;
  /** A request that its agent waits for. */
  open(key: string): AgentRequest | undefined;
  /** The method of a request that the client may answer, of an agent or our own. */
  methodOf(key: string): string | undefined;
  /** The session's agent waits for the client's answer to a request. */
  isWaiting(session: Session): boolean;
  /** The same, or the client still shows a request that its agent no longer waits for. */
  isAsking(session: Session): boolean;
  /** How many requests of a method the session's agent waits for; without a session, those that belong to none. */
  count(owner: { readonly session: Session } | { readonly agent: Agent }, method: string): number;
  /** Whether the client still shows a request that was put to it under this session id, even one that its agent no longer waits for. */
  isAskedIn(publicId: string): boolean;
  /** The session that the agent named before it was opened is this one. */
  takeOver(discovered: Session, session: Session): void;
};

/** Only its owner changes it. */
type Open = { -readonly [key in keyof AgentRequest]: AgentRequest[key] };

/** Requests that we answered and the client did not. */
const MAX_ANSWERED = 1000;

/** What the protocol has a cancelled client answer. */
export const CANCELLED_PERMISSION = '{"outcome":{"outcome":"cancelled"}}';
const CANCELLED: Readonly<Record<string, string>> = {
  'session/request_permission': CANCELLED_PERMISSION,
  'elicitation/create': '{"action":"cancel"}',
};

export type RequestsDeps = {
  readonly client: {
    notify(frame: Frame, patches: readonly Patch[]): void;
    line(line: string): void;
  };
  readonly counters: Pick<Counters, 'strayAnswers'>;
};

export function createAgentRequests({ client, counters }: RequestsDeps): AgentRequests {
  const byKey = new Map<string, Open>();
  const bySession = new Map<Session, Set<Open>>();
  /** By the agent's ids, the newest of each. */
  const byAgent = new Map<Agent, Map<string, Open>>();
  /** Closed at the agent, open at the client. */
  const answered = new Set<Open>();
  const own = new Map<string, { readonly method: string; readonly onAnswer: (answer: Frame) => void }>();
  /** Withdrawn terminal/create requests, and their sessions at the client: a late answer names a terminal that nobody else would release. */
  const unwantedTerminals = new Map<string, string | undefined>();
  const elicitations = createAliases();
  let nextKey = 0;

  function add({ idText, method, agent, session, onAnswer, onCancel, onClosed, evaluated }: NewAgentRequest): Open {
    const key = String(nextKey++);
    const askedIn = session?.publicId;
    // Field by field: agents ask in every turn, and spreading is slow.
    const request: Open = {
      key,
      idText,
      method,
      agent,
      session,
      sessionIdAtRequest: askedIn,
      onAnswer,
      onCancel,
      onClosed,
      evaluated,
      isAutomatic: false,
      isOpen: true,
    };
    byKey.set(key, request);
    if (session) addTo(bySession, session, request);
    const sameAgent = byAgent.get(agent) ?? new Map<string, Open>();
    byAgent.set(agent, sameAgent.set(canonicalId(idText), request));
    return request;
  }
  function closeAtAgent(request: Open): void {
    if (!request.isOpen) return;
    request.isOpen = false;
    request.onClosed?.();
  }
  /** Forgets the record; false when that was so before. */
  function close(request: Open): boolean {
    const wasOpen = byKey.delete(request.key);
    answered.delete(request);
    if (request.session) removeFrom(bySession, request.session, request);
    const sameAgent = byAgent.get(request.agent);
    const id = canonicalId(request.idText);
    if (sameAgent?.get(id) === request) sameAgent.delete(id);
    if (sameAgent?.size === 0) byAgent.delete(request.agent);
    closeAtAgent(request);
    return wasOpen;
  }
  function notifyWithdrawn(key: string): void {
    client.line(notificationLine('$/cancel_request', `{"requestId":${key}}`));
  }
  function withdraw(request: Open): void {
    if (!close(request)) return;
    notifyWithdrawn(request.key);
    if (request.method === 'terminal/create') expectTerminal(request.key, request.sessionIdAtRequest);
  }
  /** The client may have created the terminal before it hears of the withdrawal. */
  function expectTerminal(key: string, sessionId: string | undefined): void {
    unwantedTerminals.set(key, sessionId);
    const [oldest] = unwantedTerminals.size > MAX_ANSWERED ? unwantedTerminals.keys() : [];
    if (oldest !== undefined) unwantedTerminals.delete(oldest);
  }
  function releaseUnwanted(key: string, answer: Frame): void {
    if (!unwantedTerminals.has(key)) return;
    const sessionId = unwantedTerminals.get(key);
    unwantedTerminals.delete(key);
    const terminalId = answer.outcome === 'result' ? stringIn(answer, 'terminalId') : undefined;
    if (terminalId !== undefined) send('terminal/release', JSON.stringify({ sessionId, terminalId }));
  }
  function send(method: string, paramsText: string): void {
    client.line(requestLine(String(nextKey++), method, paramsText));
  }
  /** An answer closes the client's side. Returns the request if its agent still waits. */
  function settle(key: string): Open | undefined {
    const request = byKey.get(key);
    const isOpen = request?.isOpen;
    if (request) close(request);
    return isOpen ? request : undefined;
  }
  function answerOwn(key: string, answer: Frame): boolean {
    const asked = own.get(key);
    own.delete(key);
    asked?.onAnswer(answer);
    return asked !== undefined;
  }
  /** A late answer has the id of a request that is forgotten. */
  function wasSent(key: string): boolean {
    return /^\d+$/.test(key) && Number(key) < nextKey;
  }
  function answer(frame: Frame): boolean {
    const key = idTextOf(frame);
    if (answerOwn(key, frame)) return true;
    const request = settle(key);
    if (!request) {
      releaseUnwanted(key, frame);
      counters.strayAnswers++;
      return wasSent(key);
    }
    const { session, agent, idText, method } = request;
    session?.stallWatch?.noteActivity(); // restarts the stall timer
    if (request.onAnswer?.(frame)) return true;
    if (frame.outcome === 'unclear') refuse(request, failure('ANSWER_UNCLEAR', ['the editor', method]));
    else agent.answer(frame, idText);
    return true;
  }
  /** The client's answer cannot be used. A permission that cannot be read is none. */
  function refuse({ agent, idText, method }: Open, error: ProxyError): void {
    if (method === 'session/request_permission') agent.succeed(idText, CANCELLED_PERMISSION);
    else agent.fail(idText, error);
  }
  /** Of the session, those that the agent waits for at the moment. An answer may end the agent: look at `isOpen` before each. */
  function openIn(session: Session): readonly Open[] {
    return [...(bySession.get(session) ?? [])].filter(({ isOpen }) => isOpen);
  }
  function cancel(session: Session): readonly Open[] {
    const cancelled: Open[] = [];
    for (const request of openIn(session)) {
      const { method, agent, idText, onCancel } = request;
      const result = CANCELLED[method];
      if (!request.isOpen || (!onCancel && result === undefined)) continue;
      closeAtAgent(request);
      answered.add(request);
      // A client that never answers must not fill our memory. Its late answer is dropped just the same.
      const [oldest] = answered;
      if (oldest && answered.size > MAX_ANSWERED) close(oldest);
      if (onCancel) onCancel();
      else agent.succeed(idText, result as string);
      cancelled.push(request);
    }
    return cancelled;
  }
  function cancelAndWithdraw(session: Session): void {
    cancel(session);
    for (const request of bySession.get(session) ?? []) if (!request.isOpen) withdraw(request);
  }

  return {
    elicitations,
    mcpRequests: createAliases(),
    put(asked, frame, patches) {
      const request = add(asked);
      client.notify(frame, [{ span: frame.id as Span, text: request.key }, ...patches]);
      return request;
    },
    putOwn(asked, paramsText) {
      const request = add(asked);
      client.line(requestLine(request.key, asked.method, paramsText));
      return request;
    },
    ask(method, paramsText, onAnswer) {
      const key = String(nextKey++);
      own.set(key, { method, onAnswer });
      client.line(requestLine(key, method, paramsText));
      return () => {
        if (!own.delete(key)) return;
        notifyWithdrawn(key);
        if (method === 'terminal/create') expectTerminal(key, (JSON.parse(paramsText) as { sessionId?: string }).sessionId);
      };
    },
    send,

    answered: answer,
    unusable(key, error) {
      const instead = parseLine(errorLine(key, error));
      if (!instead || answerOwn(key, instead)) return;
      const request = settle(key);
      if (!request || request.onAnswer?.(instead)) return;
      refuse(request, failure('ANSWER_REFUSED', ['the editor', request.method, error.message]));
    },
    answeredElsewhere(frame) {
      answer(frame);
      notifyWithdrawn(idTextOf(frame));
    },

    forwardCancel: ({ key }, notification, requestId) => client.notify(notification, [{ span: requestId, text: key }]),
    withdraw,
    cancel,
    cancelAndWithdraw,
    expire(request) {
      const { isOpen, agent, idText, method } = request;
      withdraw(request);
      if (isOpen) agent.succeed(idText, CANCELLED[method] as string);
    },
    endOf(session) {
      const { publicId: sessionId } = session;
      cancelAndWithdraw(session);
      for (const request of openIn(session)) {
        if (!request.isOpen) continue;
        withdraw(request);
        request.agent.fail(request.idText, failure('SESSION_UNKNOWN', [sessionId], { sessionId }));
      }
    },
    endOfConnection(agent) {
      elicitations.releaseAll(agent);
      for (const request of [...byKey.values()]) if (request.agent === agent) withdraw(request);
    },
    stop() {
      for (const request of [...byKey.values()]) {
        const { isOpen, agent, idText, onCancel } = request;
        close(request);
        if (!isOpen) continue;
        // A request of the policy has an id that the agent does not know; `onCancel` answers the agent's own.
        if (onCancel) onCancel();
        else agent.fail(idText, failure('SHUTTING_DOWN', []));
      }
    },

    find: (agent, idText) => byAgent.get(agent)?.get(canonicalId(idText)),
    markAutomatic(key) {
      const request = byKey.get(key);
      if (request) request.isAutomatic = true;
    },
    open(key) {
      const request = byKey.get(key);
      return request?.isOpen ? request : undefined;
    },
    methodOf(key) {
      const request = byKey.get(key);
      return request?.isOpen ? request.method : own.get(key)?.method;
    },
    isWaiting(session) {
      for (const { isOpen } of bySession.get(session) ?? []) if (isOpen) return true;
      return false;
    },
    isAsking: (session) => bySession.has(session),
    count(owner, method) {
      let count = 0;
      const among = 'session' in owner ? (bySession.get(owner.session) ?? []) : byKey.values();
      for (const { isOpen, method: one, session, agent } of among)
        if (isOpen && one === method && ('session' in owner || (agent === owner.agent && session === undefined))) count++;
      return count;
    },
    isAskedIn(publicId) {
      for (const { sessionIdAtRequest: askedIn } of byKey.values()) if (askedIn === publicId) return true;
      return false;
    },
    takeOver(discovered, session) {
      for (const request of bySession.get(discovered) ?? []) {
        request.session = session;
        addTo(bySession, session, request);
      }
      bySession.delete(discovered);
    },
  };
}

function addTo<K, V>(index: Map<K, Set<V>>, key: K, value: V): void {
  const values = index.get(key);
  if (values) values.add(value);
  else index.set(key, new Set([value]));
}

function removeFrom<K, V>(index: Map<K, Set<V>>, key: K, value: V): void {
  const values = index.get(key);
  values?.delete(value);
  if (values?.size === 0) index.delete(key);
}
