// A question that somebody answers in another place than the editor: the first answer counts, and the other place is told.
import type { GateVerdict } from '../../mcp/server/gate.ts';
import { parseLine } from '../../wire/scanner/strict-parse.ts';
import { resultLine } from '../messages.ts';
import type { ProxyParts } from '../parts.ts';
import { tell } from '../sessions/attachments.ts';
import { cancelTurns } from '../turns/cancel.ts';

export type ElsewhereAnswer = {
  /** The question's id, as the editor knows it. */
  readonly id: string;
  /** To a permission question: the option's id; undefined for none of them. */
  readonly optionId?: string | undefined;
  /** To an elicitation. */
  readonly reply?: { readonly action: string; readonly content?: unknown } | undefined;
  /** For the editor: where it was answered, and how. */
  readonly where: string;
  readonly how: string;
};

/** As if the editor had said it, with all that a policy does with answers. False when the question is not open any more. */
export function answerElsewhere(proxy: ProxyParts, { id, optionId, reply, where, how }: ElsewhereAnswer): boolean {
  const session = proxy.requests.open(id)?.session;
  if (proxy.requests.methodOf(id) !== (reply ? 'elicitation/create' : 'session/request_permission')) return false;
  const outcome = optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
  const frame = parseLine(resultLine(id, JSON.stringify(reply ?? { outcome })));
  if (!frame) return false;
  proxy.requests.answeredElsewhere(frame);
  if (session) tell(proxy, session, 'info', `Answered in ${where}`, how);
  return true;
}

/** Likewise a cancel. False when there is no such session. */
export function cancelElsewhere(proxy: ProxyParts, sessionId: string): boolean {
  const session = proxy.registry.get(sessionId);
  if (session) cancelTurns(proxy, session);
  return session !== undefined;
}

/** What the user does by hand in a session. A policy that refuses it to the agent refuses it here too, and writes it down. */
export function actAsUser(proxy: ProxyParts, sessionId: string, act: 'read' | 'edit', file: string): GateVerdict {
  const session = proxy.registry.get(sessionId);
  if (!session) return { allow: false, reason: 'the session is not open; send a prompt to take it up again' };
  return proxy.context.enforcement?.byUser(session, act, file) ?? { allow: true };
}
