// A contained agent's write that failed: agents report it badly, so the proxy says in the session what the sandbox refused, and why.
import { fields, list } from '../../json-object.ts';
import type { Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import { notifyInSession } from './notify-in-session.ts';

const WRITES = ['edit', 'delete', 'move'];
const isText = (value: unknown): value is string => typeof value === 'string';

/** Reads a `tool_call` or `tool_call_update` of a contained agent. Some agents call a failed write completed, with the error in its text. */
export function noteRefusals(proxy: Parts<'pool' | 'client'>, session: Session, frame: Frame): void {
  const refusal = session.agent.connection?.refusal;
  const body = refusal && readBody(frame);
  if (!refusal || !body?.ok) return;
  const { toolCallId, status, kind, locations, content } = fields(fields(body.value).update);
  if (!isText(toolCallId)) return;
  const call = session.toolCalls.described(toolCallId);
  if (isText(kind)) call.kind = kind;
  for (const one of [...list(locations), ...list(content)]) {
    const { path } = fields(one);
    if (isText(path)) call.paths.add(path);
  }
  const isFailed =
    status === 'failed' || (status === 'completed' && /\b(?:EROFS|Read-only file system)\b/.test(JSON.stringify(content ?? '')));
  if (!isFailed || call.isReported) return;
  const refused = [...call.paths].flatMap((path) => {
    const why = refusal(path, WRITES.includes(call.kind));
    return why === undefined ? [] : [`${path}: ${why}`];
  });
  if (refused.length === 0) return;
  call.isReported = true;
  notifyInSession(proxy, session, 'warning', 'The sandbox refused this', `${refused.join('; ')}.`);
}
