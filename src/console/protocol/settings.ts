// The Settings and Doctor screen and its server.
import type { Nothing } from './sessions.ts';

export type Finding = {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  readonly what: string;
  readonly why?: string | undefined;
  /** What to do about it. */
  readonly next?: string | undefined;
};

export type Settings = {
  /** `value` as JSON; `from` is a place in a file, or empty for a default. */
  readonly settings: readonly { readonly key: string; readonly value: string; readonly from: string }[];
  /** Those that were read at the start, and whether they have changed since. */
  readonly files: readonly { readonly path: string; readonly isChanged: boolean }[];
  /** Changes are for new sessions as soon as they are there; else they wait for the next start. */
  readonly isReadAgain: boolean;
  /** Why the files cannot be used as they are now. */
  readonly problems: readonly string[];
  readonly notices: readonly string[];
  /** Where our own files are. */
  readonly places: readonly { readonly name: string; readonly path: string }[];
  readonly pid: number;
  readonly node: string;
};

export type SettingActions = {
  settings: { params: Nothing; result: Settings };
  /** `isStarting`: each agent is started for a moment, to see whether it answers. */
  doctor: { params: { readonly isStarting: boolean }; result: { readonly findings: readonly Finding[] } };
};
