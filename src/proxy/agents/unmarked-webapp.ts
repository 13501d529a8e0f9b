// An agent of the web app that answers initialize as ACP does, so that `auto` cannot tell. What is unambiguous in its frames is translated.
import { camelKeys, type Dict, dict, isObject, list, renamed, text, without } from '../../dialects/json.ts';
import { PARAMS } from '../../dialects/webapp/table.ts';
import { readUpdate } from '../../dialects/webapp/update.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { elements, member, memberAt, members } from '../../wire/json-path.ts';
import { patched } from '../../wire/patch.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { AgentState } from './agent-state.ts';

/** Changes the params or the result. A frame that parsers read differently stays as it is, and is refused later. */
export function withBody(frame: Frame, change: (value: Dict) => Dict): Frame {
  const body = readBody(frame);
  if (!frame.body || !body.ok || !isObject(body.value)) return frame;
  const changed = change(body.value);
  return changed === body.value ? frame : patched(frame, [{ span: frame.body, text: JSON.stringify(changed) }]);
}

/** A permission request whose options have `id` in place of `optionId`. */
export function withOptionIds(frame: Frame): Frame {
  const { bytes, body } = frame;
  const options = memberAt(bytes, body, 'options');
  const [first] = options ? elements(bytes, options.start) : [];
  if (!first || member(bytes, first.start, 'optionId') || !member(bytes, first.start, 'id')) return frame;
  return withBody(frame, (value) => {
    const params = renamed(value, PARAMS);
    return { ...params, options: list(params.options).map((option) => (isObject(option) ? renamed(option, { id: 'optionId' }) : option)) };
  });
}

/** An update that is not inside `update`. Without a session id, it belongs to the only session that it can belong to. */
export function wrappedUpdate(frame: Frame, only: () => string | undefined, cwd?: string): Frame {
  const { bytes, body } = frame;
  if (!body || memberAt(bytes, body, 'update') || !(memberAt(bytes, body, 'sessionUpdate') ?? memberAt(bytes, body, 'type'))) return frame;
  return withBody(frame, (value) => {
    const params = renamed(value, PARAMS);
    const sessionId = text(params.sessionId) ?? only();
    const read = readUpdate(without(params, 'sessionId', '_meta'), { cwd, maxTokens: undefined });
    if (sessionId === undefined || read.kind !== 'update' || typeof read.update.sessionUpdate !== 'string') return value;
    return { sessionId, update: read.update, ...(params._meta !== undefined && { _meta: params._meta }) };
  });
}

export const SET_MODE = 'session/set_mode';

const SNAKE_MODES = ['available_modes', 'current_mode_id'];

/** An answer that opens a session, with its modes as ACP spells them. */
export function openedFrame(agent: AgentState, answer: Frame): Frame {
  const { bytes, body, outcome } = answer;
  const modes = outcome === 'result' && agent.spec.dialect === 'auto' ? memberAt(bytes, body, 'modes') : undefined;
  if (!modes || !members(bytes, modes.start).some(({ key }) => SNAKE_MODES.includes(key))) return answer;
  agent.hasSnakeModes = true;
  return withBody(answer, (result) => ({ ...result, modes: camelKeys(dict(result.modes)) }));
}

/** The params of session/set_mode in both spellings. */
export function modeInBoth({ bytes, body }: Frame): Patch[] {
  const [mode, session] = [memberAt(bytes, body, 'modeId'), memberAt(bytes, body, 'sessionId')];
  if (!body || !mode || !session) return [];
  const at = body.start + 1;
  return [{ span: { start: at, end: at }, text: `"session_id":${textOf(bytes, session)},"mode_id":${textOf(bytes, mode)},` }];
}

export function modeTextInBoth(paramsText: string): string {
  const { sessionId, modeId } = dict(JSON.parse(paramsText));
  return JSON.stringify({ session_id: sessionId, mode_id: modeId, sessionId, modeId });
}
