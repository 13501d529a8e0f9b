// What the rules of a policy say about files and hosts, and which rules a sandbox cannot express.
import type { ActionKind } from '../../policy/actions/action.ts';
import type { Roots } from '../../policy/paths/path-glob.ts';
import type { LayeredRule, Policy } from '../../policy/policy.ts';
import type { Rule } from '../../policy/rules/rule.ts';
import type { Wanted } from './globs.ts';

/** What holds if the agent does not ask. */
export type Containing =
  | { readonly kind: 'hide' | 'protect' | 'hosts' }
  /** `why` a sandbox cannot hold it. */
  | { readonly kind: 'none'; readonly why: string };

const WRITES: readonly ActionKind[] = ['edit', 'delete', 'move'];

/** How a sandbox at `workspace` holds a deny or ask rule. */
export function containing(rule: Rule): Containing {
  const concerns = (...kinds: readonly ActionKind[]) => rule.actions === undefined || kinds.some((kind) => rule.actions?.has(kind));
  if (rule.commands || (rule.actions && concerns('execute') && !rule.paths)) return none('a sandbox cannot tell commands apart');
  if (rule.tools || rule.mcp || rule.args) return none('a sandbox does not see tools and their arguments');
  if (rule.interactive !== undefined || rule.evidence) return none('a sandbox knows nothing of the request');
  if (rule.hosts || (rule.actions && concerns('fetch') && !rule.paths)) return { kind: 'hosts' };
  if (!rule.paths) return none('it is not about files or hosts');
  if (rule.verdict === 'deny' && concerns('read')) return { kind: 'hide' };
  if (concerns(...WRITES)) return { kind: 'protect' };
  return none(rule.verdict === 'ask' ? 'a sandbox cannot ask about reading' : 'it is not about reading or writing');
}

const none = (why: string): Containing => ({ kind: 'none', why });

/** The globs that the policy hides and protects for this agent in these directories. */
export function coversOf({ strict }: Policy, agent: string, roots: Roots): readonly Wanted[] {
  return strict.flatMap(({ rule, layer }) => {
    if (!concerns(rule, agent, roots)) return [];
    const { kind } = containing(rule);
    if (kind !== 'hide' && kind !== 'protect') return [];
    return (rule.paths ?? []).map((glob) => ({
      glob,
      kind,
      why: layer === 'built-in' ? rule.id : `rule ${rule.id} (${rule.file}:${rule.line})`,
    }));
  });
}

/** Rules that this sandbox does not hold, as sentences. */
export function notHeld({ strict }: Policy, agent: string, roots: Roots): readonly string[] {
  return strict.flatMap(({ rule, layer }) => {
    const how = containing(rule);
    if (layer === 'built-in' || how.kind !== 'none' || !concerns(rule, agent, roots)) return [];
    return [`rule ${rule.id} (${rule.file}:${rule.line}): ${how.why}`];
  });
}

/** Directories that allow rules let the agent edit: `$cwd/src/**`. Only whole directories can be opened. */
export function editableGlobs({ allow, ceiling }: Policy, agent: string, roots: Roots): readonly string[] {
  const named = editableIn(allow, agent, roots);
  return ceiling ? common(named, editableIn(ceiling.allow, agent, roots), isBelow) : named;
}

/** Whether only some directories of the project may be written, and which. */
export function closedTo(policy: Policy, agent: string, roots: Roots): readonly string[] | undefined {
  if (policy.default === 'deny') return editableGlobs(policy, agent, roots);
  return policy.ceiling && editableIn(policy.ceiling.allow, agent, roots);
}

function editableIn(allow: readonly LayeredRule[], agent: string, roots: Roots): readonly string[] {
  return allow.flatMap(({ rule }) => {
    if (!concerns(rule, agent, roots) || rule.tools || rule.mcp || rule.args || rule.evidence) return [];
    // A sandbox cannot tell commands apart: what one of them may write must be writable.
    const isEdit = rule.actions === undefined || rule.actions.has('edit') || rule.actions.has('execute');
    return isEdit ? (rule.paths ?? []).map(({ source }) => source).filter((source) => source.endsWith('/**')) : [];
  });
}

/** What both lists name: of each, the entries that an entry of the other covers. */
function common(some: readonly string[], others: readonly string[], isCovered: (one: string, by: string) => boolean): readonly string[] {
  const within = (list: readonly string[], by: readonly string[]) => list.filter((one) => by.some((other) => isCovered(one, other)));
  return [...new Set([...within(some, others), ...within(others, some)])];
}

const isBelow = (glob: string, other: string): boolean => glob === other || glob.startsWith(other.slice(0, -'**'.length));

/** Hosts that allow rules name. */
export function allowedHosts({ allow, ceiling }: Policy, agent: string, roots: Roots): readonly string[] {
  const named = hostsIn(allow, agent, roots);
  return ceiling ? common(named, hostsIn(ceiling.allow, agent, roots), isHostBelow) : named;
}

const isHostBelow = (host: string, other: string): boolean => host === other || (other.startsWith('*.') && host.endsWith(other.slice(1)));

function hostsIn(allow: readonly LayeredRule[], agent: string, roots: Roots): readonly string[] {
  return allow.flatMap(({ rule }) =>
    concerns(rule, agent, roots) && !rule.commands && (rule.actions === undefined || rule.actions.has('fetch'))
      ? (rule.hosts ?? []).map(({ source }) => source)
      : [],
  );
}

function concerns({ agents, cwds }: Rule, agent: string, roots: Roots): boolean {
  const isAgent = agents === undefined || agents.some((glob) => glob.matches(agent));
  return isAgent && (cwds === undefined || cwds.some((glob) => glob.matches(roots.cwd, roots)));
}
