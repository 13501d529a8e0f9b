// The Policy screen and its server, and rules that are made of answers.
import type { Nothing } from './sessions.ts';

export type RuleRow = {
  readonly verdict: string;
  readonly id: string;
  readonly file: string;
  readonly line: number;
  readonly layer: string;
  /** As its author wrote it; empty for those that are built in. */
  readonly text: string;
  readonly reason?: string | undefined;
  /** It can only make an allow into a question. */
  readonly onlyTightens: boolean;
  readonly hits: number;
  readonly lastAt?: number | undefined;
};

export type PolicyShown =
  | { readonly isThere: false }
  | {
      readonly isThere: true;
      readonly isObserving: boolean;
      /** Nobody has configured one: it is that of the console itself. */
      readonly isOurs: boolean;
      readonly default: string;
      /** Decisions that no rule made. */
      readonly defaultHits: number;
      readonly files: readonly PolicyFileRow[];
      /** In the order in which they are judged. */
      readonly rules: readonly RuleRow[];
      /** Why the files as they are now are not in force. */
      readonly problem?: string | undefined;
      readonly place: RulePlace;
    };

export type PolicyFileRow = { readonly layer: string; readonly file: string; readonly isTrusted: boolean };

/** Where rules of the user's go, or why nowhere. */
export type RulePlace = { readonly file: string; readonly isNew: boolean } | { readonly why: string };

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
  /** What was understood of it. */
  readonly summary: string;
  readonly opaque: readonly string[];
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
    /** What was answered then. */
    readonly answer?: string | undefined;
  }[];
};

export type Proposed =
  | { readonly rule: string; readonly place: { readonly file: string; readonly isNew: boolean } }
  | { readonly cannot: string };

/** `after`: what the policy says of the question with this rule in it. */
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
  /** A file of the policy as it is in force. */
  'policy.text': { params: { readonly file: string }; result: { readonly text: string } };
  /** What another text of that file would make of requests of before: those in transcripts, or in a recording. */
  'policy.try': { params: { readonly file: string; readonly text: string; readonly recording?: string | undefined }; result: Tried };
  /** A rule for what a question is about. */
  'rule.propose': { params: AboutRequest; result: Proposed };
  'rule.check': { params: AboutRequest & { readonly rule: string }; result: Checked };
  /** Saves it, and answers the question accordingly. */
  'rule.save': { params: AboutRequest & { readonly rule: string }; result: Checked & { readonly isAnswered: boolean } };
};

export type PolicyTopics = {
  policy: { params: Nothing; news: PolicyShown };
};
