// Translates frames of earlier ACP versions. Only agent requests and rare kinds of updates are inspected.
import type { Dict } from '../../dialects/json.ts';
import { answerInBoth, diffAsToolCall, EARLIER_MODES, MODE, modernMethod, withRationale } from '../../dialects/legacy.ts';
import { type Frame, type Span, textOf } from '../../wire/frame.ts';
import { member, memberAt, members } from '../../wire/json-path.ts';
import { patched } from '../../wire/patch.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from './agent.ts';
import { withBody, withOptionIds, wrappedUpdate } from './unmarked-webapp.ts';

const OPEN_BRACE = 0x7b;

/** The request by its current method name; the same frame when it has it. */
export function modernRequest(agent: Agent, frame: Frame): Frame {
  const method = modernMethod(frame.method);
  if (method !== undefined) return modernFile(agent, frame, method);
  if (frame.method !== 'session/request_permission') return frame;
  const named = agent.spec.dialect === 'auto' ? withOptionIds(frame) : frame;
  return memberAt(named.bytes, named.body, 'rationale') ? withBody(named, withRationale) : named;
}

function modernFile(agent: Agent, frame: Frame, method: string): Frame {
  const name = member(frame.bytes, frame.start, 'method');
  if (!name) return frame;
  if (method === 'fs/read_text_file') agent.earlierReads.add(textOf(frame.bytes, frame.id as Span));
  const sessionId = frame.sessionId ? undefined : onlySession(agent);
  const named = patched(frame, [{ span: name, text: JSON.stringify(method) }]);
  return sessionId === undefined ? named : withBody(named, (params) => ({ sessionId, ...params }));
}

/** An update outside of `update`; the same frame if it cannot be told whose it is. */
export const modernUpdate = (agent: Agent, frame: Frame, cwd?: string): Frame =>
  agent.spec.dialect === 'auto' ? wrappedUpdate(frame, () => onlySession(agent), cwd) : frame;

/** The session of a request without sessionId: the only one with a running turn, else the only one. */
function onlySession({ sessions }: Agent): string | undefined {
  const all = [...sessions.values()];
  const [one, another] = all.filter(({ turns }) => turns.size > 0);
  if (one && !another) return one.nativeId;
  return all.length === 1 ? all[0]?.nativeId : undefined;
}

/** An update of a rare kind by its current names. */
export function modernUpdateFrame(frame: Frame, cwd: string | undefined, kind: string): Frame {
  if (kind === 'current_mode_update') return withCurrentMode(frame);
  return withBody(frame, (params) => {
    const { update } = params;
    return typeof update === 'object' && update !== null ? { ...params, update: diffAsToolCall(update as Dict, cwd) } : params;
  });
}

/** Adds the current name next to the earlier one; nothing else of the frame changes. */
function withCurrentMode(frame: Frame): Frame {
  const { bytes } = frame;
  const update = memberAt(bytes, frame.body, 'update');
  const earlier = EARLIER_MODES.map((key) => memberAt(bytes, update, key)).find((span) => span !== undefined);
  if (!update || !earlier || memberAt(bytes, update, MODE)) return frame;
  const at = update.start + 1;
  return patched(frame, [{ span: { start: at, end: at }, text: `"${MODE}":${textOf(bytes, earlier)},` }]);
}

/** Current agents refuse these without `mcpServers`, which earlier clients leave out. */
const WANT_SERVERS = new Set(['session/new', 'session/load']);

/** Adds an empty `mcpServers` where it is missing; the rest of the frame stays as it is. */
export function withServerList(frame: Frame): Frame {
  const { bytes, body, method } = frame;
  if (!WANT_SERVERS.has(method as string) || !body || bytes[body.start] !== OPEN_BRACE) return frame;
  const present = members(bytes, body.start);
  if (present.some(({ key }) => key === 'mcpServers')) return frame;
  const at = body.start + 1;
  return patched(frame, [{ span: { start: at, end: at }, text: `"mcpServers":[]${present.length > 0 ? ',' : ''}` }]);
}

/** The patches to an answer that the agent expects by earlier names. */
export function earlierAnswer({ earlierReads }: Agent, idText: string, { bytes, body, outcome }: Frame): Patch[] {
  if (!earlierReads.delete(idText) || outcome !== 'result' || !body) return [];
  return [{ span: body, text: earlierResult(textOf(bytes, body)) }];
}

export const earlierResult = (resultText: string): string => JSON.stringify(answerInBoth(JSON.parse(resultText)));
