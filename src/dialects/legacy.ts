// Earlier spellings of ACP, taken from any agent. Pure, and called only for what is spelled so: other frames never come here.
import { type Dict, dict, isObject, list, lookUp, text, without } from './json.ts';
import { absolute } from './paths.ts';

// Spellings of earlier days (rows 8, 25–28 of docs/dialects.md) and what ACP calls them now. Data only.
/** Requests of agents by their earlier names. */
export const METHODS: Readonly<Record<string, string>> = {
  'fs/readTextFile': 'fs/read_text_file',
  'fs/writeTextFile': 'fs/write_text_file',
  'fs.readTextFile': 'fs/read_text_file',
  'fs.writeTextFile': 'fs/write_text_file',
};

/** In a `current_mode_update`, as an example in the documentation had it, and as it is. */
export const EARLIER_MODE = 'modeId';
export const MODE = 'currentModeId';

/** What a request of an agent's is called now; undefined when it is called so already, or by a name of its own. */
export const modernMethod = (method: string | undefined): string | undefined => lookUp(METHODS, method);

/** Whoever asks for a file by an earlier name looks for its text under an earlier name, too. */
export function answerInBoth(result: unknown): unknown {
  return isObject(result) && typeof result.content === 'string' ? { text: result.content, ...result } : result;
}

/** A reason that came beside a tool call is shown with it: there is no other place for it any more. */
export function withRationale(params: Dict): Dict {
  const said = text(params.rationale);
  const call = dict(params.toolCall);
  if (said === undefined) return params;
  const content = [{ type: 'content', content: { type: 'text', text: said } }, ...list(call.content)];
  return { ...without(params, 'rationale'), toolCall: { ...call, content } };
}

/** A diff is what a tool call shows. The same file is the same call, so that a second diff of it takes the place of the first. */
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
