// A policy in force: the rules and settings of all layers.
import type { NameGlob } from './paths/name-glob.ts';
import { currentRuleId } from './paths/protected-files.ts';
import type { Rule, Verdict } from './rules/rule.ts';

/** Strongest first. `bundle`: signed, and handed out on the bus. `built-in` holds the protected files and stands above all. */
export const LAYERS = ['bundle', 'managed', 'user', 'project', 'command-line', 'remembered'] as const;
export type LayerName = (typeof LAYERS)[number] | 'built-in';

export const VIOLATIONS = ['log', 'notify', 'cancel', 'kill'] as const;
export type OnViolation = (typeof VIOLATIONS)[number];

export const SCOPES = ['once', 'session', 'workspace'] as const;
export type Scope = (typeof SCOPES)[number];

export const MAX_SCOPES = ['exact'] as const;

/** How far an agent is contained, loosest first. `src/sandbox` carries it out. */
export const SANDBOX_LEVELS = ['off', 'workspace', 'review', 'read-only'] as const;
export type SandboxLevel = (typeof SANDBOX_LEVELS)[number];

/** What a contained agent can connect to, loosest first. */
export const SANDBOX_NETWORKS = ['open', 'listed', 'none'] as const;
export type SandboxNetwork = (typeof SANDBOX_NETWORKS)[number];

/** A file's settings for one agent (`*` is every agent). */
export type AgentSettings = {
  readonly pin: readonly string[] | undefined;
  readonly refuse: readonly string[];
  readonly onViolation: OnViolation | undefined;
  readonly sandbox: SandboxLevel | undefined;
  readonly network: SandboxNetwork | undefined;
  /** `warn`: the agent runs without a sandbox where none is available, and the user's own `sandbox: off` wins. */
  readonly unavailable: 'fail' | 'warn' | undefined;
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

/** One policy file, read and checked. */
export type PolicyFile = Settings & {
  readonly file: string;
  readonly default: Verdict | undefined;
  /** `layer: project` in the file: its author claims no more authority than that. */
  readonly layer: (typeof LAYERS)[number] | undefined;
  readonly rules: readonly Rule[];
};

export type LayeredRule = {
  readonly rule: Rule;
  readonly layer: LayerName;
  /** An ask that may turn an allow into an ask but not a deny: protected files, an untrusted project, a layer below a closed one. */
  readonly onlyTightens: boolean;
};

export type Policy = {
  /** The deny and ask rules of every layer, with the protected files. */
  readonly strict: readonly LayeredRule[];
  readonly allow: readonly LayeredRule[];
  readonly default: Verdict;
  /** A bundle that is closed (`default: deny`): what it does not allow is denied, whatever the other layers allow. */
  readonly ceiling?: Omit<Policy, 'ceiling'> | undefined;
  /** Per layer, strongest first; `rules/settings.ts` combines them. */
  readonly settings: readonly Settings[];
};

// How often each rule decided. Counted where decisions are recorded.
export type Hits = { readonly count: number; readonly lastAt: number };

/** The key of the counter. Without a rule: decisions that no rule made. */
export const hitKey = (rule: { readonly id: string; readonly file: string } | undefined): string =>
  rule === undefined ? '' : `${rule.file}\n${currentRuleId(rule.id)}`;
