// Session updates as the source document spells them, next to the names of ACP: `type`, `modeId` and `current_mode_id`, `token_usage`.
import { META_KEY } from '../acp/shapes.ts';
import { fields, isObject, type JsonObject } from '../json-object.ts';

export function toPageUpdate(update: JsonObject): JsonObject {
  const { sessionUpdate } = update;
  switch (sessionUpdate) {
    case 'current_mode_update': {
      const modeId = update.currentModeId ?? update.modeId;
      return { type: sessionUpdate, modeId, current_mode_id: modeId, ...update };
    }
    case 'usage_update':
      return { ...update, type: 'token_usage', usedTokens: update.used, maxTokens: update.size };
    case 'session_info_update': {
      // The dialects put it there if the agent reports no maximum.
      const { usedTokens } = fields(fields(update._meta)[META_KEY]);
      return typeof usedTokens === 'number' ? { ...update, type: 'token_usage', usedTokens } : { type: sessionUpdate, ...update };
    }
    case 'available_commands_update':
      return { type: sessionUpdate, available_commands: update.availableCommands, ...update };
    case 'tool_call':
    case 'tool_call_update':
      return Array.isArray(update.content)
        ? { type: sessionUpdate, ...update, content: update.content.map(toolContent) }
        : { type: sessionUpdate, ...update };
    default:
      return { type: sessionUpdate, ...update };
  }
}

/** Pages look for a link at the outer level. */
function toolContent(item: unknown): unknown {
  const { type, content } = fields(item);
  if (type !== 'content' || !isObject(content) || content.type !== 'resource_link') return item;
  return { ...content, text: content.title ?? content.name, content };
}

/** The params of a permission request, with the document's names for its parts. */
export function toPageRequest({ sessionId, toolCall, options, ...rest }: JsonObject): JsonObject {
  const call =
    isObject(toolCall) && Array.isArray(toolCall.content) ? { ...toolCall, content: toolCall.content.map(toolContent) } : toolCall;
  const shown = (Array.isArray(options) ? options : []).map((option) => ({ id: fields(option).optionId, ...fields(option) }));
  return { ...rest, sessionId, session_id: sessionId, toolCall: call, tool_call: call, options: shown };
}
