// Combines several policy files. Deny beats ask beats allow across all of them, so no layer can loosen another.
import { protectedFileRules } from '../paths/protected-files.ts';
import { type AgentSettings, LAYERS, type LayeredRule, type OnViolation, type Policy, type PolicyFile, type Settings } from '../policy.ts';
import { VERDICTS, type Verdict } from './rule.ts';

export type Layer = {
  readonly name: (typeof LAYERS)[number];
  readonly policy: PolicyFile;
  /**
   * A project's file comes with a repository: until its exact content is trusted, only rules that tighten count. Other layers are trusted.
   */
  readonly isTrusted?: boolean;
};

export type CombineOptions = {
  /**
   * The switchboard's own canonical paths: state directory, configuration, policy files. Writing them is never allowed without asking; the
   * files of the layers are added.
   */
  readonly protect?: readonly string[];
};

/** The settings of an untrusted file that narrow the defaults. Pinning a mode means choosing it, and nobody chose this file. */
const ofUntrusted = (settings: Settings): Settings => tightening(settings, () => undefined);

/** The settings that narrow the defaults, with the modes that may be pinned. */
function tightening({ agents, mcp, remember, limits }: Settings, pinned: (pin: AgentSettings['pin']) => AgentSettings['pin']): Settings {
  const isStrict = (response: OnViolation | undefined) => response === 'cancel' || response === 'kill';
  return {
    agents: new Map(
      [...agents].map(([name, { pin, refuse, onViolation, sandbox, network, unavailable }]) => [
        name,
        // A level is a lower bound, so a file that nobody chose may name one.
        { pin: pinned(pin), refuse, onViolation: isStrict(onViolation) ? onViolation : undefined, sandbox, network, unavailable },
      ]),
    ),
    mcp,
    remember: { ...remember, allowAlways: remember.allowAlways === 'workspace' ? undefined : remember.allowAlways },
    limits,
  };
}

/**
 * Takes the layers in any order. A layer's `allow` counts unless a stronger layer is closed (`default: deny`) or the layer is an untrusted
 * project; its `ask` then still wins over an allow, but opens nothing that is closed. The default is the strictest that any layer sets,
 * `ask` if none does. A bundle only tightens: what it allows must be allowed without it, too.
 */
export function combine(layers: readonly Layer[], { protect = [] }: CombineOptions = {}): Policy {
  const ordered = [...layers].sort((a, b) => LAYERS.indexOf(a.name) - LAYERS.indexOf(b.name));
  const bundled = ordered.filter(({ name }) => name === 'bundle');
  const strict: LayeredRule[] = [];
  const allow: LayeredRule[] = [];
  const defaults: Verdict[] = [];
  let closedAt = Number.POSITIVE_INFINITY;
  for (const { name, policy, isTrusted = name !== 'project' } of ordered) {
    if (name === 'bundle') {
      for (const rule of policy.rules) if (rule.verdict !== 'allow') strict.push({ rule, layer: name, onlyTightens: true });
      if (policy.default === 'ask') defaults.push('ask');
      continue;
    }
    const rank = LAYERS.indexOf(name);
    const mayLoosen = isTrusted && rank <= closedAt;
    for (const rule of policy.rules) {
      if (rule.verdict !== 'allow') strict.push({ rule, layer: name, onlyTightens: !mayLoosen });
      else if (mayLoosen) allow.push({ rule, layer: name, onlyTightens: false });
    }
    if (policy.default !== undefined && (policy.default !== 'allow' || mayLoosen)) defaults.push(policy.default);
    if (policy.default === 'deny') closedAt = Math.min(closedAt, rank);
  }
  for (const rule of protectedFileRules([...protect, ...layers.map(({ policy }) => policy.file)]))
    strict.push({ rule, layer: 'built-in', onlyTightens: true });
  const strictest = VERDICTS.find((verdict) => defaults.includes(verdict)) ?? 'ask';
  const settings = ordered.map(({ name, policy, isTrusted = name !== 'project' }) => {
    if (name === 'bundle') return tightening(policy, (pin) => pin);
    return isTrusted ? policy : ofUntrusted(policy);
  });
  const ceiling = ceilingOf(bundled.map(({ policy }) => policy));
  return { strict, allow, default: strictest, settings, ...(ceiling && { ceiling }) };
}

function ceilingOf(files: readonly PolicyFile[]): Policy['ceiling'] {
  if (!files.some((file) => file.default === 'deny')) return undefined;
  const rules = files.flatMap((file) => file.rules).map((rule): LayeredRule => ({ rule, layer: 'bundle', onlyTightens: false }));
  const [allow, strict] = [rules.filter(({ rule }) => rule.verdict === 'allow'), rules.filter(({ rule }) => rule.verdict !== 'allow')];
  return { strict, allow, default: 'deny', settings: [] };
}
