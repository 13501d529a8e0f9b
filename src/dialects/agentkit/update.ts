// Converts an update of the Go server to ACP.
import { type Dict, dict, first, isObject, list, lookUp, text, without } from '../json.ts';
import { KINDS, PLAN_LINE, PLAN_MARKS, PLAN_STATUSES, ROLES, STATUSES, TITLE_KEYS } from './table.ts';

/** `isFirst` tells whether a tool call is new. Anything that is not an update of this dialect stays unchanged. */
export function readUpdate(update: Dict, isFirst: (toolCallId: string) => boolean): Dict {
  if (typeof update.sessionUpdate === 'string') return update;
  switch (update.type) {
    case 'messageChunk': {
      const sessionUpdate = lookUp(ROLES, text(update.role) ?? 'assistant') ?? 'agent_message_chunk';
      return { ...without(update, 'type', 'role', 'chunk'), sessionUpdate, content: { type: 'text', text: text(update.chunk) ?? '' } };
    }
    case 'toolCall':
      return toolCall(update, isFirst);
    case 'planUpdate':
      return { ...without(update, 'type', 'role', 'chunk', 'entries', 'plan'), sessionUpdate: 'plan', entries: planEntries(update) };
    default:
      return typeof update.type === 'string' ? { ...without(update, 'type'), sessionUpdate: update.type } : update;
  }
}

function toolCall(update: Dict, isFirst: (toolCallId: string) => boolean): Dict {
  const { id, name, status, input, output, ...other } = dict(update.toolCall) as Record<string, unknown>;
  const toolCallId = text(id) ?? '';
  const title = text(name) ?? toolCallId;
  const begins = isFirst(toolCallId);
  const kind = KINDS.find(([named]) => named.test(title))?.[1] ?? 'other';
  const state = text(status);
  return {
    ...without(update, 'type', 'toolCall'),
    ...other,
    sessionUpdate: begins ? 'tool_call' : 'tool_call_update',
    toolCallId,
    ...(begins && { title, ...(typeof name === 'string' && { name }), kind }),
    ...(state !== undefined && { status: lookUp(STATUSES, state) ?? state }),
    ...(input !== undefined && { rawInput: input }),
    ...(output !== undefined && { rawOutput: output }),
    ...(typeof output === 'string' && { content: [{ type: 'content', content: { type: 'text', text: output } }] }),
  };
}

/** A plan arrives as a list, or as lines of text in which a prefix may mark the status. */
function planEntries(update: Dict): readonly unknown[] {
  const given = [update.entries, update.plan, dict(update.plan).entries].find(Array.isArray);
  if (given) return list(given).map(planEntry);
  return (text(update.chunk) ?? '').split('\n').flatMap((line) => {
    const [, mark, content = ''] = PLAN_LINE.exec(line) ?? [];
    return content === '' ? [] : [{ content, priority: 'medium', status: lookUp(PLAN_MARKS, mark) ?? 'pending' }];
  });
}

/** ACP requires content, priority and status. */
function planEntry(entry: unknown): unknown {
  if (typeof entry === 'string') return { content: entry, priority: 'medium', status: 'pending' };
  if (!isObject(entry)) return entry;
  const status = text(entry.status) ?? 'pending';
  return {
    priority: 'medium',
    ...without(entry, ...TITLE_KEYS),
    content: text(first(entry, ...TITLE_KEYS)) ?? '',
    status: lookUp(PLAN_STATUSES, status) ?? status,
  };
}
