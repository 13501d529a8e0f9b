// The cut between the client side (`client/`) and the agent side (everything else in this folder). Frames are bytes on both sides of it.
import type { ProxyError } from '../errors.ts';
import type { Frame } from '../wire/frame.ts';
import type { FrameBatch } from '../wire/scanner/frame-batch.ts';
import type { Patch } from '../wire/writer.ts';
import type { Agent } from './agents/agent.ts';
import type { Session } from './sessions/session.ts';

/** A request from the client. The client side creates it; the agent side settles it once, through `ClientPort`. */
export type ClientRequest = {
  /** As the client wrote it. */
  readonly idText: string;
  readonly method: string;
  session: Session | undefined;
  /** The session id in it, while the owner of that session is unknown. */
  soughtSessionId: string | undefined;
  /** The agent that works on it, and our id there; undefined while no agent has it. */
  forwardedTo: { readonly agent: Agent; readonly id: string } | undefined;
  /** The client has cancelled it, or its turn was cancelled. */
  isCancelled: boolean;
  /** Its turn has exceeded `timeouts.prompt_ms`: it ends with this error, whatever the agent answers. */
  overdue: ProxyError | undefined;
  isAnswered: boolean;
  /** Stops the proxy's own work for it once it is answered; undefined when only an agent works on it. */
  abandon: (() => void) | undefined;
};

/** What the agent side can do to a client. */
export interface ClientPort {
  /** Passes an agent's answer on, under the client's own id. */
  pass(request: ClientRequest, answer: Frame, patches?: readonly Patch[]): void;
  succeed(request: ClientRequest, resultText: string): void;
  fail(request: ClientRequest, error: ProxyError): void;
  /** Reports a bug that a frame has found, and fails its request. Other frames go on. */
  failInternally(request: ClientRequest | undefined, method: string, error: unknown): void;
  /** The open request with this id. */
  find(idText: string): ClientRequest | undefined;
  openRequests(): readonly ClientRequest[];
  notify(frame: Frame, patches?: readonly Patch[]): void;
  notifyBatch(batch: FrameBatch): void;
  line(line: string): void;
  /** Delays a line until the next write or `flush`. True for the first that waits. */
  later(make: () => string): boolean;
  flush(): void;
}

/** Several clients that share this connection: `src/attach` stands between them and the proxy. */
export interface Multiplexer {
  /** The agent gets a prompt now. It may have waited, and its text may have been changed. */
  promptBegan(idText: string, frame: Frame): void;
  /** Whether one of the clients serves files or terminals of this session now. */
  serves(sessionId: string, method: string): boolean;
}

/** What a client connection can do to the agent side. */
export interface AgentSide {
  /** The proxy is shutting down: requests are refused. */
  isClosed(): boolean;
  /** Answers initialize, then calls `answered`; false when the params are unusable. */
  initialize(request: ClientRequest, frame: Frame, answered: () => void): boolean;
  /** Takes a request or notification. */
  receive(request: ClientRequest | undefined, frame: Frame): void;
  /** A request is about to get its answer. */
  settled(request: ClientRequest): void;
  /** Its answer is on its way. */
  answerSent(request: ClientRequest): void;
  /** Takes the client's answer to a request from the agent side; false when it matches none. */
  answered(answer: Frame): boolean;
  /** The client's answer to such a request cannot be read. */
  unusable(key: string, error: ProxyError): void;
  /** Back-pressure: the client does not read. */
  pause(): void;
  resume(): void;
}
