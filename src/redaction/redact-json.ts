// Finds secrets by the structure of a message: a key called `apiKey`, a header, a variable, the argument after `--token`, a login.
import { isObject, type JsonObject } from '../json-object.ts';
import type { Redactor } from './redact.ts';
import { redactUrl } from './redact-url.ts';
import { isSecretName } from './secret-names.ts';

const REDACTED = '[redacted]';
/** No meaningful message nests deeper, and unbounded recursion would overflow the stack. */
const DEEPEST = 200;
const OPTION = /^--?([A-Za-z][\w-]*)(=)?/;

/** Returns a redacted copy, or the value itself if it contains no secret. */
export function redactJson(value: unknown, redact: Redactor): unknown {
  return isObject(value) ? message(value, redact) : walk(value, '', redact, 0);
}

/** Redacts a line of JSON; text that is not JSON is redacted as text. */
export function redactJsonText(text: string, redact: Redactor): string {
  try {
    return JSON.stringify(redactJson(JSON.parse(text), redact));
  } catch {
    return redact(text);
  }
}

/** In two places every value is secret, whatever its name: the params of a login, and a form that the user filled in. */
function message(value: JsonObject, redact: Redactor): unknown {
  const { method, params, result } = value;
  if (method === 'authenticate' && isObject(params)) {
    const { methodId, ...rest } = params;
    return members({ ...value, params: { methodId, ...(blank(rest, 0) as JsonObject) } }, redact, 0);
  }
  if (isObject(result) && result.action === 'accept' && isObject(result.content))
    return members({ ...value, result: { ...result, content: blank(result.content, 0) } }, redact, 0);
  return members(value, redact, 0);
}

function walk(value: unknown, key: string, redact: Redactor, depth: number): unknown {
  if (typeof value === 'string') return redact(isAddressName(key) ? redactUrl(value) : value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return REDACTED;
  return Array.isArray(value) ? elements(value, key, redact, depth) : members(value as JsonObject, redact, depth, key);
}

function members(value: JsonObject, redact: Redactor, depth: number, owner = ''): unknown {
  const isPair = isNameAndValue(value, owner);
  const isTable = isTableName(owner) && !isPair;
  let copy: [string, unknown][] | undefined;
  const entries = Object.entries(value);
  for (const [index, [key, member]] of entries.entries()) {
    const isSecret = isTable || (isPair && key === 'value') || (isSecretName(key) && (typeof member === 'string' || isObject(member)));
    const clean = isSecret ? blank(member, depth) : walk(member, key, redact, depth + 1);
    const cleanKey = redact(key);
    if (clean === member && cleanKey === key) continue;
    copy ??= entries.slice();
    copy[index] = [cleanKey, clean];
  }
  return copy === undefined ? value : Object.fromEntries(copy);
}

function elements(list: readonly unknown[], key: string, redact: Redactor, depth: number): unknown {
  let copy: unknown[] | undefined;
  let isBehindOption = false;
  for (const [index, element] of list.entries()) {
    const option = typeof element === 'string' ? OPTION.exec(element) : null;
    const isSecretOption = option !== null && isSecretName(option[1] as string);
    let clean: unknown;
    if (isBehindOption && typeof element === 'string' && option === null) clean = blank(element, depth);
    else if (isSecretOption && option[2] !== undefined) clean = `--${option[1]}=${REDACTED}`;
    else clean = walk(element, key, redact, depth + 1);
    isBehindOption = isSecretOption && option[2] === undefined;
    if (clean === element) continue;
    copy ??= [...list];
    copy[index] = clean;
  }
  return copy ?? list;
}

/** The address of an elicitation or of an MCP server. */
const isAddressName = (key: string): boolean => key === 'url' || key.endsWith('Url') || key.endsWith('_url');

/** `env` and `headers` as an object of names. */
const isTableName = (key: string): boolean => key === 'env' || key === 'headers';

/** `{ name, value }`, as the protocol writes variables and headers. The choices of an option have the same shape. */
function isNameAndValue({ name, value }: JsonObject, owner: string): boolean {
  if (typeof name !== 'string' || typeof value !== 'string') return false;
  return owner !== 'options' || isSecretName(name);
}

/** Replaces every value and keeps the shape. */
function blank(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value === '' || value.startsWith('[redacted') ? value : REDACTED;
  if (typeof value === 'number') return REDACTED;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return REDACTED;
  if (Array.isArray(value)) return value.map((element) => blank(element, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, blank(member, depth + 1)]));
}
