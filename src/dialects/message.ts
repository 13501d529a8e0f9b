// A JSON-RPC message as an object: what a dialect reads and writes. Ids stay as the text they were written as.

import { type Frame, textOf } from '../wire/frame.ts';
import type { Scanner } from '../wire/scanner/scanner.ts';
import { strictParse } from '../wire/scanner/strict-parse.ts';

export type Request = { readonly kind: 'request'; readonly id: string; readonly method: string; readonly params: unknown };
export type Notification = { readonly kind: 'notification'; readonly method: string; readonly params: unknown };
/** Without result and error if the agent omitted both. */
export type Response = { readonly kind: 'response'; readonly id: string; readonly result?: unknown; readonly error?: unknown };
export type Message = Request | Notification | Response;

export const request = (id: string, method: string, params: unknown): Request => ({ kind: 'request', id, method, params });
export const notification = (method: string, params: unknown): Notification => ({ kind: 'notification', method, params });
export const result = (id: string, value: unknown): Response => ({ kind: 'response', id, result: value });
export const failed = (id: string, code: number, message: string, data?: unknown): Response => ({
  kind: 'response',
  id,
  error: { code, message, ...(data !== undefined && { data }) },
});
export const update = (sessionId: string, value: object): Notification => notification('session/update', { sessionId, update: value });

/** The message in a line that ends at `bytes[end]`; undefined if the line is not a reliable message. */
export function readMessage(scanner: Scanner, bytes: Buffer, start: number, end: number): Message | undefined {
  const frame = scanner.scan(bytes, start) ?? strictParse(bytes, start, end);
  return 'why' in frame ? undefined : messageOf(frame);
}

function messageOf({ bytes, kind, id, method, body, outcome }: Frame): Message {
  const value: unknown = body === undefined ? undefined : JSON.parse(textOf(bytes, body));
  const idText = id === undefined ? '' : textOf(bytes, id);
  if (kind === 'request') return { kind, id: idText, method: method as string, params: value };
  if (kind === 'notification') return { kind, method: method as string, params: value };
  if (outcome === 'error') return { kind, id: idText, error: value };
  return { kind, id: idText, ...(body !== undefined && { result: value }) };
}

/** The line of a message with its line feed. `isBare` omits `jsonrpc`, for a dialect without it. */
export function lineOf(message: Message, isBare = false): string {
  const members = isBare ? [] : ['"jsonrpc":"2.0"'];
  if (message.kind !== 'response') members.push(`"method":${JSON.stringify(message.method)}`);
  if (message.kind !== 'notification') members.push(`"id":${message.id}`);
  if (message.kind === 'response')
    members.push(message.error === undefined ? member('result', message.result ?? null) : member('error', message.error));
  else if (message.params !== undefined) members.push(member('params', message.params));
  return `{${members.join(',')}}\n`;
}

const member = (key: string, value: unknown): string => `"${key}":${JSON.stringify(value)}`;
