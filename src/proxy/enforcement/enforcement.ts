// Where a policy is asked, as the rest of the proxy sees it. What stands behind it (guard/) brings the engine and its parsers with it,
// and is loaded only when there is a policy.
import type { ProxyError } from '../../errors.ts';
import type { GateVerdict, ToolRequest } from '../../mcp/server/gate.ts';
import type { Action } from '../../policy/actions/action.ts';
import type { Decision } from '../../policy/decide.ts';
import type { Frame } from '../../wire/frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent, Call } from '../agents/agent.ts';
import type { ProxyParts } from '../parts.ts';
import type { AgentRequest } from '../requests/agent-requests.ts';
import type { Session } from '../sessions/session.ts';

/** What a policy has said of a question that is put to the editor, for whoever shows it: the question itself is the agent's to word. */
export type Evaluated = {
  readonly asked: Action;
  readonly decision: Decision;
  /** The agent did not ask; the policy wants it asked. */
  readonly isOurs: boolean;
};

/** Goes on to the editor with the question, as it would without a policy; undefined when it was answered on the way. */
export type PassOn = (
  frame: Frame,
  more?: Partial<Pick<AgentRequest, 'onAnswer' | 'onCancel' | 'onClosed'>> & {
    readonly patches?: readonly Patch[];
    /** Where the path it is about really led when it was judged. */
    readonly evaluatedPath?: string | undefined;
    /** What the policy has said of it. */
    readonly about?: Evaluated;
  },
) => AgentRequest | undefined;

/** A call through a bridge. */
export type BridgedCall = Pick<ToolRequest, 'server' | 'tool' | 'args'>;

export type Enforcement = {
  /** A request of an agent's, before the editor sees it. */
  agentRequest(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame, passOn: PassOn): void;
  /** Whether a notification must not be passed on: it is a request in disguise. */
  refusesNotification(proxy: ProxyParts, agent: Agent, session: Session | undefined, frame: Frame): boolean;
  /** Whether an update must not be passed on: the editor may read it otherwise than it was judged. */
  refusesUpdate(proxy: ProxyParts, session: Session, kind: string | undefined, frame: Frame): boolean;
  /** Whether a frame could be read as several. */
  refusesReturn(frame: Frame): boolean;
  /** The agent takes back a request that waits for the user's answer to another one; false when none does. */
  takesBack(agent: Agent, idText: string): boolean;
  /** A tool call as an update tells of it: for what is asked about it later, and for what was never asked. */
  toolCall(proxy: ProxyParts, session: Session, frame: Frame): void;
  /** The agent says what its mode is. */
  modeUpdate(proxy: ProxyParts, session: Session, frame: Frame): void;
  /** An agent's answer to one of `NARROWED`: what a policy refuses is taken out before anybody sees it. */
  answer(proxy: ProxyParts, agent: Agent, call: Call, answer: Frame, then: (answer: Frame) => void): void;
  /** The same for an update that lists options. */
  narrowed(session: Session, frame: Frame): Frame;
  /** Why the editor may not set this mode or option. */
  refusesChange(proxy: ProxyParts, method: string, session: Session | undefined, frame: Frame): ProxyError | undefined;
  /** Why a session may not be opened with the servers it is given. */
  refusesServers(proxy: ProxyParts, agent: Agent, paramsText: string | undefined): ProxyError | undefined;
  /** Whether agents get to see this tool. */
  exposes(server: string, tool: string): boolean;
  /** Whether a file may be looked into without a question; for a search, which meets many. */
  mayRead(proxy: ProxyParts, session: Session, file: string): boolean;
  /** What the user does in a session by hand, somewhere else than in the editor: only a rule that refuses it stops that. */
  byUser(proxy: ProxyParts, session: Session, act: 'read' | 'edit', file: string): GateVerdict;
  /** A call of a tool that we lend, before it runs. Once `signal` is aborted nobody is asked about it any more. */
  hostToolCall(proxy: ProxyParts, session: Session, request: ToolRequest, signal: AbortSignal): Promise<GateVerdict>;
  /** A call of a tool of the editor's own server, which reaches it through us. */
  bridgedCall(proxy: ProxyParts, session: Session, call: BridgedCall, signal: AbortSignal): Promise<GateVerdict>;
  /** Somebody wanted tools of a session with a token that is worth nothing. */
  tokenRefused(why: string): void;
  /** The session has ended, and with it what was answered for it alone. */
  ended(session: Session): void;
  maxPendingPermissions(): number | undefined;
};

/** The requests whose answers say which modes there are. */
export const NARROWED: ReadonlySet<string> = new Set([
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
  'session/set_config_option',
]);
