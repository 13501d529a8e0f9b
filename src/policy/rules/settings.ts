// Combines the settings of all layers: the strictest of each wins, so that no layer loosens another.
import {
  type OnViolation,
  type Policy,
  SANDBOX_LEVELS,
  SANDBOX_NETWORKS,
  type SandboxLevel,
  type SandboxNetwork,
  SCOPES,
  type Scope,
  VIOLATIONS,
} from '../policy.ts';

export type ModeSettings = {
  /** Only these modes, if given. An empty list: the layers have no mode in common. */
  readonly pin: readonly string[] | undefined;
  readonly refuse: readonly string[];
};

export function modesOf({ settings }: Policy, agent: string): ModeSettings {
  let pin: readonly string[] | undefined;
  const refuse = new Set<string>();
  for (const { agents } of settings) {
    for (const found of [agents.get('*'), agents.get(agent)]) {
      if (found?.pin) pin = pin === undefined ? found.pin : pin.filter((mode) => found.pin?.includes(mode));
      for (const mode of found?.refuse ?? []) refuse.add(mode);
    }
  }
  return { pin, refuse: [...refuse] };
}

/** By its full id and by the last part of it: copilot's modes are URLs. */
export function isModeAllowed(policy: Policy, agent: string, mode: string): boolean {
  const { pin, refuse } = modesOf(policy, agent);
  const names = [mode, shortMode(mode)];
  return !names.some((name) => refuse.includes(name)) && (pin === undefined || names.some((name) => pin.includes(name)));
}

export const shortMode = (mode: string): string => mode.slice(mode.lastIndexOf('#') + 1);

/** What happens when an agent acts without a permission it needed. */
export function onViolation({ settings }: Policy, agent: string): OnViolation {
  const named = settings.flatMap(({ agents }) => [agents.get('*')?.onViolation, agents.get(agent)?.onViolation]);
  return VIOLATIONS.toReversed().find((violation) => named.includes(violation)) ?? 'notify';
}

export type RequiredSandbox = {
  /** Layers that require it; `off` if none does. */
  readonly required: SandboxLevel;
  /** Layers that want it where a sandbox is available (`unavailable: warn`). */
  readonly preferred: SandboxLevel;
  readonly network: SandboxNetwork;
};

/** The strictest sandbox that the layers name for an agent. */
export function sandboxOf({ settings }: Policy, agent: string): RequiredSandbox {
  const named = settings.flatMap(({ agents }) => [agents.get('*') ?? [], agents.get(agent) ?? []].flat());
  const levels = (isPreferred: boolean) => named.filter(({ unavailable }) => (unavailable === 'warn') === isPreferred);
  const networks = named.map(({ network }) => network);
  return {
    required: strictestLevel(levels(false).map(({ sandbox }) => sandbox)),
    preferred: strictestLevel(levels(true).map(({ sandbox }) => sandbox)),
    network: strictestNetwork(networks),
  };
}

export const strictestLevel = (levels: readonly (SandboxLevel | undefined)[]): SandboxLevel =>
  SANDBOX_LEVELS.toReversed().find((level) => levels.includes(level)) ?? 'off';

export const strictestNetwork = (networks: readonly (SandboxNetwork | undefined)[]): SandboxNetwork =>
  SANDBOX_NETWORKS.toReversed().find((network) => networks.includes(network)) ?? 'open';

/** Whether a tool is listed: every layer that names tools to expose must name it. */
export function isExposed({ settings }: Policy, server: string, tool: string): boolean {
  return settings.every(({ mcp }) => mcp.expose === undefined || mcp.expose.some((glob) => glob.matches(`${server}:${tool}`)));
}

/** Whether a tool whose description or schema changed needs a new answer. */
export function arePinned({ settings }: Policy): boolean {
  return settings.some(({ mcp }) => mcp.pin === true);
}

export type RememberSettings = { readonly allowAlways: Scope; readonly ttlMs: number | undefined };

/** The narrowest scope and the shortest time that any layer sets. */
export function rememberOf({ settings }: Policy): RememberSettings {
  const scopes = settings.map(({ remember }) => remember.allowAlways);
  return {
    allowAlways: SCOPES.find((scope) => scopes.includes(scope)) ?? 'session',
    ttlMs: least(settings.map(({ remember }) => remember.ttlMs)),
  };
}

export type PolicyLimits = { readonly permissionTimeoutMs: number | undefined; readonly maxPendingPermissions: number | undefined };

export function limitsOf({ settings }: Policy): PolicyLimits {
  return {
    permissionTimeoutMs: least(settings.map(({ limits }) => limits.permissionTimeoutMs)),
    maxPendingPermissions: least(settings.map(({ limits }) => limits.maxPendingPermissions)),
  };
}

function least(numbers: readonly (number | undefined)[]): number | undefined {
  const given = numbers.filter((number) => number !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
}
