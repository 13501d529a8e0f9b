// The web app's spellings (rows 45–58 of ../README.md) and their names in ACP. Data only.

/** Params at the top level; deeper keys are spelled as in ACP. */
export const PARAMS: Readonly<Record<string, string>> = {
  session_id: 'sessionId',
  mode_id: 'modeId',
  model_id: 'modelId',
  method_id: 'methodId',
  config_id: 'configId',
  tool_call: 'toolCall',
  tool_call_id: 'toolCallId',
  terminal_id: 'terminalId',
  mcp_servers: 'mcpServers',
  additional_directories: 'additionalDirectories',
  output_byte_limit: 'outputByteLimit',
};

/** Keys that only these agents use in the result of initialize. */
export const INITIALIZE_KEYS = ['protocol_version', 'agent_capabilities', 'agent_info', 'auth_methods'];

/** The source document spells these in camelCase towards agents, so they are sent in both spellings. */
export const BOTH_SPELLINGS = new Set(['mcpServers', 'methodId', 'additionalDirectories']);

/** Other names for kinds of updates. */
export const KINDS: Readonly<Record<string, string>> = {
  mode_updated: 'current_mode_update',
  token_usage: 'usage_update',
  available_commands: 'available_commands_update',
};

/** Keys inside an update, by kind; `*` applies to all. */
export const UPDATE_KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '*': { session_id: 'sessionId', message_id: 'messageId' },
  current_mode_update: { modeId: 'currentModeId', mode_id: 'currentModeId', current_mode_id: 'currentModeId' },
  usage_update: { usedTokens: 'used', used_tokens: 'used', maxTokens: 'size', max_tokens: 'size' },
  available_commands_update: { available_commands: 'availableCommands', commands: 'availableCommands' },
  config_option_update: { config_options: 'configOptions' },
};

export const TOOL_CALL_KEYS: Readonly<Record<string, string>> = {
  tool_call_id: 'toolCallId',
  raw_input: 'rawInput',
  raw_output: 'rawOutput',
};

export const TOOL_STATUS: Readonly<Record<string, string>> = { running: 'in_progress', error: 'failed' };

/** Content that ACP wraps in `{type: "content"}`. */
export const BARE_CONTENT = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

export const DIFF_KEYS: Readonly<Record<string, string>> = { old_text: 'oldText', new_text: 'newText' };
export const BLOCK_KEYS: Readonly<Record<string, string>> = { mime_type: 'mimeType' };

/** Methods to list and select models, in the order they are tried. */
export const LIST_MODELS = ['session/list_models', 'agent/list_models'] as const;
export const SELECT_MODEL = ['session/select_model', 'agent/select_model'] as const;

/** Error messages that mean: log in first. */
export const LOGIN_REQUIRED = /\b401\b|\bunauthori[sz]ed\b|\bauthentication required\b/i;
