// Converts an update of the web app's agents to ACP.
import { META_KEY } from '../../acp/shapes.ts';
import { type Dict, dict, first, isObject, list, lookUp, number, renamed, text, without } from '../json.ts';
import { KINDS, UPDATE_KEYS } from './table.ts';
import { block, toolCall } from './tool-call.ts';

/** ACP has no `error` and `refusal` updates: they determine how the turn ends. */
export type Read =
  | { readonly kind: 'update'; readonly update: Dict }
  | { readonly kind: 'error' | 'refusal'; readonly message: string | undefined };

/** What is known about the update's session. */
export type Known = { readonly cwd: string | undefined; readonly maxTokens: number | undefined };

export function readUpdate(value: Dict, known: Known): Read {
  const kind = text(value.sessionUpdate) ?? text(value.type);
  if (kind === undefined) return { kind: 'update', update: value };
  if (kind === 'error' || kind === 'refusal') return { kind: kind, message: messageOf(value) };
  const sessionUpdate = lookUp(KINDS, kind) ?? kind;
  const bare = typeof value.sessionUpdate === 'string' ? value : without(value, 'type');
  const update = renamed(renamed({ ...bare, sessionUpdate }, UPDATE_KEYS['*'] ?? {}), lookUp(UPDATE_KEYS, sessionUpdate) ?? {});
  return { kind: 'update', update: completed(update, sessionUpdate, known) };
}

function completed(update: Dict, kind: string, { cwd, maxTokens }: Known): Dict {
  switch (kind) {
    case 'agent_message_chunk':
    case 'user_message_chunk':
    case 'agent_thought_chunk': {
      const content = first(update, 'content', 'text', 'chunk');
      return content === undefined ? update : { ...without(update, 'text', 'chunk'), content: block(content) };
    }
    case 'plan':
      return { ...update, entries: list(update.entries).map(planEntry) };
    case 'available_commands_update':
      return { ...update, availableCommands: list(update.availableCommands).map(command) };
    case 'tool_call': {
      const call = toolCall(update, cwd);
      return { ...call, title: text(call.title) ?? text(call.name) ?? text(call.toolCallId) ?? 'tool call' };
    }
    case 'tool_call_update':
      return toolCall(update, cwd);
    case 'usage_update':
      return usage(update, maxTokens);
    default:
      return update;
  }
}

function planEntry(entry: unknown): unknown {
  if (typeof entry === 'string') return { content: entry, priority: 'medium', status: 'pending' };
  return isObject(entry) ? { priority: 'medium', status: 'pending', ...entry } : entry;
}

function command(entry: unknown): unknown {
  if (typeof entry === 'string') return { name: entry, description: '' };
  return isObject(entry) ? { description: '', ...entry } : entry;
}

/** ACP requires the size. If the agent never gave it, the number goes to `_meta`. */
function usage(update: Dict, maxTokens: number | undefined): Dict {
  const used = number(update.used);
  const size = number(update.size) ?? maxTokens;
  if (used === undefined || size !== undefined) return size === undefined ? update : { ...update, size };
  const rest = without(update, 'used', 'size', 'sessionUpdate');
  const _meta = { ...dict(rest._meta), [META_KEY]: { usedTokens: used } };
  return { ...rest, sessionUpdate: 'session_info_update', _meta };
}

function messageOf(value: Dict): string | undefined {
  const found = first(value, 'message', 'error', 'reason', 'content', 'text');
  if (typeof found === 'string') return found;
  return text(first(dict(found), 'message', 'text'));
}
