// Is a frame as the protocol has it? Held against the schema that the ACP SDK ships, drafts included; loaded when somebody asks.

import type { SchemaCheck, SchemaProblem } from '../protocol/frames.ts';
import { type Definitions, mismatches, type Schema } from './json-schema.ts';

export type Checked = { readonly dir?: string | undefined; readonly kind?: string | undefined; readonly method?: string | undefined };

type Fields = Readonly<Record<string, unknown>>;

/** `frame` says which way it went, and for an answer to which method. */
export async function checkFrame(frame: Checked, message: Fields): Promise<SchemaCheck> {
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
  // Who answers: requests go to it, answers come from it.
  const side = isToAgent === (kind !== 'response') ? 'agent' : 'client';
  const ending = method === undefined ? undefined : ENDINGS[kind];
  for (const [name, schema] of Object.entries(definitions))
    if (schema['x-method'] === method && ending !== undefined && name.endsWith(ending))
      if (schema['x-side'] === side || (schema['x-side'] !== 'agent' && schema['x-side'] !== 'client')) return { name, schema };
  return undefined;
}

function whyNone(method: string, definitions: Definitions): string {
  if (method === '') return 'it is not known which request it answers';
  if (method.startsWith('_')) return `${method} is a method of a vendor's own, for which the protocol has no schema`;
  const isKnown = Object.values(definitions).some((schema) => schema['x-method'] === method);
  return isKnown ? `ACP has no ${method} of this kind in this direction` : `${method} is no method of ACP`;
}
