// A question of our own to the editor, on behalf of a request that the agent did not ask about: the editor knows only one way of asking.
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
import type { AgentRequest } from '../client/client-connection.ts';
import { updateLine } from '../messages.ts';
import type { ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { cancelRequest } from '../turns/cancel.ts';
import { type EnforcementDeps, NOWHERE, type PendingAction, record, recordLate } from './evaluate.ts';

// What the editor answered to a permission question. Only the one shape of the protocol is consent; whatever else it is, it is none.
/** The offered option that was selected; undefined for a cancel, an error, an option that was not offered, and anything unclear. */
export function chosenIn(answer: Frame, options: readonly PermissionOption[]): PermissionOption | undefined {
  const body = answer.outcome === 'result' ? readBody(answer) : undefined;
  if (!body?.ok || typeof body.value !== 'object' || body.value === null) return undefined;
  const { outcome } = body.value as { outcome?: unknown };
  if (typeof outcome !== 'object' || outcome === null) return undefined;
  const { outcome: how, optionId } = outcome as { outcome?: unknown; optionId?: unknown };
  return how === 'selected' ? options.find((option) => option.optionId === optionId) : undefined;
}

/** If nobody answers in time, the question is taken back at the editor and answered by `then`. Returns what calls the timer off. */
export function denyInTime(deps: EnforcementDeps, proxy: ProxyParts, agentRequest: AgentRequest, then: () => void): () => void {
  const { permissionTimeoutMs } = limitsOf(deps.current().policy);
  if (permissionTimeoutMs === undefined) return () => {};
  return proxy.context.clock.after(permissionTimeoutMs, () => {
    if (withdrawn(proxy, agentRequest)) then();
  });
}

/** Takes a question back at the editor; false when it has been answered. */
export function withdrawn(proxy: ProxyParts, agentRequest: AgentRequest): boolean {
  if (agentRequest.isAnswered) return false;
  cancelRequest(proxy, agentRequest);
  return true;
}

// An answer for always is ours to keep: an agent would make a rule of its own of it, and ask no more.
/** `kind` is that of the option the user chose; only those for always are kept, and as widely as the policy permits. */
export function remember(deps: EnforcementDeps, { asked, policyHash }: PendingAction, kind: string): void {
  if (kind !== 'allow_always' && kind !== 'reject_always') return;
  if (asked.cwd === NOWHERE) return; // it would hold for every session whose directory nobody knows
  const { allowAlways: scope, ttlMs } = rememberOf(deps.current().policy);
  deps.remembered.remember({
    verdict: kind === 'allow_always' ? 'allow' : 'deny',
    scope,
    agent: asked.agent,
    cwd: asked.cwd,
    session: asked.session,
    key: keyOf(asked),
    what: summaryOf(asked),
    policy: policyHash,
    ttlMs,
  });
}

/** Whether it makes sense to offer an answer for always. */
export function isRememberable(deps: EnforcementDeps, { asked }: PendingAction): boolean {
  return asked.cwd !== NOWHERE && keyOf(asked) !== undefined && rememberOf(deps.current().policy).allowAlways !== 'once';
}

/** How the request is shown: the fields of a tool call besides its id and status. */
export type Shown = { readonly title: string; readonly kind: string; readonly [field: string]: unknown };

const OPTIONS = [
  { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
  { optionId: 'allow-always', name: 'Always allow this', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
  { optionId: 'reject-always', name: 'Always reject this', kind: 'reject_always' },
];

/** `cancelled` is a no that goes for everything the turn has asked so far, `taken-back` one that nobody waits for any more. */
export type Reply = 'allowed' | 'refused' | 'cancelled' | 'taken-back';

/** Asks in `session`, and calls back exactly once, unless the agent dies first. */
export function askClient(
  deps: EnforcementDeps,
  action: PendingAction,
  session: Session,
  idText: string,
  shown: Shown,
  then: (reply: Reply) => void,
  signal?: AbortSignal,
): void {
  const { proxy, agent, asked, decision } = action;
  const sessionId = session.publicId;
  // Not to be guessed: an agent could speak of the question in our name while the user reads it.
  const toolCallId = `switchboard-${randomUUID()}`;
  const options = isRememberable(deps, action) ? OPTIONS : OPTIONS.filter(({ kind }) => !kind.endsWith('_always'));
  let abandon = () => {};
  const over = (reply: Reply, by: AnsweredBy, sent: string) => {
    record(deps, action, sent, by, by === 'user' ? 'ask' : 'deny');
    const status = reply === 'allowed' ? 'completed' : 'failed';
    proxy.client.line(updateLine(sessionId, JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId, status })));
    then(reply);
  };
  const params = {
    sessionId,
    toolCall: { toolCallId, status: 'pending', ...shown },
    options,
    _meta: { [META_KEY]: { summary: summaryOf(asked), why: decision.why } },
  };
  const agentRequest = proxy.client.askOwn('session/request_permission', JSON.stringify(params), {
    idText,
    method: 'session/request_permission',
    agent,
    session,
    judged: { asked, decision, isOurs: true },
    onAnswer(answer) {
      const chosen = chosenIn(answer, options);
      if (chosen) remember(deps, action, chosen.kind);
      over(chosen?.kind.startsWith('allow') ? 'allowed' : 'refused', 'user', chosen?.optionId ?? 'cancelled');
      return true;
    },
    onCancel: () => over('cancelled', 'user', 'cancelled'),
    onSettled: () => abandon(),
  });
  const stopClock = denyInTime(deps, proxy, agentRequest, () => over('refused', 'timeout', 'refused'));
  const cancelRequest = () => {
    if (withdrawn(proxy, agentRequest)) over('taken-back', 'agent', 'cancelled');
  };
  abandon = () => {
    stopClock();
    signal?.removeEventListener('abort', cancelRequest);
  };
  signal?.addEventListener('abort', cancelRequest, { once: true });
}

// A call of a tool that the policy wants asked about: the editor's user decides, unless the agent takes the call back first.
export type CallQuestion = {
  readonly action: PendingAction;
  readonly session: Session;
  readonly shown: Shown;
  /** Judges it anew. */
  readonly look: () => PendingAction;
  /** Aborted when nobody waits for the call any more. */
  readonly signal: AbortSignal;
  readonly allowed: GateVerdict;
};

const TAKEN_BACK = 'the call was taken back before anybody had answered';

export function askAboutCall(deps: EnforcementDeps, { action, session, shown, look, signal, allowed }: CallQuestion): Promise<GateVerdict> {
  const refused = (reason: string): GateVerdict => ({ allow: false, reason });
  if (signal.aborted) {
    record(deps, action, 'cancelled', 'agent', 'deny');
    return Promise.resolve(refused(TAKEN_BACK));
  }
  return new Promise((resolve) => {
    const idText = JSON.stringify(`call-${randomUUID()}`);
    askClient(
      deps,
      action,
      session,
      idText,
      shown,
      (reply) => {
        if (reply === 'taken-back') return resolve(refused(TAKEN_BACK));
        if (reply !== 'allowed') return resolve(refused('the user did not allow it'));
        // While the user thought, the policy may have changed.
        const now = look();
        if (now.verdict !== 'deny') return resolve(allowed);
        recordLate(deps, now, now.decision.why);
        resolve(refused(`denied by policy: ${now.decision.why}`));
      },
      signal,
    );
  });
}
