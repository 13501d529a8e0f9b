// Frames in earlier spellings, made into frames of today. Requests of agents and rare kinds of updates are looked at, nothing else.
import type { Dict } from '../../dialects/json.ts';
import { answerInBoth, diffAsToolCall, EARLIER_MODE, MODE, modernMethod, withRationale } from '../../dialects/legacy.ts';
import { type Frame, type Span, textOf } from '../../wire/frame.ts';
import { member, memberAt, members } from '../../wire/json-path.ts';
import { patched } from '../../wire/patch.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from './agent.ts';

const OPEN_BRACE = 0x7b;

/** The request as it would be made today; the very same when it is. */
export function modernRequest(agent: Agent, frame: Frame): Frame {
  const method = modernMethod(frame.method);
  if (method !== undefined) return modernFile(agent, frame, method);
  if (frame.method !== 'session/request_permission' || !memberAt(frame.bytes, frame.body, 'rationale')) return frame;
  return withBody(frame, withRationale);
}

function modernFile(agent: Agent, frame: Frame, method: string): Frame {
  const name = member(frame.bytes, frame.start, 'method');
  if (!name) return frame;
  if (method === 'fs/read_text_file') agent.earlierReads.add(textOf(frame.bytes, frame.id as Span));
  const sessionId = frame.sessionId ? undefined : onlySession(agent);
  const named = patched(frame, [{ span: name, text: JSON.stringify(method) }]);
  return sessionId === undefined ? named : withBody(named, (params) => ({ sessionId, ...params }));
}

/** Whose a request is that does not say so: of the session that is at work, else of the only one there is. */
function onlySession({ sessions }: Agent): string | undefined {
  const all = [...sessions.values()];
  const [one, another] = all.filter(({ turns }) => turns.size > 0);
  if (one && !another) return one.nativeId;
  return all.length === 1 ? all[0]?.nativeId : undefined;
}

/** An update of a rare kind, by the names of today. */
export function modernUpdateFrame(frame: Frame, cwd: string | undefined, kind: string): Frame {
  if (kind === 'current_mode_update') return withCurrentMode(frame);
  return withBody(frame, (params) => {
    const { update } = params;
    return typeof update === 'object' && update !== null ? { ...params, update: diffAsToolCall(update as Dict, cwd) } : params;
  });
}

/** The name of today beside the earlier one, for whoever looks for either; nothing else of the frame changes. */
function withCurrentMode(frame: Frame): Frame {
  const { bytes } = frame;
  const update = memberAt(bytes, frame.body, 'update');
  const earlier = memberAt(bytes, update, EARLIER_MODE);
  if (!update || !earlier || memberAt(bytes, update, MODE)) return frame;
  const at = update.start + 1;
  return patched(frame, [{ span: { start: at, end: at }, text: `"${MODE}":${textOf(bytes, earlier)},` }]);
}

/** What parsers read differently stays as it is, for others to refuse. */
function withBody(frame: Frame, change: (params: Readonly<Record<string, unknown>>) => unknown): Frame {
  const params = readBody(frame);
  if (!params.ok || !frame.body || typeof params.value !== 'object' || params.value === null) return frame;
  const changed = change(params.value as Record<string, unknown>);
  return changed === params.value ? frame : patched(frame, [{ span: frame.body, text: JSON.stringify(changed) }]);
}

/** Where agents of today refuse a session without a list of servers; editors of earlier days left it out. */
const WANT_SERVERS = new Set(['session/new', 'session/load']);

/** The frame with an empty list in it, where one is missing; what the editor wrote stays as it wrote it. */
export function withServerList(frame: Frame): Frame {
  const { bytes, body, method } = frame;
  if (!WANT_SERVERS.has(method as string) || !body || bytes[body.start] !== OPEN_BRACE) return frame;
  const present = members(bytes, body.start);
  if (present.some(({ key }) => key === 'mcpServers')) return frame;
  const at = body.start + 1;
  return patched(frame, [{ span: { start: at, end: at }, text: `"mcpServers":[]${present.length > 0 ? ',' : ''}` }]);
}

/** The changes to an answer that an agent awaits under earlier names. */
export function earlierAnswer({ earlierReads }: Agent, idText: string, { bytes, body, outcome }: Frame): Patch[] {
  if (!earlierReads.delete(idText) || outcome !== 'result' || !body) return [];
  return [{ span: body, text: earlierResult(textOf(bytes, body)) }];
}

export const earlierResult = (resultText: string): string => JSON.stringify(answerInBoth(JSON.parse(resultText)));
