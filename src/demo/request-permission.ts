// Requests permission for a tool call, unless the session's mode or an earlier allow_always makes it unnecessary.
import { methods, type PermissionOption, type ToolCallUpdate, type ToolKind } from '@agentclientprotocol/sdk';
import type { Turn } from './turn.ts';

const OPTIONS: PermissionOption[] = [
  { optionId: 'allow-once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'allow-always', name: 'Always allow in this session', kind: 'allow_always' },
  { optionId: 'reject-once', name: 'Reject', kind: 'reject_once' },
];

export async function requestPermission(turn: Turn, toolCall: ToolCallUpdate & { kind: ToolKind }): Promise<boolean> {
  const { record, alwaysAllowed } = turn.session;
  const mode = turn.profile.modes.find(({ id }) => id === record.modeId);
  if (mode?.preapproved.includes(toolCall.kind) || alwaysAllowed.has(toolCall.kind)) return true;

  const { sessionId } = record;
  const { outcome } = await turn.request(methods.client.session.requestPermission, { sessionId, toolCall, options: OPTIONS });
  // The outcome means the same as session/cancel, and may overtake it.
  if (outcome.outcome === 'cancelled') return turn.cancel();
  if (outcome.optionId === 'allow-always') alwaysAllowed.add(toolCall.kind);
  return outcome.optionId === 'allow-once' || outcome.optionId === 'allow-always';
}
