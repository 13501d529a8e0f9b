// What the editor answered to a permission question. Only the one shape of the protocol is consent; whatever else it is, it is none.
import type { PermissionOption } from '../../policy/actions/permission-options.ts';
import { limitsOf } from '../../policy/rules/settings.ts';
import type { Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { AgentRequest } from '../client/client-connection.ts';
import type { ProxyParts } from '../parts.ts';
import { cancelRequest } from '../turns/cancel.ts';
import type { EnforcementDeps } from './evaluate.ts';

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
