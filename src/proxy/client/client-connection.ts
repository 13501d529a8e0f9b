// The editor's side: its open requests, each answered exactly once, and the questions agents have put to it.
import { failure, type ProxyError } from '../../errors.ts';
import { canonicalId } from '../../router/request-ledger.ts';
import type { Frame } from '../../wire/frame.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { inOrder, type Patch, type Writer } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import type { Evaluated } from '../enforcement/enforcement.ts';
import { errorLine, requestLine, resultLine } from '../messages.ts';
import type { Session } from '../sessions/session.ts';

/** A request of the editor's that has no answer yet. */
export type OpenRequest = {
  /** As the editor wrote it. */
  readonly idText: string;
  readonly method: string;
  session: Session | undefined;
  /** The session that it names, while nobody knows whose that is. */
  sought: string | undefined;
  /** Where it waits for an answer; undefined while it is here. */
  at: { readonly agent: Agent; readonly id: string } | undefined;
  /** The editor has taken it back, or its turn was cancelled. */
  isCancelled: boolean;
  isAnswered: boolean;
  /** Stops what is being done for it here, as soon as it has an answer; undefined when only an agent works on it. */
  abandon: (() => void) | undefined;
};

/** A request of an agent's that the editor has not answered yet. */
export type AgentRequest = {
  /** As the editor sees it. */
  readonly id: string;
  /** As the agent wrote it. */
  readonly idText: string;
  readonly method: string;
  readonly agent: Agent;
  session: Session | undefined;
  /** What that was called when the editor was asked. */
  readonly askedIn: string | undefined;
  /** A look at the answer before it goes on; `true` when it has been dealt with and does not. */
  readonly onAnswer: ((frame: Frame) => boolean) | undefined;
  /** The turn it belongs to was cancelled; for questions that are not answered in their own words then. */
  readonly onCancel: (() => void) | undefined;
  /** Called when it is answered or withdrawn, by whomever. */
  readonly onSettled: (() => void) | undefined;
  readonly judged: Evaluated | undefined;
  /** The agent has its answer from us; the editor may still show the question, and answer it too. */
  isAnswered: boolean;
};

export type NewAgentRequest = Omit<AgentRequest, 'id' | 'isAnswered' | 'askedIn' | 'judged'> & { readonly judged?: Evaluated | undefined };

export type ClientConnection = {
  /** Notes a request; undefined (and answered) when its id is already in use. */
  open(frame: Frame): OpenRequest | undefined;
  /** Passes an agent's answer on, with the editor's own id in it. */
  pass(request: OpenRequest, answer: Frame, patches?: readonly Patch[]): void;
  succeed(request: OpenRequest, resultText: string): void;
  fail(request: OpenRequest, error: ProxyError): void;
  /** An error that answers no known request. */
  complain(idText: string, error: ProxyError): void;
  /** The request the editor means by an id. */
  find(idText: string): OpenRequest | undefined;
  openRequests(): Iterable<OpenRequest>;

  /** Puts an agent's request to the editor. */
  ask(frame: Frame, agentRequest: NewAgentRequest, patches: readonly Patch[]): AgentRequest;
  /** Puts a question of our own to the editor, on behalf of an agent's request. */
  askOwn(method: string, paramsText: string, agentRequest: NewAgentRequest): AgentRequest;
  /** The question an answer belongs to, which is then no longer open; undefined when nobody waits for that answer. */
  settle(idText: string): AgentRequest | undefined;
  findRequest(agent: Agent, idText: string): AgentRequest | undefined;
  /** Whether a question is open that was asked in a session of this id. */
  asksIn(publicId: string): boolean;
  /** A question that nobody has answered yet, by the id the editor knows. */
  openRequest(id: string): AgentRequest | undefined;
  /** We have answered the question ourselves; the editor's own answer will be dropped. */
  answeredByUs(agentRequest: AgentRequest): void;
  /** The session's questions that we have answered and the editor has not. */
  answeredIn(session: Session): readonly AgentRequest[];
  /** Nobody asks any more; false when that was so before. */
  forget(agentRequest: AgentRequest): boolean;
  requestsOf(agent: Agent): readonly AgentRequest[];
  agentRequests(): readonly AgentRequest[];

  /** A request of our own, under the id that is returned. */
  ownRequest(method: string, paramsText: string, onAnswer?: (answer: Frame) => void): string;
  /** Hands an answer to whoever waits for it; false when it belongs to no request of our own. */
  ownAnswer(idText: string, answer: Frame): boolean;
  /** What a request of our own asks for, while somebody waits for its answer. */
  ownMethod(id: string): string | undefined;
  /** Nobody waits for it any more. */
  forgetOwn(id: string): void;
  notify(frame: Frame, patches?: readonly Patch[]): void;
  line(line: string): void;
  /** A line that need not go at once: it goes before anything else does, or with `flush`. True for the first that waits. */
  later(make: () => string): boolean;
  flush(): void;
};

/** Questions that we have answered ourselves and the editor has not. */
const MAX_ANSWERED_HERE = 1000;

export function createClientConnection(writer: Writer): ClientConnection {
  const requests = new Map<string, OpenRequest>();
  /** Requests with the id null cannot be told apart, so they are not found by it. */
  const nameless = new Set<OpenRequest>();
  const agentRequests = new Map<string, AgentRequest>();
  /** The same by the agent's own ids, the newest of each. */
  const byAgent = new WeakMap<Agent, Map<string, AgentRequest>>();
  const answeredHere = new Set<AgentRequest>();
  const own = new Map<string, { readonly method: string; readonly onAnswer: (answer: Frame) => void }>();
  let nextRequestId = 0;
  let held: (() => string)[] | undefined;
  function flush(): void {
    if (held === undefined) return;
    const lines = held;
    held = undefined;
    for (const make of lines) writer.line(make());
  }
  /** Behind what was held back. */
  function writeLine(line: string): void {
    if (held !== undefined) flush();
    writer.line(line);
  }
  function writeFrame(frame: Frame, patches: readonly Patch[]): void {
    if (held !== undefined) flush();
    writer.frame(frame, patches);
  }

  /** False if somebody has answered it before. Behind the answer, what has waited may go on: then it is called off. */
  function answers(request: OpenRequest): boolean {
    if (request.isAnswered) return false;
    request.isAnswered = true;
    requests.delete(canonicalId(request.idText));
    nameless.delete(request);
    request.session?.turns.delete(request);
    return true;
  }
  function answerByLine(request: OpenRequest, line: string): void {
    if (!answers(request)) return;
    writeLine(line);
    request.abandon?.();
  }
  function noted(asked: NewAgentRequest): AgentRequest {
    const { idText, method, agent, session, onAnswer, onCancel, onSettled, judged } = asked;
    const id = String(nextRequestId++);
    // Field by field: agents ask in every turn, and copies made by spreading are slow to make and slow to read.
    const askedIn = session?.publicId;
    const agentRequest: AgentRequest = {
      id,
      idText,
      method,
      agent,
      session,
      askedIn,
      onAnswer,
      onCancel,
      onSettled,
      judged,
      isAnswered: false,
    };
    agentRequests.set(agentRequest.id, agentRequest);
    agentRequest.session?.agentRequests.add(agentRequest);
    const own = byAgent.get(agentRequest.agent) ?? new Map<string, AgentRequest>();
    byAgent.set(agentRequest.agent, own.set(canonicalId(agentRequest.idText), agentRequest));
    return agentRequest;
  }
  function settled(agentRequest: AgentRequest): void {
    if (agentRequest.isAnswered) return;
    agentRequest.isAnswered = true;
    agentRequest.session?.agentRequests.delete(agentRequest);
    agentRequest.onSettled?.();
  }
  function dropRequest(agentRequest: AgentRequest): boolean {
    const wasKnown = agentRequests.delete(agentRequest.id);
    answeredHere.delete(agentRequest);
    const own = byAgent.get(agentRequest.agent);
    const key = canonicalId(agentRequest.idText);
    if (own?.get(key) === agentRequest) own.delete(key);
    settled(agentRequest);
    return wasKnown;
  }

  return {
    open(frame) {
      const idText = idTextOf(frame);
      const method = frame.method as string;
      const request: OpenRequest = {
        idText,
        method,
        session: undefined,
        sought: undefined,
        at: undefined,
        isCancelled: false,
        isAnswered: false,
        abandon: undefined,
      };
      if (idText === 'null') {
        nameless.add(request);
        return request;
      }
      const key = canonicalId(idText);
      if (requests.has(key)) {
        writeLine(errorLine(idText, failure('ID_IN_USE', [idText])));
        return undefined;
      }
      requests.set(key, request);
      return request;
    },
    pass(request, frame, patches = []) {
      if (!answers(request)) return;
      const own = { span: frame.id as { start: number; end: number }, text: request.idText };
      writeFrame(frame, inOrder([own, ...patches]));
      request.abandon?.();
    },
    succeed: (request, resultText) => answerByLine(request, resultLine(request.idText, resultText)),
    fail: (request, error) => answerByLine(request, errorLine(request.idText, error)),
    complain: (idText, error) => writeLine(errorLine(idText, error)),
    find: (idText) => requests.get(canonicalId(idText)),
    openRequests: () => [...requests.values(), ...nameless],

    ask(frame, asked, patches) {
      const agentRequest = noted(asked);
      writeFrame(frame, inOrder([{ span: frame.id as { start: number; end: number }, text: agentRequest.id }, ...patches]));
      return agentRequest;
    },
    askOwn(method, paramsText, asked) {
      const agentRequest = noted(asked);
      writeLine(requestLine(agentRequest.id, method, paramsText));
      return agentRequest;
    },
    settle(idText) {
      const agentRequest = agentRequests.get(idText);
      if (!agentRequest) return undefined;
      const isWaitedFor = !agentRequest.isAnswered;
      dropRequest(agentRequest);
      return isWaitedFor ? agentRequest : undefined;
    },
    asksIn(publicId) {
      for (const { askedIn, isAnswered } of agentRequests.values()) if (askedIn === publicId && !isAnswered) return true;
      return false;
    },
    openRequest(id) {
      const agentRequest = agentRequests.get(id);
      return agentRequest?.isAnswered ? undefined : agentRequest;
    },
    // The newest: an id may be in use again while the editor has not yet answered the question that we have.
    findRequest: (agent, idText) => byAgent.get(agent)?.get(canonicalId(idText)),
    answeredByUs(agentRequest) {
      settled(agentRequest);
      answeredHere.add(agentRequest);
      // An editor that never answers them must not fill our memory; without its question, a late answer is dropped just the same.
      const [oldest] = answeredHere;
      if (oldest && answeredHere.size > MAX_ANSWERED_HERE) dropRequest(oldest);
    },
    answeredIn: (session) => [...answeredHere].filter((agentRequest) => agentRequest.session === session),
    forget: dropRequest,
    agentRequests: () => [...agentRequests.values()],
    requestsOf: (agent) => [...agentRequests.values()].filter((agentRequest) => agentRequest.agent === agent),

    ownRequest(method, paramsText, onAnswer) {
      const id = String(nextRequestId++);
      if (onAnswer) own.set(id, { method, onAnswer });
      writeLine(requestLine(id, method, paramsText));
      return id;
    },
    ownAnswer(idText, answer) {
      const asked = own.get(idText);
      own.delete(idText);
      asked?.onAnswer(answer);
      return asked !== undefined;
    },
    ownMethod: (id) => own.get(id)?.method,
    forgetOwn: (id) => void own.delete(id),
    notify: (frame, patches = []) => writeFrame(frame, patches.length > 1 ? inOrder(patches) : patches),
    line: writeLine,
    later(make) {
      held?.push(make);
      if (held) return false;
      held = [make];
      return true;
    },
    flush,
  };
}
