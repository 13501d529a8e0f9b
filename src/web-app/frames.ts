// The frames of the web app's WebSocket: requests `{type, id, op, payload}` of a service, their responses, and broadcasts.
import * as z from 'zod';
import type { ClientError } from '../client/client-error.ts';
import { isTooDeep } from '../json-nesting.ts';
import { fields } from '../json-object.ts';
import type { FrameError } from './refusal.ts';
import { problemsIn, refusals } from './refusal.ts';

export type FrameId = string | number;
export type Service = 'acp' | 'fileSystem';
export type RequestFrame = { readonly service: Service; readonly id: FrameId; readonly op: string; readonly payload: unknown };

export type ResponseFrame = { readonly type: `${Service}_response`; readonly id: FrameId | null } & (
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: FrameError }
);

/** Messages that no page asked for. The last one is not in the source document: it closes the dialogs of the other pages. */
export type Broadcast =
  | { readonly type: 'agent_initialized'; readonly init: unknown; readonly agent: string }
  | { readonly type: 'agent_stderr'; readonly line: string; readonly agent: string }
  | { readonly type: 'session_update'; readonly sessionId: string; readonly update: unknown }
  | { readonly type: 'permission_request'; readonly requestId: number; readonly request: unknown }
  | { readonly type: 'terminal_output'; readonly terminalId: string; readonly chunk: string; readonly stream: 'stdout' | 'stderr' }
  | { readonly type: 'terminal_exit'; readonly terminalId: string; readonly exitStatus: unknown }
  | { readonly type: 'permission_resolved'; readonly requestId: number; readonly outcome: string; readonly optionId?: string };

const frameId = z.union([z.string().max(200), z.number()]);
const requestFrame = z.object({
  type: z.enum(['acp', 'fileSystem']),
  id: frameId,
  op: z.string(),
  payload: z.unknown().optional(),
});

/** A frame that cannot be read, with as much of it as the response needs. */
export type Unreadable = { readonly service: Service; readonly id: FrameId | null; readonly refusal: ClientError };

export function readFrame(text: string): RequestFrame | Unreadable {
  if (isTooDeep(Buffer.from(text))) return { service: 'acp', id: null, refusal: refusals.notJson() };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { service: 'acp', id: null, refusal: refusals.notJson() };
  }
  const { success, data, error } = requestFrame.safeParse(value);
  if (success) return { service: data.type, id: data.id, op: data.op, payload: data.payload ?? {} };
  const given = fields(value);
  const id = frameId.safeParse(given.id).data ?? null;
  const service = given.type === 'fileSystem' ? 'fileSystem' : 'acp';
  return { service, id, refusal: refusals.notAFrame(problemsIn(error)) };
}
