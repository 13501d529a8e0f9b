// Which sandbox an agent gets: its configuration and the policy together. Loaded at every start, so nothing here loads zod or the compiler.
import type { SandboxLevel, SandboxNetwork } from '../policy/policy.ts';
import { type RequiredSandbox, strictestLevel, strictestNetwork } from '../policy/rules/settings.ts';

/** The `sandbox` key of an agent, merged over the one for all agents. */
export type SandboxSettings = {
  readonly level: SandboxLevel | undefined;
  readonly network: SandboxNetwork | undefined;
  /** Hosts that `listed` allows, besides those of the policy and of the catalogue. */
  readonly hosts: readonly string[];
  /** Paths to write besides the project; inside the project: files that are read-only otherwise. */
  readonly write: readonly string[];
  readonly hide: readonly string[];
  readonly protect: readonly string[];
  /** Where the agent keeps its own state. */
  readonly state: readonly string[];
  /** Unix sockets it may connect to. */
  readonly sockets: readonly string[];
  readonly unavailable: 'fail' | 'warn' | undefined;
};

export const NO_SETTINGS: SandboxSettings = {
  level: undefined,
  network: undefined,
  hosts: [],
  write: [],
  hide: [],
  protect: [],
  state: [],
  sockets: [],
  unavailable: undefined,
};

type Options = SandboxLevel | { readonly [Key in keyof SandboxSettings]?: SandboxSettings[Key] | undefined };

/** The settings of a valid `sandbox` key. `over` is the agent's own; a key that it leaves out comes from `under`. */
export function sandboxSettings(under: unknown, over: unknown): SandboxSettings {
  const given = (options: unknown) => {
    const one = options as Options | undefined;
    return typeof one === 'string'
      ? { level: one }
      : Object.fromEntries(Object.entries(one ?? {}).filter(([, value]) => value !== undefined));
  };
  return { ...NO_SETTINGS, ...given(under), ...given(over) };
}

export type Containment = {
  readonly level: SandboxLevel;
  readonly network: SandboxNetwork;
  /** What happens where no sandbox is available. */
  readonly unavailable: 'fail' | 'warn';
  /** The user's own `off` won over a policy that only prefers this level. */
  readonly declined: SandboxLevel | undefined;
};

const NOTHING: RequiredSandbox = { required: 'off', preferred: 'off', network: 'open' };

/** The strictest of all. A policy that only prefers a sandbox yields to the user's own `off`. */
export function containmentOf(settings: SandboxSettings, policy: RequiredSandbox = NOTHING): Containment {
  const wanted = settings.level === 'off' ? 'off' : strictestLevel([settings.level, policy.preferred]);
  const level = strictestLevel([policy.required, wanted]);
  const isRequired =
    policy.required !== 'off' || (settings.level !== undefined && settings.level !== 'off' && settings.unavailable !== 'warn');
  return {
    level,
    network: strictestNetwork([settings.network, policy.network]),
    unavailable: isRequired ? 'fail' : 'warn',
    declined: level === 'off' && policy.preferred !== 'off' ? policy.preferred : undefined,
  };
}

/** `workspace, listed`: for lists. */
export function shownLevel({ level, network, declined }: Containment): string {
  if (declined !== undefined) return `off (the policy prefers ${declined})`;
  return level === 'off' || network === 'open' ? level : `${level}, ${network}`;
}
