// Actions that agents have taken without permission, or against a denial. The proxy cannot prevent them: it records and reports them, and ends
// the turn or the agent if the policy says so. Only what has happened counts: an agent may begin a call, ask, and stop when it is refused.
import { fields } from '../../json-object.ts';
import type { Action } from '../../policy/actions/action.ts';
import { goesBeyond } from '../../policy/actions/grant.ts';
import { toolCallAction } from '../../policy/actions/permission.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { commandAction } from '../../policy/actions/surfaces.ts';
import { list, mergeToolCall, type ToolCall } from '../../policy/actions/tool-call.ts';
import { onViolation } from '../../policy/rules/settings.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Session } from '../sessions/session.ts';
import { type KnownCall, type Requested, stateOf } from './enforcement-state.ts';
import { detached, type EnforcementDeps, type Evaluation, evaluate, OBSERVED, record } from './evaluate.ts';
import { explainRefusal, noteUnasked } from './reports.ts';

const OVER = new Set(['completed', 'failed']);

export function toolCall(deps: EnforcementDeps, session: Session, frame: Frame): void {
  const { bytes, start, end } = frame;
  const toolCallId = stringAt(bytes, memberAt(bytes, frame.body, 'update', 'toolCallId'));
  if (toolCallId === undefined) return;
  const body = readBody(frame);
  const { calls, grants } = stateOf(session);
  // Parsers read it differently: nothing known of the call can be relied on.
  if (!body.ok) return calls.forget(toolCallId);
  const { update } = fields(body.value);
  const known = calls.note(toolCallId, update, end - start);
  if (!known) return;
  const status = String(fields(update).status);
  // A load replays calls that were made under another policy, perhaps.
  if (hasHappened(update) && !session.isLoading) evaluateCall(deps, session, known, bytes.subarray(start, end));
  if (!OVER.has(status)) return;
  if (known.refusal !== undefined) explainRefusal(deps, session, toolCallId, known, fields(update).content);
  calls.ended(toolCallId, status as 'completed' | 'failed');
  grants.end(toolCallId);
}

/**
 * Whether the call has had an effect. `in_progress` does not tell: codex and opencode send it and then ask permission. A command that was
 * refused fails without output; one that ran and failed has an exit code.
 */
function hasHappened(update: unknown): boolean {
  const { status, rawOutput, _meta } = fields(update);
  if (status === 'completed') return true;
  const { terminal_output, terminal_output_delta, terminal_exit } = fields(_meta);
  if (terminal_output !== undefined || terminal_output_delta !== undefined) return true;
  if (typeof fields(terminal_exit).exit_code === 'number') return true;
  return status === 'in_progress' && rawOutput !== undefined && rawOutput !== null;
}

/** Reports a call that has happened without an approval that covers it. */
function evaluateCall(deps: EnforcementDeps, session: Session, known: KnownCall, request: Buffer): void {
  const about = { agent: session.agent, session, surface: OBSERVED };
  const call = mergeToolCall(known.requested?.call, known.call);
  // An update about a call that was never described, or is forgotten: there is nothing to say about it.
  if (!known.requested && isBlank(call)) return;
  const evaluation = evaluate(deps, about, request, (place) => toolCallAction(place, call));
  const { action, verdict, decision } = evaluation;
  const hasTerminal = list(known.call.content).some((entry) => fields(entry).type === 'terminal');
  const elsewhere = stateOf(session).decided.take(session, action, hasTerminal);
  const { requested } = known;
  const isBeyond = requested !== undefined && goesBeyond(action, requested.action);
  const answer = elsewhere ?? (isBeyond ? undefined : requested?.answer);
  if (answer === 'allow' || answer === 'passed') return;
  // Thinking changes nothing, and no agent asks permission for it.
  if (isThought(action) && decision.rule === undefined) return;
  // Our own server asked, or refused, before it did anything.
  if (session.usedServers?.attachment?.toolIn(call)) return;
  const isViolation = verdict === 'deny' || answer === 'deny';
  if (!isViolation && (verdict !== 'ask' || isAllowedByTitle(deps, evaluation, call.title))) return;
  const summary = summaryOf(action);
  const what = `${describeViolation(answer, requested !== undefined, isViolation)}: ${summary}`;
  if (known.reported === what) return;
  known.reported = what;
  if (isViolation) violation(deps, { ...evaluation, verdict: 'deny' }, session, what);
  else noteUnasked(deps, session, detached(evaluation));
}

/** Also without anything that tells what about, such as the reviews that codex makes of its own actions. */
const isThought = ({ kind, claims, commands, paths, hosts, mcp }: Action): boolean =>
  kind === 'think' || (claims.includes('think') && !mcp && [commands, paths, hosts].every((facts) => facts.length === 0));

const isBlank = ({ name, title, kind, rawInput, locations, content }: ToolCall): boolean =>
  [name, title, kind, rawInput, locations, content].every((field) => field === undefined || (Array.isArray(field) && field.length === 0));

/**
 * Agents that show a command only in the title (gemini) must ask, as a title allows nothing. But a command that the policy allows is not
 * one that it asks about.
 */
function isAllowedByTitle(deps: EnforcementDeps, { action, decision, request, ...about }: Evaluation, title: unknown): boolean {
  if (action.kind !== 'execute' || action.evidence !== 'title' || decision.rule !== undefined || typeof title !== 'string') return false;
  const line = title.replace(/^`+|`+$/g, '');
  return evaluate(deps, about, request, (place) => commandAction(place, line)).verdict === 'allow';
}

function describeViolation(answer: Requested['answer'] | undefined, hasAsked: boolean, isViolation: boolean): string {
  if (answer === 'deny') return 'did what it was refused';
  const what = isViolation ? 'did what the policy denies' : 'did what the policy asks about';
  if (answer === 'none') return `${what}, without waiting for an answer`;
  return hasAsked ? `${what}, beyond what it asked for` : `${what}, without asking`;
}

/** Responds as the policy says. Killing the agent fails its turn and ends its other sessions too. */
export function violation(deps: EnforcementDeps, evaluation: Evaluation, session: Session, what: string): void {
  const { agent, decision } = evaluation;
  const response = onViolation(deps.current().policy, agent.name);
  record(deps, evaluation, deps.isObserving ? 'log' : response);
  if (deps.isObserving || response === 'log') return;
  const consequence = response === 'cancel' ? ' The turn was cancelled.' : response === 'kill' ? ' The agent was ended.' : '';
  deps.host.report(`agent "${agent.name}" ${what} (${decision.why}).${consequence}`);
  deps.host.warn(session, `${agent.title} ${what}`, `${decision.why}.${consequence}`);
  if (response === 'cancel') deps.host.cancelTurns(session);
  if (response === 'kill') agent.kill();
}
