// The client's answer to a permission request, without a policy. An answer that cannot be read is no consent: its agent gets `cancelled`.
import { fields } from '../../json-object.ts';
import type { Frame } from '../../wire/frame.ts';
import { elements, member, memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';

/** The option ids that a request offers; undefined if they cannot be read. */
export function offeredOptions({ bytes, body }: Frame): ReadonlySet<string> | undefined {
  const list = memberAt(bytes, body, 'options');
  if (!list) return undefined;
  const ids = elements(bytes, list.start).map(({ start }) => stringAt(bytes, member(bytes, start, 'optionId')));
  return ids.length === 0 || ids.includes(undefined) ? undefined : new Set(ids as string[]);
}

/** An error passes: the client could not ask. */
export function isUsableAnswer(answer: Frame, offered: ReadonlySet<string> | undefined): boolean {
  if (answer.outcome !== 'result') return answer.outcome === 'error';
  const result = readBody(answer);
  const { outcome, optionId } = fields(result.ok ? fields(result.value).outcome : undefined);
  if (outcome === 'cancelled') return true;
  return outcome === 'selected' && typeof optionId === 'string' && (!offered || offered.has(optionId));
}
