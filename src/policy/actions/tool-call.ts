// A tool call as agents describe it. No field is taken for granted.
import { fields } from '../../json-object.ts';

export { fields as record, list } from '../../json-object.ts';

export type ToolCall = {
  readonly toolCallId?: unknown;
  readonly name?: unknown;
  readonly title?: unknown;
  readonly kind?: unknown;
  readonly rawInput?: unknown;
  readonly content?: unknown;
  readonly locations?: unknown;
  readonly _meta?: unknown;
};

const FIELDS = ['toolCallId', 'name', 'title', 'kind', 'rawInput', 'content', 'locations', '_meta'] as const;

/**
 * What is known of a call after another message about it. Fold in every `tool_call` and `tool_call_update`, then the permission request. A
 * later field replaces an earlier one; an empty one does not, because agents stream `{}` before the input.
 */
export function mergeToolCall(known: ToolCall | undefined, update: unknown): ToolCall {
  const merged: Record<string, unknown> = { ...known };
  const given = fields(update);
  for (const field of FIELDS) {
    const value = given[field];
    if (value !== undefined && value !== null && !(isEmpty(value) && merged[field] !== undefined)) merged[field] = value;
  }
  return merged;
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0;

export function string(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
