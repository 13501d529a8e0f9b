// A policy as it is put to use: the rules of all layers, and the settings they agree on.
import type { NameGlob } from './paths/name-glob.ts';
import type { Rule, Verdict } from './rules/rule.ts';

/** Strongest first. `built-in` is the floor, which stands above all. */
export const LAYERS = ['managed', 'user', 'project', 'command-line', 'remembered'] as const;
export type LayerName = (typeof LAYERS)[number] | 'built-in';

export const VIOLATIONS = ['log', 'notify', 'cancel', 'kill'] as const;
export type OnViolation = (typeof VIOLATIONS)[number];

export const SCOPES = ['once', 'session', 'workspace'] as const;
export type Scope = (typeof SCOPES)[number];

export const MAX_SCOPES = ['exact'] as const;

/** What a file says of one agent (`*` is every agent). */
export type AgentSettings = {
  readonly pin: readonly string[] | undefined;
  readonly refuse: readonly string[];
  readonly onViolation: OnViolation | undefined;
};

export type Settings = {
  readonly agents: ReadonlyMap<string, AgentSettings>;
  readonly mcp: { readonly expose: readonly NameGlob[] | undefined; readonly pin: boolean | undefined };
  readonly remember: {
    readonly allowAlways: Scope | undefined;
    readonly ttlMs: number | undefined;
    readonly maxScope: (typeof MAX_SCOPES)[number] | undefined;
  };
  readonly limits: { readonly permissionTimeoutMs: number | undefined; readonly maxPendingPermissions: number | undefined };
};

/** One file, read and checked. */
export type PolicyFile = Settings & {
  readonly file: string;
  readonly default: Verdict | undefined;
  /** `layer: project` in the file: its author expects no more say than that. */
  readonly layer: (typeof LAYERS)[number] | undefined;
  readonly rules: readonly Rule[];
};

export type LayeredRule = {
  readonly rule: Rule;
  readonly layer: LayerName;
  /** An ask that may turn an allow into a question, but no refusal: the floor, an untrusted project, whatever stands below a closed layer. */
  readonly onlyTightens: boolean;
};

export type Policy = {
  /** deny and ask, of every layer and the floor. */
  readonly strict: readonly LayeredRule[];
  readonly allow: readonly LayeredRule[];
  readonly default: Verdict;
  /** Of the layers, strongest first; see `settings.ts` for what they come to together. */
  readonly settings: readonly Settings[];
};

// How often each rule has decided. Counted where decisions are written down.
export type Hits = { readonly count: number; readonly lastAt: number };

/** What they are counted by; without a rule, those that no rule has settled. */
export const hitKey = (rule: { readonly id: string; readonly file: string } | undefined): string =>
  rule === undefined ? '' : `${rule.file}\n${rule.id}`;
