// Earlier spellings of ACP, accepted from any agent. Pure, and called only for those spellings: other frames never come here.
import { type Dict, dict, isObject, list, lookUp, text, without } from './json.ts';
import { absolute } from './paths.ts';

// Earlier method names (rows 8, 25–28 of README.md) and their names in ACP now.
export const METHODS: Readonly<Record<string, string>> = {
  'fs/readTextFile': 'fs/read_text_file',
  'fs/writeTextFile': 'fs/write_text_file',
  'fs.readTextFile': 'fs/read_text_file',
  'fs.writeTextFile': 'fs/write_text_file',
};

/** The mode key of a `current_mode_update`: as an example in the documentation had it, in snake_case, and as it is. */
export const EARLIER_MODES = ['modeId', 'current_mode_id', 'mode_id'];
export const MODE = 'currentModeId';

/** The current name of an agent's method; undefined if the name is current or unknown. */
export const modernMethod = (method: string | undefined): string | undefined => lookUp(METHODS, method);

/** An agent that requests a file by an earlier method name expects the text under an earlier key too. */
export function answerInBoth(result: unknown): unknown {
  return isObject(result) && typeof result.content === 'string' ? { text: result.content, ...result } : result;
}

/** Shows a rationale with its tool call: ACP has no other place for it. */
export function withRationale(params: Dict): Dict {
  const rationale = text(params.rationale);
  const call = dict(params.toolCall);
  if (rationale === undefined) return params;
  const content = [{ type: 'content', content: { type: 'text', text: rationale } }, ...list(call.content)];
  return { ...without(params, 'rationale'), toolCall: { ...call, content } };
}

/** Converts a diff update to a tool call. The path is the id, so that a second diff of the file replaces the first. */
export function diffAsToolCall(update: Dict, cwd: string | undefined): Dict {
  const { path, oldText, newText, id, toolCallId, _meta, ...other } = without(update, 'sessionUpdate') as Record<string, unknown>;
  const file = absolute(cwd, text(path) ?? '');
  return {
    ...other,
    sessionUpdate: 'tool_call',
    toolCallId: text(toolCallId) ?? text(id) ?? `diff:${file}`,
    title: text(path) ?? 'diff',
    kind: 'edit',
    status: 'completed',
    content: [{ type: 'diff', path: file, ...(oldText !== undefined && { oldText }), newText: text(newText) ?? '' }],
    locations: [{ path: file }],
    ...(_meta !== undefined && { _meta }),
  };
}
