// Calls of host tools, and connections of contained agents. The proxy runs them, so it knows what they do: files and commands are evaluated as such, and also by the tool's name.
import { isIP } from 'node:net';
import type { GateVerdict, ToolRequest } from '../../../mcp/server/gate.ts';
import type { Action, Place as ActionPlace } from '../../../policy/actions/action.ts';
import { hostAction, mcpAction, pathAction, type TerminalRequest, terminalAction, toolAction } from '../../../policy/actions/surfaces.ts';
import type { Rule } from '../../../policy/rules/rule.ts';
import type { Agent } from '../../agents/agent.ts';
import type { Session } from '../../sessions/session.ts';
import { TOOL_KINDS, titleOf } from '../../tools/tool-gate.ts';
import { askAboutCall } from '../ask-user.ts';
import type { BridgedCall } from '../enforcement.ts';
import { stateOf } from '../enforcement-state.ts';
import { type About, type EnforcementDeps, evaluate, type PendingAction, record, write } from '../evaluate.ts';
import { reportRefusal } from '../reports.ts';

export async function hostToolCall(
  deps: EnforcementDeps,
  session: Session,
  request: ToolRequest,
  signal: AbortSignal,
): Promise<GateVerdict> {
  const { agent } = session;
  const about = { agent, session, surface: 'tools/call' };
  const { server, tool, args } = request;
  const text = JSON.stringify({ server, tool, args });
  const look = () => evaluateTool(deps, about, text, request);
  const action = look();
  const call = session.servers.calls.of(args);
  const shown = { title: titleOf(request), kind: TOOL_KINDS[request.effect], rawInput: args };
  if (deps.isObserving) {
    record(deps, action, 'passed');
    return { allow: true };
  }
  // A tool that only asks the user, or only reads the session's own data, needs no permission unless a rule demands it.
  if (isHarmless(action, request)) return record(deps, action, 'passed', action.by, 'allow') ? { allow: true } : NOT_WRITTEN;
  if (action.verdict === 'allow') return record(deps, action, 'passed') ? allowed(action) : NOT_WRITTEN;
  if (action.verdict === 'deny') {
    record(deps, action, 'refused');
    const id = call?.toolCallId;
    if (call) call.isShown = true;
    reportRefusal(deps, action, { shown, call: id === undefined ? undefined : { id, known: stateOf(session).calls.find(id) } });
    return { allow: false, reason: `denied by policy: ${action.decision.why}` };
  }
  // The user has consented to the agent's own permission request for exactly this.
  const consent = call?.approval?.consent;
  if (consent && write(deps, action, { option: 'passed', by: consent.by, verdict: 'ask', answerIn: consent.seq }).isWritten)
    return allowed(action);
  if (call) call.isShown = true;
  return askAboutCall(deps, { action, session, shown, look, signal, allowed: allowed(action), toolCallId: call?.toolCallId });
}

/** A call by the tool's name, and by what the tool does. */
export function evaluateTool(deps: EnforcementDeps, about: About, text: string | Buffer, request: ToolCallRequest): PendingAction {
  const { server, tool, args } = request;
  const byName = evaluate(deps, about, text, (place) => mcpAction(place, { server, tool, args }));
  const firstHand = firstHandOf(request);
  return firstHand && !isRefused(byName) ? evaluate(deps, about, text, firstHand) : byName;
}

/** The tool only asks the user, or only reads the session's own data, and no rule is about it. */
export function isHarmless({ verdict, decision }: PendingAction, request: ToolCallRequest): boolean {
  const isTame = !firstHandOf(request) && (request.effect === 'ask' || request.effect === 'read');
  return verdict === 'ask' && isTame && decision.rule === undefined;
}

type ToolCallRequest = Pick<ToolRequest, 'server' | 'tool' | 'effect' | 'args'>;

/** A rule that denies the tool by name holds for all arguments. The absence of a rule that allows it by name decides nothing. */
const isRefused = ({ asked, decision }: PendingAction): boolean => asked.isUnreadable || decision.rule?.verdict === 'deny';

const NOT_AUDITED = 'the decision could not be audited, so it has no effect';
export const NOT_WRITTEN: GateVerdict = { allow: false, reason: NOT_AUDITED };

/** With the evaluated path: only that file may be opened. */
function allowed({ asked }: PendingAction): GateVerdict {
  const evaluatedPath = asked.kind === 'mcp' || asked.kind === 'execute' ? undefined : asked.paths[0]?.path;
  return { allow: true, ...(evaluatedPath !== undefined && { evaluatedPath }) };
}

/** Undefined for a tool of which only name and arguments are known. */
function firstHandOf({ server, tool, args }: ToolCallRequest): ((place: ActionPlace) => Action) | undefined {
  if (server !== 'switchboard') return undefined;
  const path = typeof args.path === 'string' ? args.path : '.';
  switch (tool) {
    case 'read_file':
      return (place) => pathAction(place, 'read', path);
    case 'list_directory':
    case 'search_files':
      return (place) => pathAction(place, 'search', path);
    case 'write_file':
    case 'edit_file':
      return (place) => pathAction(place, 'edit', path);
    case 'delegate':
      return (place) => toolAction(place, 'delegate', String(args.agent));
    case 'run_command': {
      const words = Array.isArray(args.args) ? args.args.map(String) : [];
      const cwd = typeof args.cwd === 'string' ? args.cwd : undefined;
      return (place) => terminalAction(place, { command: String(args.command), args: words, cwd });
    }
    default:
      return undefined;
  }
}

/** Not audited per file: the search is. In observe mode nothing is withheld. */
export function mayRead(deps: EnforcementDeps, session: Session, file: string): boolean {
  if (deps.isObserving) return true;
  const about = { agent: session.agent, session, surface: 'tools/call' };
  return evaluate(deps, about, file, (place) => pathAction(place, 'read', file)).verdict === 'allow';
}

/** A call of a tool of the client's own server through a bridge: known by name and arguments, like calls to servers inside the client. */
export async function bridgedCall(deps: EnforcementDeps, session: Session, call: BridgedCall, signal: AbortSignal): Promise<GateVerdict> {
  const about = { agent: session.agent, session, surface: 'tools/call' };
  const look = () => evaluate(deps, about, JSON.stringify(call), (place) => mcpAction(place, call));
  const action = look();
  if (deps.isObserving) {
    record(deps, action, 'passed');
    return { allow: true };
  }
  // Without a rule it passes as without the bridge: the client brought the server, and the agent asks permission for its own calls.
  const isLeftOpen = action.verdict === 'ask' && action.decision.rule === undefined;
  const shown = { title: titleOf(call), kind: 'other', rawInput: call };
  const decided = (verdict: GateVerdict): GateVerdict => {
    stateOf(session).decided.note(session, action.asked, verdict.allow);
    return verdict;
  };
  if (action.verdict === 'allow' || isLeftOpen) return decided(record(deps, action, 'passed') ? { allow: true } : NOT_WRITTEN);
  if (action.verdict === 'deny') {
    record(deps, action, 'refused');
    reportRefusal(deps, action, { shown });
    return decided({ allow: false, reason: `denied by policy: ${action.decision.why}` });
  }
  return decided(await askAboutCall(deps, { action, session, shown, look, signal, allowed: { allow: true } }));
}

/** The page on which a user acts. */
export type Place = 'console' | 'web-app';

/** The user reads or edits a file of a session on a page. Evaluated like the agent's own request; where a rule demands the
 * user's consent, the action itself is the consent. */
export function byUser(deps: EnforcementDeps, session: Session, act: 'read' | 'edit', file: string, where: Place = 'console'): GateVerdict {
  const about = { agent: session.agent, session, surface: `${where}/${act}` };
  return decidedByUser(
    deps,
    evaluate(deps, about, JSON.stringify({ act, file }), (place) => pathAction(place, act, file)),
  );
}

/** The user runs a command in a session's directories. */
export function runByUser(deps: EnforcementDeps, session: Session, command: TerminalRequest): GateVerdict {
  const about = { agent: session.agent, session, surface: 'web-app/execute' };
  return decidedByUser(
    deps,
    evaluate(deps, about, JSON.stringify(command), (place) => terminalAction(place, command)),
  );
}

function decidedByUser(deps: EnforcementDeps, action: PendingAction): GateVerdict {
  if (action.verdict === 'deny' && !deps.isObserving) {
    record(deps, action, 'refused');
    return { allow: false, reason: `denied by policy: ${action.decision.why}` };
  }
  const by = action.verdict === 'ask' ? 'user' : action.by;
  if (!record(deps, action, 'passed', by) && !deps.isObserving) return NOT_WRITTEN;
  return deps.isObserving ? { allow: true } : allowed(action);
}

// Connections of contained agents: the sandbox's proxy holds each one until it is decided here.
export type Connecting = {
  readonly host: string;
  readonly port: number;
  /** The configuration or the catalogue names the host: the agent cannot work without it. */
  readonly isListed: boolean;
};

/** Undefined: allowed. Otherwise the reason. Without a session nobody can be asked. */
export async function connection(
  deps: EnforcementDeps,
  agent: Agent,
  session: Session | undefined,
  { host, port, isListed }: Connecting,
  signal: AbortSignal,
): Promise<string | undefined> {
  const about = { agent, session, surface: 'network' };
  const look = () =>
    evaluate(deps, about, JSON.stringify({ host, port }), (place) => hostAction(place, 'fetch', isIP(host) === 6 ? `[${host}]` : host));
  const action = look();
  if (deps.isObserving) {
    record(deps, action, 'passed');
    return undefined;
  }
  // A rule about all hosts is not meant for the model; one that names the host is.
  const { rule } = action.decision;
  const namesHost = ({ id, file, hosts }: Rule) => hosts !== undefined && id === rule?.id && file === rule.file;
  const isNamed = action.verdict === 'deny' && deps.current().policy.strict.some((one) => namesHost(one.rule));
  if (action.verdict === 'allow' || (isListed && !isNamed))
    return record(deps, action, 'passed', action.by, 'allow') ? undefined : NOT_AUDITED;
  if (action.verdict === 'deny' || session === undefined) {
    record(deps, action, 'refused', action.by, 'deny');
    return `denied by policy: ${action.decision.why}`;
  }
  const shown = { title: `Connect to ${host}:${port}`, kind: 'fetch', rawInput: { host, port } };
  const answer = await askAboutCall(deps, { action, session, shown, look, signal, allowed: { allow: true } });
  return answer.allow ? undefined : answer.reason;
}
