// Calls of host tools. The proxy runs them, so it knows what they do: files and commands are evaluated as such, and also by the tool's name.
import type { GateVerdict, ToolRequest } from '../../../mcp/server/gate.ts';
import type { Action, Place } from '../../../policy/actions/action.ts';
import { mcpAction, pathAction, terminalAction, toolAction } from '../../../policy/actions/surfaces.ts';
import type { Session } from '../../sessions/session.ts';
import { TOOL_KINDS, titleOf } from '../../tools/show-host-call.ts';
import { askAboutCall } from '../ask-user.ts';
import type { BridgedCall } from '../enforcement.ts';
import { stateOf } from '../enforcement-state.ts';
import { type About, type EnforcementDeps, type Evaluation, evaluate, record, write } from '../evaluate.ts';
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
  const evaluateNow = () => evaluateTool(deps, about, text, request);
  const evaluation = evaluateNow();
  const call = session.servers.calls.forArgs(args);
  const shown = { title: titleOf(request), kind: TOOL_KINDS[request.effect], rawInput: args };
  if (deps.isObserving) {
    record(deps, evaluation, 'passed');
    return { allow: true };
  }
  // A tool that only asks the user, or only reads the session's own data, needs no permission unless a rule demands it.
  if (isHarmless(evaluation, request)) return record(deps, evaluation, 'passed', evaluation.by, 'allow') ? { allow: true } : NOT_WRITTEN;
  if (evaluation.verdict === 'allow') return record(deps, evaluation, 'passed') ? allowed(evaluation) : NOT_WRITTEN;
  if (evaluation.verdict === 'deny') {
    record(deps, evaluation, 'refused');
    const id = call?.toolCallId;
    if (call) call.isShown = true;
    reportRefusal(deps, evaluation, { shown, call: id === undefined ? undefined : { id, known: stateOf(session).calls.find(id) } });
    return { allow: false, reason: `denied by policy: ${evaluation.decision.why}` };
  }
  // The user has consented to the agent's own permission request for exactly this.
  const consent = call?.approval?.consent;
  if (consent && write(deps, evaluation, { option: 'passed', by: consent.by, verdict: 'ask', answerIn: consent.seq }).isWritten)
    return allowed(evaluation);
  if (call) call.isShown = true;
  return askAboutCall(deps, {
    evaluation,
    session,
    shown,
    evaluateAgain: evaluateNow,
    signal,
    allowed: allowed(evaluation),
    toolCallId: call?.toolCallId,
  });
}

/** A call by the tool's name, and by what the tool does. */
export function evaluateTool(deps: EnforcementDeps, about: About, text: string | Buffer, request: ToolCallRequest): Evaluation {
  const { server, tool, args } = request;
  const byName = evaluate(deps, about, text, (place) => mcpAction(place, { server, tool, args }));
  const firstHand = builtInAction(request);
  return firstHand && !isRefused(byName) ? evaluate(deps, about, text, firstHand) : byName;
}

/** The tool only asks the user, or only reads the session's own data, and no rule is about it. */
export function isHarmless({ verdict, decision }: Evaluation, request: ToolCallRequest): boolean {
  const isTame = !builtInAction(request) && (request.effect === 'ask' || request.effect === 'read');
  return verdict === 'ask' && isTame && decision.rule === undefined;
}

type ToolCallRequest = Pick<ToolRequest, 'server' | 'tool' | 'effect' | 'args'>;

/** A rule that denies the tool by name holds for all arguments. The absence of a rule that allows it by name decides nothing. */
const isRefused = ({ action, decision }: Evaluation): boolean => action.isUnreadable || decision.rule?.verdict === 'deny';

export const NOT_AUDITED = 'the decision could not be audited, so it has no effect';
export const NOT_WRITTEN: GateVerdict = { allow: false, reason: NOT_AUDITED };

/** With the evaluated path: only that file may be opened. */
export function allowed({ action }: Evaluation): GateVerdict {
  const evaluatedPath = action.kind === 'mcp' || action.kind === 'execute' ? undefined : action.paths[0]?.path;
  return { allow: true, ...(evaluatedPath !== undefined && { evaluatedPath }) };
}

/** Undefined for a tool of which only name and arguments are known. */
function builtInAction({ server, tool, args }: ToolCallRequest): ((place: Place) => Action) | undefined {
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
  const evaluateNow = () => evaluate(deps, about, JSON.stringify(call), (place) => mcpAction(place, call));
  const evaluation = evaluateNow();
  if (deps.isObserving) {
    record(deps, evaluation, 'passed');
    return { allow: true };
  }
  // Without a rule it passes as without the bridge: the client brought the server, and the agent asks permission for its own calls.
  const isLeftOpen = evaluation.verdict === 'ask' && evaluation.decision.rule === undefined;
  const shown = { title: titleOf(call), kind: 'other', rawInput: call };
  const decided = (verdict: GateVerdict): GateVerdict => {
    stateOf(session).decided.note(session, evaluation.action, verdict.allow);
    return verdict;
  };
  if (evaluation.verdict === 'allow' || isLeftOpen) return decided(record(deps, evaluation, 'passed') ? { allow: true } : NOT_WRITTEN);
  if (evaluation.verdict === 'deny') {
    record(deps, evaluation, 'refused');
    reportRefusal(deps, evaluation, { shown });
    return decided({ allow: false, reason: `denied by policy: ${evaluation.decision.why}` });
  }
  return decided(await askAboutCall(deps, { evaluation, session, shown, evaluateAgain: evaluateNow, signal, allowed: { allow: true } }));
}
