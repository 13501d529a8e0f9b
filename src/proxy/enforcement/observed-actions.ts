// What is known of each tool call of a session: agents tell of a call in pieces, and some ask about it by nothing but its id.

import { toolCallAction } from '../../policy/actions/permission.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { record as fieldsOf, list, mergeToolCall, type ToolCall } from '../../policy/actions/tool-call.ts';
import { onViolation } from '../../policy/rules/settings.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { ProxyParts } from '../parts.ts';
import { tell } from '../sessions/attachments.ts';
import type { Session } from '../sessions/session.ts';
import { cancelTurns } from '../turns/cancel.ts';
import { type EnforcementDeps, evaluate, type PendingAction, record } from './evaluate.ts';
import type { Grants } from './grants.ts';

const MAX_CALLS = 1000;
const MAX_BYTES = 16 * 1024 * 1024;

export type Known = {
  call: ToolCall;
  bytes: number;
  /** What the agent was told when it asked. */
  answer: 'allow' | 'deny' | undefined;
  /** What was reported of it last. */
  reported: string | undefined;
};

export type KnownCalls = {
  /** One more message about a call. A `tool_call` begins it anew: ids come again, and what was said before is said of another call. */
  note(session: Session, toolCallId: string, update: unknown, bytes: number): Known;
  /** A message about it that parsers read differently: nothing that is known of it can be relied on. */
  doubt(session: Session, toolCallId: string): void;
  /** The agent asks about a call: what is known of it. */
  asked(session: Session, toolCallId: string): Known;
  forget(session: Session, toolCallId: string): void;
};

export function createKnownCalls(): KnownCalls {
  const bySession = new WeakMap<Session, { readonly calls: Map<string, Known>; bytes: number }>();
  const of = (session: Session) => {
    const found = bySession.get(session) ?? { calls: new Map<string, Known>(), bytes: 0 };
    bySession.set(session, found);
    return found;
  };
  function drop(table: ReturnType<typeof of>, toolCallId: string): void {
    table.bytes -= table.calls.get(toolCallId)?.bytes ?? 0;
    table.calls.delete(toolCallId);
  }
  function entry(session: Session, toolCallId: string, bytes: number): Known {
    const table = of(session);
    // The oldest go first; a call that nobody knows any more is asked about, and never allowed unseen.
    for (const [oldest] of table.calls) {
      if (table.calls.size < MAX_CALLS && table.bytes + bytes <= MAX_BYTES) break;
      drop(table, oldest);
    }
    const known = table.calls.get(toolCallId) ?? { call: {}, bytes: 0, answer: undefined, reported: undefined };
    table.calls.set(toolCallId, known);
    known.bytes += bytes;
    table.bytes += bytes;
    return known;
  }
  return {
    note(session, toolCallId, update, bytes) {
      const isBeginning = fieldsOf(update).sessionUpdate === 'tool_call';
      const reported = of(session).calls.get(toolCallId)?.reported;
      if (isBeginning) drop(of(session), toolCallId);
      // Updates that bring no input cost nothing to keep.
      const known = entry(session, toolCallId, fieldsOf(update).rawInput === undefined ? 0 : bytes);
      known.call = mergeToolCall(known.call, slim(update));
      known.reported = reported;
      return known;
    },
    doubt: (session, toolCallId) => drop(of(session), toolCallId),
    asked: (session, toolCallId) => entry(session, toolCallId, 0),
    forget: (session, toolCallId) => drop(of(session), toolCallId),
  };
}

/** Of its content only which files it changes: the texts themselves decide nothing, and are large. */
function slim(update: unknown): unknown {
  const { content, ...rest } = fieldsOf(update);
  if (content === undefined) return rest;
  const diffs = list(content).flatMap((entry) => {
    const { type, path } = fieldsOf(entry);
    return type === 'diff' ? [{ type, path }] : [];
  });
  return { ...rest, content: diffs };
}

// What agents do without asking, or after a no, can be seen and not prevented: it is written down, told, and if the policy says so, ended.
/** In these states a call is under way or done, and no question will come any more. */
const BEGUN = new Set(['in_progress', 'completed']);
const OVER = new Set(['completed', 'failed']);

export function toolCall(
  deps: EnforcementDeps,
  calls: KnownCalls,
  grants: Grants,
  proxy: ProxyParts,
  session: Session,
  frame: Frame,
): void {
  const { bytes, start, end } = frame;
  const toolCallId = stringAt(bytes, memberAt(bytes, frame.body, 'update', 'toolCallId'));
  if (toolCallId === undefined) return;
  const body = readBody(frame);
  if (!body.ok) return calls.doubt(session, toolCallId);
  const { update } = (body.value ?? {}) as { update?: { status?: unknown } };
  const status = typeof update?.status === 'string' ? update.status : '';
  const known = calls.note(session, toolCallId, update, end - start);
  // What a load tells of was done in another life, under whatever policy there was then.
  if (BEGUN.has(status) && !session.isLoading) {
    const about = { proxy, agent: session.agent, session, surface: 'tool_call' };
    const action = evaluate(deps, about, bytes.subarray(start, end), (place) => toolCallAction(place, known.call));
    const what = known.answer === undefined ? 'did without asking what the policy denies' : 'did what it was refused';
    // It may have asked about something else than it does: what counts is what it does.
    const isViolation = action.verdict === 'deny' || known.answer === 'deny';
    const report = `${what}: ${summaryOf(action.asked)}`;
    if (isViolation && known.reported !== report) {
      known.reported = report;
      violation(deps, { ...action, verdict: 'deny' }, session, report);
    }
  }
  if (!OVER.has(status)) return;
  calls.forget(session, toolCallId);
  grants.end(session, toolCallId);
}

/** What the policy wants done about it. Ending the agent ends its turn with an error, and its other sessions with it. */
export function violation(deps: EnforcementDeps, action: PendingAction, session: Session, what: string): void {
  const { proxy, agent, decision } = action;
  const response = onViolation(deps.current().policy, agent.name);
  record(deps, action, deps.isObserving ? 'log' : response);
  if (deps.isObserving || response === 'log') return;
  const consequence = response === 'cancel' ? ' The turn was cancelled.' : response === 'kill' ? ' The agent was ended.' : '';
  proxy.context.report(`agent "${agent.name}" ${what} (${decision.why}).${consequence}`);
  tell(proxy, session, 'warning', `${agent.title} ${what}`, `${decision.why}.${consequence}`);
  if (response === 'cancel') cancelTurns(proxy, session);
  if (response === 'kill') agent.kill();
}
