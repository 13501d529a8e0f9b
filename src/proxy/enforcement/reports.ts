// What the user reads in a session about the policy: what it refused and how to allow it, and what an agent did without asking.
import { randomUUID } from 'node:crypto';
import type { AnsweredBy } from '../../audit/audit-line.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { list } from '../../policy/actions/tool-call.ts';
import { proposeRule } from '../../policy/rules/propose-rule.ts';
import { onViolation } from '../../policy/rules/settings.ts';
import type { Session } from '../sessions/session.ts';
import type { Shown } from './ask-user.ts';
import { type KnownCall, stateOf } from './enforcement-state.ts';
import { type EnforcementDeps, type Evaluation, namesOf, recordUnasked } from './evaluate.ts';

/** Unasked actions closer together than this are one message and one audit line. */
const IN_A_ROW_MS = 2000;
const MAX_IN_A_ROW = 100;
/** Different refusals of one turn that the user is told about. */
const MAX_REFUSALS = 100;

/** The agent has done, without asking, what the policy would have asked about. */
export function noteUnasked(deps: EnforcementDeps, session: Session, evaluation: Evaluation): void {
  const { reports } = stateOf(session);
  reports.unrecorded.push(evaluation);
  reports.unreported.push({ ...evaluation, request: '' });
  if (reports.unrecorded.length >= MAX_IN_A_ROW) reportUnasked(deps, session);
  reports.stopTimer?.();
  reports.stopTimer = deps.host.clock.after(IN_A_ROW_MS, () => reportUnasked(deps, session));
}

/** Also at the end of the turn, while the client still shows it. */
export function reportUnasked(deps: EnforcementDeps, session: Session): void {
  const { reports } = stateOf(session);
  reports.stopTimer?.();
  reports.stopTimer = undefined;
  recordUnasked(deps, session);
  const { unreported } = reports;
  const [first] = unreported;
  reports.unreported = [];
  const { agent } = session;
  if (!first || deps.isObserving || !isAtClient(session) || onViolation(deps.current().policy, agent.name) === 'log') return;
  const why = new Set(unreported.map(({ decision }) => decision.why));
  const title = `${agent.title} acted without asking for permission`;
  const text = `${namesOf(unreported)} (${why.size === 1 ? first.decision.why : 'by several rules'}).`;
  deps.host.report(`agent "${agent.name}" acted without asking for permission: ${text}`);
  deps.host.warn(session, title, text);
}

/** The turn ends: what its user has not been told yet, and refused calls that the agent left open. */
export function endTurn(deps: EnforcementDeps, session: Session): void {
  const { reports, calls } = stateOf(session);
  reportUnasked(deps, session);
  for (const [toolCallId, known] of calls.refused()) explainRefusal(deps, session, toolCallId, known, undefined, 'failed');
  calls.endTurn();
  reports.refusals.clear();
}

type Refused = {
  readonly by?: AnsweredBy;
  readonly shown?: Shown | undefined;
  /** The tool call, as the client knows it or will know it; `known`, if it is one of the agent's. */
  readonly call?: { readonly id: string; readonly known: KnownCall | undefined } | undefined;
};

/**
 * Tells the user that the policy refused something: agents say that the user did, or nothing. Where the client has no notices, the line is
 * in the tool call: in the agent's own, once that has ended, or in one of the proxy's.
 */
export function reportRefusal(deps: EnforcementDeps, evaluation: Evaluation, { by = evaluation.by, shown, call }: Refused = {}): void {
  const { session, agent, action } = evaluation;
  if (!session || deps.isObserving || !isAtClient(session)) return;
  const { reports } = stateOf(session);
  const summary = summaryOf(action);
  const why = reasonOf(evaluation, by);
  const line = `${summary}: ${why}`;
  if (reports.refusals.has(line) || reports.refusals.size >= MAX_REFUSALS) return;
  reports.refusals.add(line);
  if (deps.host.showsNotices() || session.delegation) {
    return deps.host.warn(session, `The policy refused ${agent.title}: ${summary}`, why);
  }
  const text = `[switchboard] The policy refused this. ${why}`;
  if (call?.known && session.toolCalls.has(call.id)) {
    call.known.refusal = text;
    return;
  }
  const { title = summary, kind = 'other' } = shown ?? {};
  const toolCallId = call?.id ?? `switchboard-${randomUUID()}`;
  deps.host.update(session.publicId, {
    sessionUpdate: 'tool_call',
    toolCallId,
    title,
    kind,
    status: 'failed',
    content: [textContent(text)],
  });
}

/** Appends the reason to a tool call that the agent has ended; keeps its content. */
export function explainRefusal(
  deps: EnforcementDeps,
  session: Session,
  toolCallId: string,
  known: KnownCall,
  content: unknown,
  status?: 'failed',
): void {
  const text = known.refusal;
  known.refusal = undefined;
  if (text === undefined || !isAtClient(session)) return;
  const update = {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    ...(status && { status }),
    content: [...list(content), textContent(text)],
  };
  deps.host.update(session.publicId, update);
}

/** The client knows the session, and has not left it. */
const isAtClient = ({ isDiscovered, isClosed }: Session): boolean => !isDiscovered && !isClosed;

const textContent = (text: string): object => ({ type: 'content', content: { type: 'text', text } });

/** The file of rules that nobody wrote: while decisions cannot be recorded, for instance. */
const BUILT_IN = 'built-in';

function reasonOf({ action, decision }: Evaluation, by: AnsweredBy): string {
  const { why, rule } = decision;
  if (by === 'timeout') return 'Nobody answered in time.';
  if (by === 'memory') return 'You chose "always reject" for this. To undo: switchboard policy remembered --revoke ID.';
  const reason = `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
  if (rule?.verdict === 'deny') return rule.file === BUILT_IN ? reason : `${reason} To allow it, change that rule.`;
  if (action.isUnreadable) return reason;
  const proposed = proposeRule(action);
  return 'cannot' in proposed
    ? `${reason} No rule can allow it: ${proposed.cannot}.`
    : `${reason} To allow it, add under allow: ${ruleText(proposed)}`;
}

/** In the short form where there is one. */
function ruleText({ action, agent: _, ...conditions }: Exclude<ReturnType<typeof proposeRule>, { cannot: string }>): string {
  const { command, path, host, mcp, cwd: __, ...others } = conditions;
  const object = command ?? path ?? host ?? mcp;
  if (Object.keys(others).length === 0 && typeof object === 'string') return `${action}(${object})`;
  return JSON.stringify({ action, ...conditions });
}
