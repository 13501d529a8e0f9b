// Validates a frame against the schema in the ACP SDK, drafts included. Loaded on first use.

import { isObject, type JsonObject } from '../../json-object.ts';
import type { SchemaCheck, SchemaProblem } from '../protocol/frames.ts';

export type Checked = { readonly dir?: string | undefined; readonly kind?: string | undefined; readonly method?: string | undefined };

/** `frame` gives the direction and, for a response, the method it answers. */
export async function checkFrame(frame: Checked, message: JsonObject): Promise<SchemaCheck> {
  const { default: schema } = await import('@agentclientprotocol/sdk/schema/v1/schema.unstable.json', { with: { type: 'json' } });
  const definitions = schema.$defs as unknown as Definitions;
  const envelope: SchemaProblem[] = message.jsonrpc === '2.0' ? [] : [{ at: 'jsonrpc', what: 'must be "2.0"', isTolerated: false }];
  const part = message.error === undefined ? (frame.kind === 'response' ? 'result' : 'params') : 'error';
  if (part === 'error')
    return { name: 'Error', problems: [...envelope, ...mismatches(message.error, definitions.Error as Schema, definitions, 'error')] };
  const { method = '' } = frame;
  const wanted = definitionOf(frame, definitions);
  if (!wanted) return { why: whyNone(method, definitions), problems: envelope };
  const value = message[part] ?? (part === 'params' && !wanted.schema.required ? {} : message[part]);
  const found = value === undefined ? [{ at: part, what: 'is missing', isTolerated: false }] : undefined;
  return { name: wanted.name, problems: [...envelope, ...(found ?? mismatches(value, wanted.schema, definitions, part))] };
}

const ENDINGS: Readonly<Record<string, string>> = { request: 'Request', response: 'Response', notification: 'Notification' };

function definitionOf({ dir, kind = '', method }: Checked, definitions: Definitions) {
  const isToAgent = dir === 'fromEditor' || dir === 'toAgent';
  // The side that answers: requests go to it, responses come from it.
  const side = isToAgent === (kind !== 'response') ? 'agent' : 'client';
  const ending = method === undefined ? undefined : ENDINGS[kind];
  for (const [name, schema] of Object.entries(definitions))
    if (schema['x-method'] === method && ending !== undefined && name.endsWith(ending))
      if (schema['x-side'] === side || (schema['x-side'] !== 'agent' && schema['x-side'] !== 'client')) return { name, schema };
  return undefined;
}

function whyNone(method: string, definitions: Definitions): string {
  if (method === '') return 'its request is unknown';
  if (method.startsWith('_')) return `${method} is an extension method, which has no schema`;
  const isKnown = Object.values(definitions).some((schema) => schema['x-method'] === method);
  return isKnown ? `ACP does not define ${method} for this kind and direction` : `${method} is not an ACP method`;
}

// The subset of JSON Schema that the ACP schema uses.
type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  /** Readers must treat an invalid value as absent. */
  readonly 'x-deserialize-default-on-error'?: boolean;
  readonly 'x-deserialize-skip-invalid-items'?: boolean;
  readonly 'x-method'?: string;
  readonly 'x-side'?: string;
};
type Definitions = Readonly<Record<string, Schema>>;

const MOST = 20;
const DEEPEST = 100;

/** `at` is the path of the value: `params`. */
function mismatches(value: unknown, schema: Schema, definitions: Definitions, at: string): readonly SchemaProblem[] {
  return check(value, schema, { definitions, depth: 0 }, at, false).slice(0, MOST);
}

type Context = { readonly definitions: Definitions; readonly depth: number };

function check(value: unknown, schema: Schema, context: Context, at: string, isLenient: boolean): readonly SchemaProblem[] {
  // A redacted value cannot be checked.
  if (context.depth > DEEPEST || (typeof value === 'string' && value.startsWith('[redacted'))) return [];
  const isTolerated = isLenient || schema['x-deserialize-default-on-error'] === true;
  const within = { ...context, depth: context.depth + 1 };
  const wrong = (what: string): readonly SchemaProblem[] => [{ at, what, isTolerated }];
  const referred = schema.$ref === undefined ? undefined : context.definitions[schema.$ref.replace('#/$defs/', '')];
  if (referred) return check(value, referred, within, at, isTolerated);
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
  if (types && !types.some((type) => isOf(type, value))) return wrong(`is ${describe(value)}, and must be ${types.join(' or ')}`);
  const allowed = schema.const === undefined ? schema.enum : [schema.const];
  if (allowed && !allowed.includes(value)) return wrong(`is ${describe(value)}, and must be ${allowed.map(describe).join(' or ')}`);
  const { minimum, maximum, minItems } = schema;
  if (typeof value === 'number' && minimum !== undefined && value < minimum) return wrong(`is ${value}, and must be at least ${minimum}`);
  if (typeof value === 'number' && maximum !== undefined && value > maximum) return wrong(`is ${value}, and must be at most ${maximum}`);
  if (Array.isArray(value) && minItems !== undefined && value.length < minItems) return wrong(`must have at least ${minItems} items`);
  return [
    ...(isObject(value) ? members(value, schema, within, at, isTolerated) : []),
    ...(Array.isArray(value) ? elements(value, schema, within, at, isTolerated) : []),
    ...(schema.allOf ?? []).flatMap((part) => check(value, part, within, at, isTolerated)),
    ...oneOf(value, schema.oneOf ?? [], within, at, isTolerated),
    ...oneOf(value, schema.anyOf ?? [], within, at, isTolerated),
  ];
}

function members(value: JsonObject, schema: Schema, context: Context, at: string, isLenient: boolean): readonly SchemaProblem[] {
  const missing = (schema.required ?? []).filter((key) => value[key] === undefined);
  const { properties = {}, additionalProperties: others } = schema;
  return [
    ...missing.map((key) => ({ at: `${at}.${key}`, what: 'is missing', isTolerated: isLenient })),
    ...Object.entries(value).flatMap(([key, member]) => {
      const its = Object.hasOwn(properties, key) ? properties[key] : typeof others === 'object' ? others : undefined;
      return its ? check(member, its, context, `${at}.${key}`, isLenient) : [];
    }),
  ];
}

function elements(value: readonly unknown[], schema: Schema, context: Context, at: string, isLenient: boolean): readonly SchemaProblem[] {
  const { items } = schema;
  const isTolerated = isLenient || schema['x-deserialize-skip-invalid-items'] === true;
  return items ? value.flatMap((element, index) => check(element, items, context, `${at}[${index}]`, isTolerated)) : [];
}

/** The variant that is meant: the one whose constant matches, else the closest. */
function oneOf(value: unknown, forms: readonly Schema[], context: Context, at: string, isLenient: boolean): readonly SchemaProblem[] {
  if (forms.length === 0) return [];
  const words: readonly unknown[] = forms.flatMap((form) => (form.const === undefined ? [] : [form.const]));
  if (words.length === forms.length && !words.includes(value))
    return [{ at, what: `is ${describe(value)}, and must be one of ${words.map(describe).join(', ')}`, isTolerated: isLenient }];
  const tag = tagOf(forms);
  const meant = tag === undefined || !isObject(value) ? forms : forms.filter((form) => form.properties?.[tag]?.const === value[tag]);
  const open = forms.filter((form) => tag === undefined || form.properties?.[tag]?.const === undefined);
  const tried = meant.length > 0 ? meant : open;
  if (tried.length === 0 && tag !== undefined && isObject(value)) {
    const known = forms.map((form) => form.properties?.[tag]?.const).join(', ');
    const what = value[tag] === undefined ? 'is missing' : `is ${describe(value[tag])}, and must be one of ${known}`;
    return [{ at: `${at}.${tag}`, what, isTolerated: isLenient }];
  }
  const found = tried.map((form) => check(value, form, context, at, isLenient));
  return found.reduce((best, one) => (one.length < best.length ? one : best), found[0] ?? []);
}

/** The property whose constant distinguishes the variants. */
function tagOf(forms: readonly Schema[]): string | undefined {
  for (const { properties = {} } of forms)
    for (const [key, { const: word }] of Object.entries(properties)) if (word !== undefined) return key;
  return undefined;
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Shortened: the screen shows the whole value next to it. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
