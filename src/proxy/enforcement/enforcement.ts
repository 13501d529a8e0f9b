// Enforcement of a policy as the rest of the proxy sees it. The implementation loads the policy engine and its parsers, so it is imported only
// when there is a policy.
import { OPENS_SESSION } from '../../acp/methods.ts';
import type { ProxyError } from '../../errors.ts';
import type { GateVerdict, ToolRequest } from '../../mcp/server/gate.ts';
import type { Action } from '../../policy/actions/action.ts';
import type { TerminalRequest } from '../../policy/actions/surfaces.ts';
import type { Decision } from '../../policy/decide.ts';
import type { Verdict } from '../../policy/rules/rule.ts';
import type { Change } from '../../review/review.ts';
import type { Frame } from '../../wire/frame.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent, Call } from '../agents/agent.ts';
import type { Clock } from '../context.ts';
import type { AgentRequest, AgentRequests } from '../requests/agent-requests.ts';
import type { Session } from '../sessions/session.ts';
import type { Connecting } from './surfaces/network.ts';
import type { UserPage } from './surfaces/user-actions.ts';

/** The policy's decision about a request that is put to the user. The text of the request is the agent's. */
export type Evaluated = {
  readonly action: Action;
  readonly decision: Decision;
  /** The policy asks, not the agent. */
  readonly isFromPolicy: boolean;
};

/** Passes a request on to the client, as without a policy; undefined when it was answered on the way. */
export type PassOn = (
  frame: Frame,
  more?: Partial<Pick<AgentRequest, 'onAnswer' | 'onCancel' | 'onClosed'>> & {
    readonly patches?: readonly Patch[];
    /** The real path when it was evaluated. */
    readonly evaluatedPath?: string | undefined;
    readonly about?: Evaluated;
  },
) => AgentRequest | undefined;

export type BridgedCall = Pick<ToolRequest, 'server' | 'tool' | 'args'>;

/** What enforcement may do in its proxy. */
export type EnforcementHost = {
  readonly clock: Clock;
  readonly requests: Pick<AgentRequests, 'putOwn' | 'withdraw'>;
  /** The only configured agent. */
  singleAgent(): Agent | undefined;
  /** A message for people, in the log. */
  report(text: string): void;
  /** A warning to the user, in the session. */
  warn(session: Session, title: string, text: string): void;
  /** Whether the client shows notices. */
  showsNotices(): boolean;
  /** Sends the client an update from the proxy. */
  update(sessionId: string, update: object): void;
  skipLine(agent: Agent, reason: string): void;
  cancelTurns(session: Session): void;
  /** The policy refuses the session: ends its requests and revokes its tools, which would be another way in. */
  cutOff(session: Session): void;
  closeAt(agent: Agent, nativeId: string): void;
};

export type CreateEnforcement = (host: EnforcementHost) => Enforcement;

export type Enforcement = {
  /** A request from an agent, before the client sees it. */
  agentRequest(agent: Agent, session: Session | undefined, frame: Frame, passOn: PassOn): void;
  /** Whether to drop a notification: it is a request without an id. */
  refusesNotification(agent: Agent, session: Session | undefined, frame: Frame): boolean;
  /** Whether to drop an update: the client may read it differently than the policy. */
  refusesUpdate(session: Session, kind: string | undefined, frame: Frame): boolean;
  /** Whether a reader could take the frame for several. */
  refusesCarriageReturn(frame: Frame): boolean;
  /** The agent withdraws a request that waits behind another one; false when none does. */
  withdrawWaiting(agent: Agent, idText: string): boolean;
  /** A session that the agent named early is this one: requests that wait there keep their order with those of this one. */
  takeOver(discovered: Session, session: Session): void;
  /** An update about a tool call, for a later permission request, and for calls that the agent asked no permission for. */
  toolCall(session: Session, frame: Frame): void;
  /** The agent reports its mode. */
  modeUpdate(session: Session, frame: Frame): void;
  /** An agent's answer to one of `NARROWED`: removes refused modes before the client sees it. */
  narrowAnswer(agent: Agent, call: Call, answer: Frame, then: (answer: Frame) => void): void;
  /** The same for an update that lists options. */
  narrowUpdate(session: Session, frame: Frame): Frame;
  /** Why the client may not set this mode or option. */
  refusesChange(method: string, session: Session | undefined, frame: Frame): ProxyError | undefined;
  /** Asks the user about a change after which the agent may act without asking; false if there is nothing to ask. Calls back with the frame. */
  confirmsChange(method: string, session: Session, frame: Frame, then: (frame: Frame, error: ProxyError | undefined) => void): boolean;
  /** Why a session may not be opened with these MCP servers. */
  refusesServers(agent: Agent, paramsText: string | undefined): ProxyError | undefined;
  /** Whether agents see this tool. */
  exposes(server: string, tool: string): boolean;
  /** Whether a search may read a file without asking. */
  mayRead(session: Session, file: string): boolean;
  /** The user reads or edits a file of a session on a page: only a rule that denies it stops that. */
  fileActionByUser(session: Session, act: 'read' | 'edit', file: string, where?: UserPage): GateVerdict;
  /** The same for a command that the user runs in a session's directories. */
  commandByUser(session: Session, command: TerminalRequest): GateVerdict;
  /** A change that waits in a session's layer, at the end of a turn. `mustAsk`: an allow is not enough. */
  reviewChange(session: Session, change: Change, mustAsk: boolean): { readonly verdict: Verdict; readonly why: string };
  /** The user decided about it. False: the policy denies it by now. */
  changeAnswered(session: Session, change: Change, isAllowed: boolean): boolean;
  /** A call of a host tool, before it runs. Once `signal` is aborted, nobody is asked about it. */
  hostToolCall(session: Session, request: ToolRequest, signal: AbortSignal): Promise<GateVerdict>;
  /** A call of a tool of the client's own server, through a bridge. */
  bridgedCall(session: Session, call: BridgedCall, signal: AbortSignal): Promise<GateVerdict>;
  /** A contained agent connects to a host. Undefined: allowed; otherwise the reason. */
  networkConnection(agent: Agent, session: Session | undefined, connecting: Connecting, signal: AbortSignal): Promise<string | undefined>;
  /** A program presented an invalid token for the tools of a session. */
  tokenRefused(why: string): void;
  /** A turn of the session ends; its answer has not been sent yet. */
  turnEnding(session: Session): void;
  /** The session has ended, and with it the answers that were kept for it alone. */
  ended(session: Session): void;
  maxPendingPermissions(): number | undefined;
  /** Evaluations have taken so long in this turn of the event loop that the others should come first. */
  mustYield(): boolean;
};

/** Requests whose answers list modes. */
export const NARROWED: ReadonlySet<string> = new Set([...OPENS_SESSION, 'session/set_config_option']);
