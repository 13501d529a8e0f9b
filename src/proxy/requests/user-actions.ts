// What the user does in the console or on a page of a web app instead of in the client: answers, cancels, file actions and commands. The first
// answer to a request counts, and the client is notified.
import type { GateVerdict } from '../../mcp/server/gate.ts';
import type { TerminalRequest } from '../../policy/actions/surfaces.ts';
import { parseLine } from '../../wire/scanner/strict-parse.ts';
import type { UserPage } from '../enforcement/surfaces/user-actions.ts';
import { resultLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';
import { cancelTurns } from '../turns/cancel.ts';
import { notifyInSession } from '../turns/notify-in-session.ts';

export type ElsewhereAnswer = {
  /** The id that the client knows. */
  readonly id: string;
  /** For a permission request: the selected option; undefined for none. */
  readonly optionId?: string | undefined;
  /** The answer to an elicitation. */
  readonly reply?: { readonly action: string; readonly content?: unknown } | undefined;
  /** For the message to the client: the place and the answer. */
  readonly where: string;
  readonly how: string;
};

/** Handles the answer like one from the client, with the policy. False when the request is not open. */
export function answerElsewhere(
  proxy: Parts<'pool' | 'client' | 'requests'>,
  { id, optionId, reply, where, how }: ElsewhereAnswer,
): boolean {
  const session = proxy.requests.open(id)?.session;
  if (proxy.requests.methodOf(id) !== (reply ? 'elicitation/create' : 'session/request_permission')) return false;
  const outcome = optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId };
  const frame = parseLine(resultLine(id, JSON.stringify(reply ?? { outcome })));
  if (!frame) return false;
  proxy.requests.answeredElsewhere(frame);
  if (session) notifyInSession(proxy, session, 'info', `Answered in ${where}`, how);
  return true;
}

/** Likewise a cancel. False when there is no such session. */
export function cancelElsewhere(proxy: Parts<'context' | 'registry' | 'client' | 'requests'>, sessionId: string): boolean {
  const session = proxy.registry.get(sessionId);
  if (session) cancelTurns(proxy, session);
  return session !== undefined;
}

/** A file action of the user on a page. A policy that denies it to the agent denies it here too, and audits it. */
export function actAsUser(
  proxy: Parts<'context' | 'registry'>,
  sessionId: string,
  act: 'read' | 'edit',
  file: string,
  where?: UserPage,
): GateVerdict {
  const session = proxy.registry.get(sessionId);
  if (!session) return { allow: false, reason: 'the session is not open; send a prompt to reopen it' };
  return proxy.context.enforcement?.fileActionByUser(session, act, file, where) ?? { allow: true };
}

/** Likewise a command. */
export function runAsUser(proxy: Parts<'context' | 'registry'>, sessionId: string, command: TerminalRequest): GateVerdict {
  const session = proxy.registry.get(sessionId);
  if (!session) return { allow: false, reason: 'the session is not open; send a prompt to reopen it' };
  return proxy.context.enforcement?.commandByUser(session, command) ?? { allow: true };
}
