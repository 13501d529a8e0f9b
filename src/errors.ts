// What a peer hears when a request fails: an error with a reason, a code, and whether to try again. failures.ts lists them.
import { FAILURES } from './failures.ts';

type Failures = typeof FAILURES;
export type FailureKey = keyof Failures;
export const FAILURE_KEYS = Object.keys(FAILURES) as readonly FailureKey[];

/** Sent again unchanged, the request may succeed: later, with another process of the agent, or once other work is done. */
const RETRYABLE: ReadonlySet<FailureKey> = new Set<FailureKey>([
  'AGENT_UNAVAILABLE',
  'AGENT_CRASH_LOOP',
  'AGENT_GONE',
  'AGENT_UNREACHABLE',
  'AGENT_DISCONNECTED',
  'AGENT_HUNG_UP',
  'AGENT_BACKLOG',
  'PROMPT_QUEUE_FULL',
  'TURN_RUNNING',
  'PROMPT_TIMEOUT',
  'SESSION_BACKLOG',
  'AGENT_SILENT',
  'SESSION_NOT_BACK',
  'SESSION_NOT_OPENED',
  'TOO_MANY_OPEN',
  'SESSION_IN_USE',
  'AGENT_DEAF',
  'AGENT_STUCK',
  'AGENT_UNSTOPPABLE',
  'AGENT_UNREADABLE',
  'FILE_CHANGED',
  'PATH_MOVED',
  'SHUTTING_DOWN',
  'ID_IN_USE',
]);

/** Formats a peer's value for a message. `String` would call a `toString` that the peer supplied. */
export const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'));

/** A failure to report to a peer; `proxy/` turns it into an error frame. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly key: FailureKey;
  readonly rpc: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(key: FailureKey, message: string, data?: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(message, options);
    this.key = key;
    this.rpc = FAILURES[key].rpc;
    this.data = data;
  }
}

/**
 * Reasons with a name of their own; the others are called like their key. `backing-off` and `crash-loop` keep the spelling that programs
 * already compare with.
 */
const REASONS: Readonly<Partial<Record<FailureKey, string>>> = {
  AGENT_GONE: 'agent_exited',
  AGENT_MISSING: 'not_startable',
  AGENT_UNREACHABLE: 'not_reachable',
  AGENT_DISCONNECTED: 'disconnected',
  AGENT_SILENT: 'no_initialize',
  SESSION_NOT_OPENED: 'no_session',
  AGENT_STOPPED: 'stopped',
  AGENT_UNAVAILABLE: 'backing-off',
  AGENT_CRASH_LOOP: 'crash-loop',
  AGENT_UNSTOPPABLE: 'cancel_ignored',
  AGENT_UNREADABLE: 'unreadable',
  AGENT_DEAF: 'queue_full',
  AGENT_HUNG_UP: 'hung_up',
  AGENT_STUCK: 'not_reading',
};

/** How docs/errors.md and `data.reason` name a failure. */
export function reasonOf(key: FailureKey): { readonly reason: string; readonly rpc: number; readonly retryable: boolean } {
  return { reason: REASONS[key] ?? key.toLowerCase(), rpc: FAILURES[key].rpc, retryable: RETRYABLE.has(key) };
}

/** The `data` of the error frame: every error that the proxy makes has a reason and says whether the request may succeed if it is sent again. */
export function wireDataOf({ key, data }: Pick<ProxyError, 'key' | 'data'>): Readonly<Record<string, unknown>> {
  const { reason, retryable } = reasonOf(key);
  return { reason, ...data, retryable };
}

/** Creates the error for `key`; the peer receives `data` with it. */
export function failure<K extends FailureKey>(
  key: K,
  args: Parameters<Failures[K]['message']>,
  data?: Readonly<Record<string, unknown>>,
): ProxyError {
  const message = FAILURES[key].message as (...args: unknown[]) => string;
  return new ProxyError(key, message(...args), data);
}
