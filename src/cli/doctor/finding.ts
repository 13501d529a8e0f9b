// The result of a check: what was found, why it matters, and what to do next.

export type Finding = {
  /** The id of the check, for programs: `agent.start`, `editor.entry`, … */
  readonly check: string;
  /** A `problem` prevents something from working; a `warning` may. */
  readonly status: 'ok' | 'warning' | 'problem';
  readonly what: string;
  readonly why?: string;
  readonly next?: string;
};

export const ok = (check: string, what: string): Finding => ({ check, status: 'ok', what });
export const warning = (check: string, what: string, why: string, next: string): Finding => ({ check, status: 'warning', what, why, next });
export const problem = (check: string, what: string, why: string, next: string): Finding => ({ check, status: 'problem', what, why, next });
