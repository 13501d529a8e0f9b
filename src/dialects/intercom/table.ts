// The operator stream's methods (rows 32–40 of ../README.md), their required fields, and their form in ACP. Data only.

/** Required fields of messages from the agent. `id` is the message's own. */
export const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  'clearance/request': ['id', 'title', 'file_path'],
  'prompt/forward': ['id', 'text'],
  'status/update': ['message'],
  heartbeat: [],
};

/** The options offered for a file operation. */
export const CLEARANCE_OPTIONS = [
  { optionId: 'approved', name: 'Approve', kind: 'allow_once' },
  { optionId: 'rejected', name: 'Reject', kind: 'reject_once' },
] as const;

export const FORWARD_OPTIONS = [
  { optionId: 'continue', name: 'Continue', kind: 'allow_once' },
  { optionId: 'stop', name: 'Stop', kind: 'reject_once' },
] as const;

/** Any other answer is a rejection. */
export const APPROVED = 'approved';
export const CONTINUE = 'continue';

/** The form for a forwarded prompt, if the client supports forms. */
export const FORWARD_FORM = {
  type: 'object',
  properties: {
    decision: { type: 'string', title: 'Decision', enum: ['continue', 'stop'], default: 'continue' },
    instruction: { type: 'string', title: 'Instruction for the agent' },
  },
  required: ['decision'],
} as const;

export const PLAN_STATUSES: Readonly<Record<string, string>> = {
  pending: 'pending',
  in_progress: 'in_progress',
  running: 'in_progress',
  completed: 'completed',
  done: 'completed',
};

export const INTERRUPT_REASON = 'Operator requested termination';
export const NUDGE = 'Continue working on the current task. Pick up where you left off.';
export const STREAM_CLOSED = 'stream closed';
export const WRITE_FAILED = 'write failed: stream closed';
export const NO_METHOD = '"method" is missing';
export const tooLong = (agent: string, bytes: number): string =>
  `The prompt is longer than agent "${agent}" can read (${bytes} bytes); shorten it, or raise agent_servers.${agent}.max_line_bytes`;
export const mute = (agent: string, ms: number): string =>
  `Agent "${agent}" sent nothing within ${ms} ms of the prompt; run its command in a terminal to see why, or raise agent_servers.${agent}.timeouts.initialize_ms`;
