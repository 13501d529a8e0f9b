// The ledger: what every peer has sent, as it was meant. The proxy's output is checked against it. Frames carry their number in
// `_meta.sim`, by which the proxy's output is looked up here.
import type { Writing } from './frame-text.ts';

/** A session at an agent. It survives the agent's processes, as sessions on a disk do. */
export type AgentSession = {
  readonly agent: string;
  readonly native: string;
  /** The client's opening it goes back to; a session that changes its agent keeps it. */
  readonly lineage: number;
  readonly cwd: string;
  mode: string;
  turns: number;
  /** The number of the response that opened it, once the proxy has all of it. */
  openedBy: number | undefined;
  isDeleted: boolean;
  /** Opened for a delegation, and not found by the client. */
  isDelegation: boolean;
  /** The session that it is for, once that is known. */
  delegationFor: AgentSession | undefined;
};

/** The client's session in which requests appear. */
export const clientsOwn = (session: AgentSession): AgentSession => (session.delegationFor ? clientsOwn(session.delegationFor) : session);

/**
 * What the proxy must do with a frame: `must` reach the other side, `may` be dropped, or `never` be forwarded because nobody could make
 * sense of it.
 */
export type Fate = 'must' | 'may' | 'never';

export type AgentFrame = {
  readonly serial: number;
  readonly agent: string;
  readonly run: number;
  readonly kind: 'update' | 'request' | 'answer' | 'notification' | 'noise';
  readonly method: string | undefined;
  readonly session: AgentSession | undefined;
  /** Frames of one stream must arrive in the order in which they were sent. */
  readonly stream: string | undefined;
  readonly writing: Writing;
  /** Of a request: its id as the agent wrote it. */
  readonly idText: string | undefined;
  /** Of a response: the number of the client's frame. */
  readonly answerTo: number | undefined;
  readonly about: Readonly<Record<string, unknown>>;
  fate: Fate;
  /** The proxy has all of its bytes, and its process was alive then. */
  isDelivered: boolean;
  isReceived: boolean;
};

export type ClientFrame = {
  readonly serial: number;
  readonly kind: 'request' | 'notification' | 'answer' | 'noise';
  readonly method: string | undefined;
  readonly idText: string | undefined;
  readonly publicId: string | undefined;
  /** The session it means, when the client can know. */
  readonly lineage: number | undefined;
  /** The lineage that its response begins. */
  readonly opens: number | undefined;
  readonly writing: Writing;
  /** Of a response: the number of the agent's request. */
  readonly answerTo: number | undefined;
  readonly about: Readonly<Record<string, unknown>>;
  readonly fate: Fate;
  isDelivered: boolean;
  /** Responses that the client has received for it. */
  answers: number;
};

export type Ledger = {
  readonly agentFrames: readonly AgentFrame[];
  readonly clientFrames: readonly ClientFrame[];
  agentFrame(serial: unknown): AgentFrame | undefined;
  clientFrame(serial: unknown): ClientFrame | undefined;
  /** Numbers a frame before it is written, because the number goes into it. */
  nextSerial(): number;
  noteAgent(frame: AgentFrame): AgentFrame;
  noteClient(frame: ClientFrame): ClientFrame;
  newLineage(): number;
  addSession(session: AgentSession): AgentSession;
  sessionAt(agent: string, native: string): AgentSession | undefined;
  sessionsOf(lineage: number): readonly AgentSession[];
  /** The client has found a delegated session. Delegations that were made there are still for the session that it was for. */
  ownedByClient(session: AgentSession): void;
};

export function createLedger(): Ledger {
  const agentFrames: AgentFrame[] = [];
  const clientFrames: ClientFrame[] = [];
  const fromAgents = new Map<unknown, AgentFrame>();
  const fromClient = new Map<unknown, ClientFrame>();
  const sessions = new Map<string, AgentSession>();
  let serial = 0;
  let lineages = 0;
  return {
    agentFrames,
    clientFrames,
    agentFrame: (wanted) => fromAgents.get(wanted),
    clientFrame: (wanted) => fromClient.get(wanted),
    nextSerial: () => ++serial,
    noteAgent(frame) {
      agentFrames.push(frame);
      fromAgents.set(frame.serial, frame);
      return frame;
    },
    noteClient(frame) {
      clientFrames.push(frame);
      fromClient.set(frame.serial, frame);
      return frame;
    },
    newLineage: () => ++lineages,
    addSession(session) {
      sessions.set(`${session.agent}\n${session.native}`, session);
      return session;
    },
    sessionAt: (agent, native) => sessions.get(`${agent}\n${native}`),
    ownedByClient(session) {
      const { delegationFor } = session;
      session.isDelegation = false;
      session.delegationFor = undefined;
      if (delegationFor) for (const other of sessions.values()) if (other.delegationFor === session) other.delegationFor = delegationFor;
    },
    sessionsOf: (lineage) => [...sessions.values()].filter((session) => session.lineage === lineage),
  };
}
