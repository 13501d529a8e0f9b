// The policy's own permission requests: about agent requests and tool calls for which the agent itself asked no permission.
import { randomUUID } from 'node:crypto';
import { META_KEY } from '../../acp/shapes.ts';
import type { AnsweredBy } from '../../audit/audit-line.ts';
import type { GateVerdict } from '../../mcp/server/gate.ts';
import type { PermissionOption } from '../../policy/actions/permission-options.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { keyOf } from '../../policy/rules/remembered.ts';
import { limitsOf, rememberOf } from '../../policy/rules/settings.ts';
import type { Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { AgentRequest } from '../requests/agent-requests.ts';
import type { Session } from '../sessions/session.ts';
import { type EnforcementDeps, type Evaluation, record, recordLate, UNKNOWN_CWD, write } from './evaluate.ts';

/** The offered option that the user selected. Anything else is no consent: a cancel, an error, an option that was not offered, an unclear answer. */
export function chosenOption(answer: Frame, options: readonly PermissionOption[]): PermissionOption | undefined {
  const body = answer.outcome === 'result' ? readBody(answer) : undefined;
  if (!body?.ok || typeof body.value !== 'object' || body.value === null) return undefined;
  const { outcome } = body.value as { outcome?: unknown };
  if (typeof outcome !== 'object' || outcome === null) return undefined;
  const { outcome: how, optionId } = outcome as { outcome?: unknown; optionId?: unknown };
  return how === 'selected' ? options.find((option) => option.optionId === optionId) : undefined;
}

export const answererOf = ({ isAutomatic }: AgentRequest): AnsweredBy => (isAutomatic ? 'approve' : 'user');

/** Withdraws the request after the policy's timeout, or its agent's, and calls `then`. Returns a function that stops the timer. */
export function denyAfterTimeout(deps: EnforcementDeps, agentRequest: AgentRequest, then: () => void): () => void {
  const limitMs = limitsOf(deps.current().policy).permissionTimeoutMs ?? agentRequest.agent.spec.timeouts.permissionMs;
  if (limitMs === 0) return () => {};
  return deps.host.clock.after(limitMs, () => {
    if (withdrawIfOpen(deps, agentRequest)) then();
  });
}

/** Withdraws the request from the client; false when it has an answer. */
function withdrawIfOpen(deps: EnforcementDeps, agentRequest: AgentRequest): boolean {
  if (!agentRequest.isOpen) return false;
  deps.host.requests.withdraw(agentRequest);
  return true;
}

/**
 * Keeps an `…_always` answer, as widely as the policy permits. The agent gets the `…_once` answer: with the other it would make a rule of its
 * own and no longer ask.
 */
export function remember(deps: EnforcementDeps, { action, policyHash }: Evaluation, kind: string): void {
  if (kind !== 'allow_always' && kind !== 'reject_always') return;
  if (action.cwd === UNKNOWN_CWD) return; // it would hold for every session whose directory is unknown
  const { allowAlways: scope, ttlMs } = rememberOf(deps.current().policy);
  deps.remembered.remember({
    verdict: kind === 'allow_always' ? 'allow' : 'deny',
    scope,
    agent: action.agent,
    cwd: action.cwd,
    session: action.session,
    key: keyOf(action),
    what: summaryOf(action),
    policy: policyHash,
    ttlMs,
  });
}

/** Whether an `…_always` answer could be kept. */
function isRememberable(deps: EnforcementDeps, { action }: Evaluation): boolean {
  return action.cwd !== UNKNOWN_CWD && keyOf(action) !== undefined && rememberOf(deps.current().policy).allowAlways !== 'once';
}

/** The fields of the tool call that the client shows, besides its id and status. */
export type Shown = { readonly title: string; readonly kind: string; readonly [field: string]: unknown };

const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'allow-always', name: 'Always allow this', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
  { optionId: 'reject-always', name: 'Always reject this', kind: 'reject_always' },
];

/** `cancelled`: the whole turn was. `withdrawn`: the agent no longer waits. */
export type Reply = 'allowed' | 'refused' | 'cancelled' | 'withdrawn';

type ToAsk = {
  /** The user is asked here. */
  readonly session: Session;
  readonly idText: string;
  readonly shown: Shown;
  readonly signal?: AbortSignal;
  /** A tool call that the client knows already. */
  readonly toolCallId?: string | undefined;
};

/** Calls back exactly once, unless the agent's connection ends first. */
export function requestPermission(
  deps: EnforcementDeps,
  evaluation: Evaluation,
  { session, idText, shown, signal, toolCallId: known }: ToAsk,
  then: (reply: Reply) => void,
): void {
  const { agent, action, decision } = evaluation;
  const sessionId = session.publicId;
  // Must not be guessable: the agent could send updates about it in our name while the user reads it.
  const toolCallId = known ?? `switchboard-${randomUUID()}`;
  const options = isRememberable(deps, evaluation) ? OPTIONS : OPTIONS.filter(({ kind }) => !kind.endsWith('_always'));
  let abandon = () => {};
  const settle = (reply: Reply, by: AnsweredBy, sent: string, answer?: string) => {
    write(deps, evaluation, { option: sent, by, verdict: by === 'user' || by === 'approve' ? 'ask' : 'deny', answer });
    const status = reply === 'allowed' ? 'completed' : 'failed';
    // A call that goes on is ended by those who know how it ends.
    if (known === undefined) deps.host.update(sessionId, { sessionUpdate: 'tool_call_update', toolCallId, status });
    then(reply);
  };
  const params = {
    sessionId,
    toolCall: { toolCallId, status: 'pending', ...shown },
    options,
    _meta: { [META_KEY]: { summary: summaryOf(action), why: decision.why } },
  };
  const agentRequest: AgentRequest = deps.host.requests.putOwn(
    {
      idText,
      method: 'session/request_permission',
      agent,
      session,
      evaluated: { action, decision, isFromPolicy: true },
      onAnswer(answer) {
        const chosen = chosenOption(answer, options);
        if (chosen) remember(deps, evaluation, chosen.kind);
        const reply = chosen?.kind.startsWith('allow') ? 'allowed' : 'refused';
        settle(reply, answererOf(agentRequest), chosen?.optionId ?? 'cancelled', chosen?.kind);
        return true;
      },
      onCancel: () => settle('cancelled', 'user', 'cancelled'),
      onClosed: () => abandon(),
    },
    JSON.stringify(params),
  );
  const stopClock = denyAfterTimeout(deps, agentRequest, () => settle('refused', 'timeout', 'refused'));
  const withdraw = () => {
    if (withdrawIfOpen(deps, agentRequest)) settle('withdrawn', 'agent', 'cancelled');
  };
  abandon = () => {
    stopClock();
    signal?.removeEventListener('abort', withdraw);
  };
  signal?.addEventListener('abort', withdraw, { once: true });
}

/** A call of a tool that the user decides about. */
export type CallToAsk = {
  readonly evaluation: Evaluation;
  readonly session: Session;
  readonly shown: Shown;
  /** Evaluates it again. */
  readonly evaluateAgain: () => Evaluation;
  /** Aborted when the agent withdraws the call. */
  readonly signal: AbortSignal;
  readonly allowed: GateVerdict;
  /** The tool call that the client knows it by; without one, the request has its own. */
  readonly toolCallId?: string | undefined;
};

const WITHDRAWN = 'the call was withdrawn before the user answered';

export function askAboutCall(
  deps: EnforcementDeps,
  { evaluation, session, shown, evaluateAgain: evaluateNow, signal, allowed, toolCallId }: CallToAsk,
): Promise<GateVerdict> {
  const refused = (reason: string): GateVerdict => ({ allow: false, reason });
  if (signal.aborted) {
    record(deps, evaluation, 'cancelled', 'agent', 'deny');
    return Promise.resolve(refused(WITHDRAWN));
  }
  return new Promise((resolve) => {
    const idText = JSON.stringify(`call-${randomUUID()}`);
    requestPermission(deps, evaluation, { session, idText, shown, signal, toolCallId }, (reply) => {
      if (reply === 'withdrawn') return resolve(refused(WITHDRAWN));
      if (reply !== 'allowed') return resolve(refused('the user did not allow it'));
      // The policy may have changed meanwhile.
      const now = evaluateNow();
      if (now.verdict !== 'deny') return resolve(allowed);
      recordLate(deps, now, now.decision.why);
      resolve(refused(`denied by policy: ${now.decision.why}`));
    });
  });
}
