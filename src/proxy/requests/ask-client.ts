// The proxy's own requests to the client: any method, a form, or a choice among buttons.
import { randomUUID } from 'node:crypto';
import { fields } from '../../json-object.ts';
import type { Answer, Elicitation, Question } from '../../mcp/server/tool.ts';
import type { Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import { updateLine } from '../json-rpc-lines.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';

/** The client's error. */
export class ClientRefusal extends Error {
  override readonly name = 'ClientRefusal';
}

export function askClient(proxy: Parts<'requests'>, method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DOMException('cancelled', 'AbortError'));
    const withdraw = proxy.requests.ask(method, JSON.stringify(params), (answer) => {
      signal.removeEventListener('abort', abort);
      const read = resultOf(method, answer);
      if (read instanceof ClientRefusal) reject(read);
      else resolve(read.value);
    });
    const abort = () => {
      withdraw();
      reject(new DOMException('cancelled', 'AbortError'));
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}

function resultOf(method: string, answer: Frame): { readonly value: unknown } | ClientRefusal {
  const body = readBody(answer);
  if (!body.ok || answer.outcome === 'unclear') return new ClientRefusal(`the editor's answer to ${method} cannot be used`);
  if (answer.outcome === 'result') return { value: body.value };
  const message = (body.value as { message?: unknown } | null)?.message;
  return new ClientRefusal(typeof message === 'string' ? message : `the editor refused ${method}`);
}

/** `elicitation: {}` promises nothing; `form` does. */
function showsForms(proxy: Parts<'pool'>): boolean {
  const { elicitation } = (proxy.pool.initializeParams?.clientCapabilities ?? {}) as { elicitation?: { form?: unknown } | null };
  const form = elicitation?.form;
  return form !== undefined && form !== null && form !== false;
}

/** What MCP servers may ask of a client that shows forms. */
export const elicitationOf = (proxy: Parts<'pool'>): { readonly form: object } | undefined =>
  showsForms(proxy) ? { form: {} } : undefined;

/** Shows the form of an MCP server. */
export async function elicitFromClient(
  proxy: Parts<'requests'>,
  session: Session,
  { server, params }: Elicitation,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { mode = 'form', message, requestedSchema } = params;
  if (mode !== 'form')
    throw new ClientRefusal(`elicitation/create was declined: the editor shows forms only, not the mode ${String(mode)}`);
  const shown = { sessionId: session.publicId, mode, message: `The MCP server ${server} asks: ${String(message)}`, requestedSchema };
  const { action, content } = fields(await askClient(proxy, 'elicitation/create', shown, signal));
  if (action !== 'accept') return { action: action === 'cancel' ? 'cancel' : 'decline' };
  return { action, content: fields(content) };
}

/** A form where the client shows forms, else a permission request, which every client shows as buttons. */
export async function askUser(
  proxy: Parts<'client' | 'pool' | 'requests'>,
  session: Session,
  question: Question,
  signal: AbortSignal,
): Promise<Answer> {
  if (showsForms(proxy)) return byForm(proxy, session, question, signal);
  const { message, choices } = question;
  if (!choices) return { kind: 'unavailable' };
  const toolCallId = `switchboard-${randomUUID()}`;
  const ended = (status: 'completed' | 'failed') =>
    proxy.client.line(updateLine(session.publicId, JSON.stringify({ sessionUpdate: 'tool_call_update', toolCallId, status })));
  const options = choices.map((name, n) => ({ optionId: String(n), name, kind: 'allow_once' }));
  const asked = choose(proxy, session, { title: message, kind: 'other' }, options, signal, toolCallId);
  const chosen = await asked.catch((error: unknown) => {
    ended('failed');
    throw error;
  });
  ended(chosen === undefined ? 'failed' : 'completed');
  const text = chosen === undefined ? undefined : choices[Number(chosen)];
  return text === undefined ? { kind: 'declined' } : { kind: 'answered', text };
}

async function byForm(proxy: Parts<'requests'>, session: Session, { message, choices }: Question, signal: AbortSignal): Promise<Answer> {
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
  readonly content?: readonly unknown[];
};

/** The id of the option that was chosen; undefined when none was. `toolCallId`: of the call that the question is about. */
export async function choose(
  proxy: Parts<'requests'>,
  session: Session,
  shown: Shown,
  options: readonly Option[],
  signal: AbortSignal,
  toolCallId = `switchboard-${randomUUID()}`,
): Promise<string | undefined> {
  const toolCall = { toolCallId, status: 'pending', ...shown };
  const params = { sessionId: session.publicId, toolCall, options };
  const result = (await askClient(proxy, 'session/request_permission', params, signal)) as {
    outcome?: { outcome?: unknown; optionId?: unknown };
  } | null;
  const { outcome, optionId } = result?.outcome ?? {};
  return outcome === 'selected' && options.some((option) => option.optionId === optionId) ? String(optionId) : undefined;
}
