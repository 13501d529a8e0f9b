// Questions to the user of the MCP client: an agent's permission request, its form or URL, and the client's roots. Each becomes a request that
// the client knows, and the client's reply becomes the agent's answer.
import { type ClientCapabilities, type ElicitRequestFormParams, type InputRequest, inputRequired } from '@modelcontextprotocol/server';
import type { PermissionOption } from '../../client/describe-permission.ts';
import type { ElicitationReply } from '../../client/sessions.ts';
import { fields, type JsonObject } from '../../json-object.ts';
import type { PermissionRequest } from './agents.ts';

export type Question =
  | { readonly kind: 'permission'; readonly request: PermissionRequest }
  | { readonly kind: 'form'; readonly message: string; readonly schema: ElicitRequestFormParams['requestedSchema'] }
  | { readonly kind: 'url'; readonly message: string; readonly url: string; readonly elicitationId: string }
  | { readonly kind: 'roots' };

/** The client's result, which may have any shape. */
export type Reply = JsonObject;
export const NO_REPLY: Reply = { action: 'cancel' };

/** Whether the client can be asked. `elicitation: {}` means forms. */
export function canAsk({ elicitation, roots }: ClientCapabilities, question: Question): boolean {
  if (question.kind === 'roots') return roots !== undefined;
  if (elicitation === undefined) return false;
  const { form, url } = elicitation;
  return question.kind === 'url' ? url !== undefined : form !== undefined || url === undefined;
}

export type FormParams = ElicitRequestFormParams & { readonly mode: 'form' };

export function formOf(question: Extract<Question, { kind: 'permission' | 'form' }>): FormParams {
  if (question.kind === 'form') return { mode: 'form', message: question.message, requestedSchema: question.schema };
  const { text, options } = question.request;
  const answers = named(options);
  const answer = { type: 'string' as const, title: 'Answer', enum: answers.map(({ answer }) => answer) };
  const kinds = answers.map(({ answer: name, option }) => `${name} (${option.kind.replaceAll('_', ' ')})`);
  return {
    mode: 'form',
    message: `${text}\nAnswers: ${kinds.join(', ')}`,
    requestedSchema: { type: 'object', properties: { answer }, required: ['answer'] },
  };
}

/** The question as an input request of the 2026 era. */
export function inputRequestOf(question: Question): InputRequest {
  if (question.kind === 'roots') return inputRequired.listRoots();
  if (question.kind === 'url') return inputRequired.elicitUrl({ message: question.message, url: question.url });
  return inputRequired.elicit(formOf(question));
}

/** Options by the name that the user chooses; two options with one name differ by their kind. */
function named(options: readonly PermissionOption[]): readonly { readonly answer: string; readonly option: PermissionOption }[] {
  return options.map((option, index) => {
    const isTwice = options.some((other, at) => at !== index && other.name === option.name);
    return { answer: isTwice ? `${option.name} [${index + 1}: ${option.kind.replaceAll('_', ' ')}]` : option.name, option };
  });
}

/** The chosen option; without consent, the one that rejects. */
export function chosenOption({ action, content }: Reply, options: readonly PermissionOption[]): string | undefined {
  const { answer } = fields(content);
  const chosen = action === 'accept' ? named(options).find((one) => one.answer === answer)?.option.optionId : undefined;
  return chosen ?? refusalIn(options);
}

/** The option that rejects: no approval means rejection. */
export const refusalIn = (options: readonly PermissionOption[]): string | undefined =>
  (options.find(({ kind }) => kind === 'reject_once') ?? options.find(({ kind }) => kind === 'reject_always'))?.optionId;

/** The answer to `elicitation/create`. */
export function elicitationReply({ action, content }: Reply): ElicitationReply {
  if (action === 'accept') return { action, ...(content !== undefined && content !== null && { content: fields(content) }) };
  return { action: action === 'decline' ? 'decline' : 'cancel' };
}

/** `elicitation/create` of an agent as a question, or the reason why MCP has none for it. */
export function elicitationOf(params: JsonObject): Question | { readonly unsupported: string } {
  const message = typeof params.message === 'string' ? params.message : 'The agent asks for input';
  if (params.mode === 'url') {
    const url = typeof params.url === 'string' && URL.canParse(params.url) ? new URL(params.url) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return { unsupported: 'its URL is not an http or https address' };
    return { kind: 'url', message, url: url.href, elicitationId: String(params.elicitationId) };
  }
  if (params.mode !== 'form') return { unsupported: `MCP has no elicitation of the mode "${String(params.mode)}"` };
  const { properties, required } = fields(params.requestedSchema);
  const mapped = Object.entries(fields(properties)).map(([name, schema]) => [name, propertyOf(fields(schema))] as const);
  const wanted = Array.isArray(required) ? required.map(String) : [];
  const lost = mapped.find(([name, schema]) => schema === undefined && wanted.includes(name));
  if (lost) return { unsupported: `MCP forms have no field like "${lost[0]}", which it requires` };
  const known = Object.fromEntries(mapped.flatMap(([name, schema]) => (schema ? [[name, schema]] : [])));
  const schema = { type: 'object', properties: known, ...(wanted.length > 0 && { required: wanted }) };
  return { kind: 'form', message, schema: schema as ElicitRequestFormParams['requestedSchema'] };
}

const KEPT: Readonly<Record<string, readonly string[]>> = {
  string: ['title', 'description', 'minLength', 'maxLength', 'format', 'default', 'enum', 'enumNames', 'oneOf'],
  number: ['title', 'description', 'minimum', 'maximum', 'default'],
  integer: ['title', 'description', 'minimum', 'maximum', 'default'],
  boolean: ['title', 'description', 'default'],
  array: ['title', 'description', 'minItems', 'maxItems', 'items', 'default'],
};
const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time'];

/** Without fields that MCP does not have, and without nulls, which ACP allows. A pattern becomes part of the description. */
function propertyOf(schema: JsonObject): JsonObject | undefined {
  const kept = typeof schema.type === 'string' && Object.hasOwn(KEPT, schema.type) ? KEPT[schema.type] : undefined;
  if (!kept) return undefined;
  const given = Object.fromEntries(
    kept.flatMap((key) => {
      const value = schema[key];
      const isUsable = value !== undefined && value !== null && (key !== 'format' || FORMATS.includes(value));
      return isUsable ? [[key, value]] : [];
    }),
  );
  const hint = typeof schema.pattern === 'string' ? `Must match ${schema.pattern}` : undefined;
  const description = [given.description, hint].filter((part) => part !== undefined).join('. ');
  return { type: schema.type, ...given, ...(description !== '' && { description }) };
}
