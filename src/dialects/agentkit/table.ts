// The Go server's spellings (rows 3–24 of ../README.md) and their names in ACP. Data only.

export const PROTOCOL_VERSION = '1';

/** How a server that expects a string as version rejects a number: it cannot parse the request. */
export const UNREAD_CODES: readonly unknown[] = [-32700, -32600, -32602, -32603];
export const UNREAD_MESSAGE = /protocol\s*_?version|unmarshal|expected (a )?string|invalid type|invalid params/i;

export const STOP_REASONS: Readonly<Record<string, string>> = {
  endTurn: 'end_turn',
  maxTokens: 'max_tokens',
  maxTurnRequests: 'max_turn_requests',
};

export const STATUSES: Readonly<Record<string, string>> = { running: 'in_progress', error: 'failed' };

/** `role` of a message chunk. */
export const ROLES: Readonly<Record<string, string>> = {
  assistant: 'agent_message_chunk',
  agent: 'agent_message_chunk',
  user: 'user_message_chunk',
  thought: 'agent_thought_chunk',
  thinking: 'agent_thought_chunk',
};

/** Tool names that reveal the kind. */
export const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^(read|cat|view)/i, 'read'],
  [/^(write|edit|patch|create|apply)/i, 'edit'],
  [/^(delete|remove)/i, 'delete'],
  [/^(move|rename)/i, 'move'],
  [/^(search|grep|find|glob|list)/i, 'search'],
  [/^(run|exec|bash|shell|command)/i, 'execute'],
  [/^(fetch|http|web)/i, 'fetch'],
  [/^think/i, 'think'],
];

/** Prompt parts the server has a field for. */
export const PARTS = new Set(['text', 'image', 'audio']);

/** A prompt that is a command: `/name input`. */
export const COMMAND = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/;

/** The prefix of a plan line, and the status it marks. */
export const PLAN_LINE = /^\s*(?:[-*•]\s+|\d+[.)]\s+)?(?:\[([ xX~>-])\]\s*)?(.*?)\s*$/;
export const PLAN_MARKS: Readonly<Record<string, string>> = {
  x: 'completed',
  X: 'completed',
  '~': 'in_progress',
  '>': 'in_progress',
  '-': 'in_progress',
};

/** What a plan entry may call its text, and its status. */
export const TITLE_KEYS = ['content', 'title', 'text', 'name'];
export const PLAN_STATUSES: Readonly<Record<string, string>> = { running: 'in_progress', inProgress: 'in_progress', done: 'completed' };
