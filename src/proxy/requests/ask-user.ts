// A question to the person at the editor: as a form where it shows forms, else as a choice among buttons, which every editor has.
import { randomUUID } from 'node:crypto';
import type { Answer, Question } from '../../mcp/server/tool.ts';
import type { ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { showsForms } from '../tools/client-workspace.ts';
import { askClient } from './ask-client.ts';

export async function askUser(proxy: ProxyParts, session: Session, agentRequest: Question, signal: AbortSignal): Promise<Answer> {
  if (showsForms(proxy)) return byForm(proxy, session, agentRequest, signal);
  const { message, choices } = agentRequest;
  if (!choices) return { kind: 'unavailable' };
  const chosen = await choose(
    proxy,
    session,
    { title: message, kind: 'other' },
    choices.map((name, n) => ({ optionId: String(n), name, kind: 'allow_once' })),
    signal,
  );
  const text = chosen === undefined ? undefined : choices[Number(chosen)];
  return text === undefined ? { kind: 'declined' } : { kind: 'answered', text };
}

async function byForm(proxy: ProxyParts, session: Session, { message, choices }: Question, signal: AbortSignal): Promise<Answer> {
  const answer = { type: 'string', title: 'Answer', ...(choices && { enum: [...choices] }) };
  const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] };
  const params = { sessionId: session.publicId, mode: 'form', message, requestedSchema };
  const { action, content } = (await askClient(proxy, 'elicitation/create', params, signal)) as { action?: unknown; content?: unknown };
  const text = (content as { answer?: unknown } | null | undefined)?.answer;
  return action === 'accept' && typeof text === 'string' ? { kind: 'answered', text } : { kind: 'declined' };
}

type Option = { readonly optionId: string; readonly name: string; readonly kind: string };
type Shown = {
  readonly title: string;
  readonly kind: string;
  readonly rawInput?: unknown;
  readonly locations?: readonly { readonly path: string }[];
};

/** The id of the option that was chosen; undefined when none was. */
export async function choose(
  proxy: ProxyParts,
  session: Session,
  shown: Shown,
  options: readonly Option[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const toolCall = { toolCallId: `switchboard-${randomUUID()}`, status: 'pending', ...shown };
  const params = { sessionId: session.publicId, toolCall, options };
  const result = (await askClient(proxy, 'session/request_permission', params, signal)) as {
    outcome?: { outcome?: unknown; optionId?: unknown };
  } | null;
  const { outcome, optionId } = result?.outcome ?? {};
  return outcome === 'selected' && options.some((option) => option.optionId === optionId) ? String(optionId) : undefined;
}
