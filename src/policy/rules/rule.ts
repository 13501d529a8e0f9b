// A compiled rule: all its keys must match, and the values of one key are alternatives.

import type { Action, ActionKind, Evidence } from '../actions/action.ts';
import type { CommandPattern } from '../commands/command-pattern.ts';
import type { NameGlob } from '../paths/name-glob.ts';
import type { PathGlob } from '../paths/path-glob.ts';
import type { ArgsTest } from './args-test.ts';

export const VERDICTS = ['deny', 'ask', 'allow'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** An example inside a rule, and its position. */
export type Example = { readonly text: string; readonly line: number; readonly column: number; readonly path: string };

export type Rule = {
  readonly verdict: Verdict;
  /** As given, otherwise its position in the file: `allow[2]`. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly reason: string | undefined;
  readonly actions: ReadonlySet<ActionKind> | undefined;
  readonly agents: readonly NameGlob[] | undefined;
  readonly tools: readonly NameGlob[] | undefined;
  readonly mcp: readonly NameGlob[] | undefined;
  readonly commands: readonly CommandPattern[] | undefined;
  readonly paths: readonly PathGlob[] | undefined;
  readonly hosts: readonly NameGlob[] | undefined;
  readonly args: ArgsTest | undefined;
  readonly cwds: readonly PathGlob[] | undefined;
  /** `execute!(prog ...)`, `trust: true`: any arguments, whatever they do. */
  readonly isTrusted: boolean;
  readonly interactive: boolean | undefined;
  readonly evidence: ReadonlySet<Evidence> | undefined;
  /** A remembered answer: it matches one exact action, and its other keys are empty. */
  readonly isExactly?: ((action: Action) => boolean) | undefined;
  readonly match: readonly Example[];
  readonly notMatch: readonly Example[];
};

/** A rule without conditions: it matches everything. */
export const NO_CONDITIONS: Omit<Rule, 'verdict' | 'id' | 'file' | 'line' | 'column'> = {
  reason: undefined,
  actions: undefined,
  agents: undefined,
  tools: undefined,
  mcp: undefined,
  commands: undefined,
  paths: undefined,
  hosts: undefined,
  args: undefined,
  cwds: undefined,
  isTrusted: false,
  interactive: undefined,
  evidence: undefined,
  match: [],
  notMatch: [],
};
