// What the machine that the console runs on gives to sessions, and what its user may do with that by hand.
import type { Fields } from '../state/read-update.ts';

/** Files and terminals, kept inside the session's directories. */
export type Host = {
  readonly capabilities: Fields;
  /** Where these directories lead now, before an agent hears of them and can put something in their place. Returns what gives them to a session. */
  look(directories: readonly string[]): (sessionId: string) => void;
  /** `judged` is where the path of a file led when a policy judged it. */
  serve(sessionId: string, method: string, params: unknown, judged?: string): Promise<unknown>;
  /** Changes a file: `edit` gets its text, or undefined where there is none, and returns the new one, or undefined to leave it. */
  edit(
    sessionId: string,
    file: string,
    edit: (text: string | undefined) => string | undefined,
    judged?: string,
  ): Promise<{ readonly isWritten: boolean }>;
  endOf(sessionId: string): void;
  stop(): Promise<void>;
};

/** Whether the user may read or change a file of a session from a page, as a policy has it. */
export type ByUser = (
  sessionId: string,
  operation: 'read' | 'edit',
  file: string,
) => { readonly allow: true; readonly judged?: string } | { readonly allow: false; readonly reason: string };
