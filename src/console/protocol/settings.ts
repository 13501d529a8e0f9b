// Messages between the Settings and Doctor screen and its server.
import type { Nothing } from './sessions.ts';

export type Finding = {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  readonly what: string;
  readonly why?: string | undefined;
  /** How to fix it. */
  readonly next?: string | undefined;
};

export type Settings = {
  /** `value` as JSON; `from` is a place in a file, or empty for a default. */
  readonly settings: readonly { readonly key: string; readonly value: string; readonly from: string }[];
  /** The files read at start, and whether they have changed since. */
  readonly files: readonly { readonly path: string; readonly isChanged: boolean }[];
  /** Changes apply to new sessions at once; otherwise at the next start. */
  readonly isReadAgain: boolean;
  /** Why the current files are invalid. */
  readonly problems: readonly string[];
  readonly notices: readonly string[];
  /** Paths of switchboard's own files. */
  readonly places: readonly { readonly name: string; readonly path: string }[];
  readonly pid: number;
  readonly node: string;
};

export type SettingActions = {
  settings: { params: Nothing; result: Settings };
  /** `isStarting`: starts each agent briefly to see whether it responds. */
  doctor: { params: { readonly isStarting: boolean }; result: { readonly findings: readonly Finding[] } };
};
