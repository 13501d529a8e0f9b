// Messages between the Policy screen and its server, and for rules made from answers.
import type { Nothing } from './sessions.ts';

export type RuleRow = {
  readonly verdict: string;
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly layer: string;
  /** As its author wrote it; empty for built-in rules. */
  readonly text: string;
  readonly reason?: string | undefined;
  /** It can only turn an allow into an ask. */
  readonly onlyTightens: boolean;
  /** Decisions since start. */
  readonly hits: number;
  readonly lastAt?: number | undefined;
  /** Decisions of the last week, of all processes; undefined while they are not counted yet. */
  readonly week?: number | undefined;
};

export type PolicyShown =
  | { readonly isThere: false }
  | {
      readonly isThere: true;
      readonly isObserving: boolean;
      /** The console's default: no policy is configured. */
      readonly isOurs: boolean;
      readonly default: string;
      /** Decisions that no rule made. */
      readonly defaultHits: number;
      readonly defaultWeek?: number | undefined;
      readonly files: readonly PolicyFileRow[];
      /** In order of evaluation. */
      readonly rules: readonly RuleRow[];
      /** Why the current files are not in force. */
      readonly problem?: string | undefined;
      readonly place: RulePlace;
    };

export type PolicyFileRow = { readonly layer: string; readonly file: string; readonly isTrusted: boolean };

/** Where the user's rules go, or why they cannot be saved. `insteadOf`: the file in force whose place a new file takes. */
export type RulePlace = { readonly file: string; readonly isNew: boolean; readonly insteadOf: string } | { readonly why: string };

export type MatchedRow = {
  readonly verdict: string;
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly layer: string;
  readonly reason?: string | undefined;
};

export type DecisionText = { readonly verdict: string; readonly why: string };

export type Explained = DecisionText & {
  readonly rule?: MatchedRow | undefined;
  readonly matches: readonly MatchedRow[];
  /** How the request was understood. */
  readonly summary: string;
  readonly opaque: readonly string[];
  /** What a command does, word by word; empty for files and tools. */
  readonly effects: readonly CommandEffects[];
};

export type CommandEffects = {
  readonly command: string;
  readonly effects: readonly { readonly does: string; readonly what: string; readonly unasked: boolean }[];
  readonly notUnderstood?: { readonly word: string; readonly reason: string } | undefined;
};

export type PolicyProblem = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string | undefined;
};

export type Tried = {
  readonly problems: readonly PolicyProblem[];
  readonly requests: number;
  readonly counts: Readonly<Record<'allow' | 'ask' | 'deny', number>>;
  readonly changed: readonly {
    readonly where: string;
    readonly agent: string;
    readonly summary: string;
    readonly was: DecisionText;
    readonly now: DecisionText;
    /** The user's answer at the time. */
    readonly answer?: string | undefined;
  }[];
};

export type Proposed =
  | { readonly rule: string; readonly place: { readonly file: string; readonly isNew: boolean } }
  | { readonly cannot: string };

/** `after`: the decision on the request with this rule. */
export type Checked = {
  readonly problems: readonly PolicyProblem[];
  readonly line?: number | undefined;
  readonly after?: DecisionText | undefined;
};

type AboutRequest = { readonly requestId: string; readonly verdict: 'allow' | 'deny' };

export type PolicyActions = {
  'policy.explain': {
    params: {
      readonly agent: string;
      readonly cwd: string;
      readonly command?: string | undefined;
      readonly path?: string | undefined;
      readonly tool?: string | undefined;
      readonly action?: string | undefined;
    };
    result: Explained;
  };
  /** The text in force of a policy file. */
  'policy.text': { params: { readonly file: string }; result: { readonly text: string } };
  /** What an edited file would decide about the last week's tool calls in transcripts, or the requests of a recording. */
  'policy.try': { params: { readonly file: string; readonly text: string; readonly recording?: string | undefined }; result: Tried };
  /** Saves a file that the page edited. `before` is the text that it was made from. */
  'policy.save': { params: { readonly file: string; readonly text: string; readonly before: string }; result: undefined };
  /** Proposes a rule for a pending request. */
  'rule.propose': { params: AboutRequest; result: Proposed };
  'rule.check': { params: AboutRequest & { readonly rule: string }; result: Checked };
  /** Saves the rule and answers the request accordingly. */
  'rule.save': { params: AboutRequest & { readonly rule: string }; result: Checked & { readonly isAnswered: boolean } };
};

export type PolicyTopics = {
  policy: { params: Nothing; news: PolicyShown };
};
