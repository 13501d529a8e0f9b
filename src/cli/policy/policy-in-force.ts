// The policy that a command applies: the one named, else what is in force here, else the preset `standard`.
import type { AgentSpec } from '../../agents/defaults.ts';
import { readLayers } from '../../app/policy-layers.ts';
import { type Config, managedPolicyFile } from '../../config/config.ts';
import type { Layer } from '../../policy/rules/layers.ts';
import { NO_SETTINGS, type SandboxSettings } from '../../sandbox/settings.ts';
import { resolveConfig } from '../resolve-config.ts';
import { readPolicyOrComplain } from './check.ts';
import { complain } from './output.ts';

export type PolicyFlags = { readonly policy?: string; readonly config?: string; readonly json?: true };

type InForce = {
  readonly layers: readonly Layer[];
  /** For people. */
  readonly name: string;
  /** What the configuration says about the agent's sandbox; nothing if the policy was named. */
  sandboxOf(agent: string): SandboxSettings;
};

const PRESET = 'standard';

/** Undefined after reporting the problems of the named policy. */
export async function policyInForce(flags: PolicyFlags): Promise<InForce | undefined> {
  if (flags.policy !== undefined) return named(flags.policy, flags);
  const { config, stateDir } = await resolveConfig({ config: flags.config, isOnlyShown: true }, () => {});
  const managedFile = managedPolicyFile(process.platform, process.env);
  const { layers, notices } = await readLayers({ policies: config.policies, flag: undefined, managedFile, stateDir });
  for (const text of notices) complain(text);
  const name = layers.map(({ policy }) => policy.file).join(', ');
  const found = layers.length > 0 ? { layers, name } : await named(PRESET, flags, `${PRESET} (no policy is configured)`);
  return found && { ...found, sandboxOf: (agent) => settingsOf(config, agent) };
}

async function named(policy: string, flags: PolicyFlags, name = policy): Promise<InForce | undefined> {
  const file = await readPolicyOrComplain(policy, flags);
  return file && { layers: [{ name: 'command-line', policy: file }], name, sandboxOf: () => NO_SETTINGS };
}

function settingsOf({ agents, sandbox }: Config, agent: string): SandboxSettings {
  const spec: AgentSpec | undefined = agents.find(({ name }) => name === agent);
  return (spec ? spec.sandbox : sandbox) ?? NO_SETTINGS;
}
