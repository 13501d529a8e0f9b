// What the host machine provides to sessions, and what its user may do with it from a page.
import type { Fields } from '../state/read-update.ts';

/** Files and terminals, limited to the session's directories. */
export type Host = {
  readonly capabilities: Fields;
  /** Resolves the directories before an agent knows of them and could replace them. Returns a function that assigns them to a session. */
  look(directories: readonly string[]): (sessionId: string) => void;
  /** `evaluatedPath` is the real path of the file at the time of the policy decision. */
  serve(sessionId: string, method: string, params: unknown, evaluatedPath?: string): Promise<unknown>;
  /** Changes a file: `edit` gets its text, or undefined if it does not exist, and returns the new text, or undefined to leave it. */
  edit(
    sessionId: string,
    file: string,
    edit: (text: string | undefined) => string | undefined,
    evaluatedPath?: string,
  ): Promise<{ readonly isWritten: boolean }>;
  endOf(sessionId: string): void;
  stop(): Promise<void>;
};

/** Whether the policy lets the user read or change a file of a session from a page. */
export type ByUser = (
  sessionId: string,
  operation: 'read' | 'edit',
  file: string,
) => { readonly allow: true; readonly evaluatedPath?: string } | { readonly allow: false; readonly reason: string };
