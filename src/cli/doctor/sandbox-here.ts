// The sandbox as the configuration and the policies of this machine have it, for commands that show it or try an agent in it.
import type { AgentSpec } from '../../agents/defaults.ts';
import { readLayers } from '../../app/policy-layers.ts';
import { createSandbox, type Sandbox } from '../../app/sandbox.ts';
import { type Config, managedPolicyFile } from '../../config/config.ts';
import type { Policy } from '../../policy/policy.ts';
import { combine } from '../../policy/rules/layers.ts';
import type { Launch } from '../agents/temporary-agents.ts';

export async function sandboxHere(config: Config | undefined, stateDir: string): Promise<Sandbox> {
  const policy = await policyHere(config, stateDir);
  return createSandbox({ stateDir, ownFiles: () => [], policy: () => policy, report: () => {} });
}

/** Starts agents as a session would: in the sandbox that the configuration and the policies want. Nobody can be asked about a host. */
export function launchContained(launch: Launch, sandbox: Sandbox, isLogin = false): Launch {
  return (spec, secrets, heard) => launch(spec, secrets, heard, startAlone(sandbox, spec, isLogin));
}

/** The start of a program of the agent without a session: it sees no project, and writes its own state only. */
export function startAlone(sandbox: Sandbox, spec: AgentSpec, isLogin: boolean): ReturnType<Sandbox['start']> {
  const decideHost = async (_host: string, _port: number, isListed: boolean) => (isListed ? undefined : 'nobody can be asked');
  return sandbox.start(spec, { directories: [], layer: undefined, isLogin, decideHost });
}

/** Undefined without one; other commands report a policy that is not usable. */
async function policyHere(config: Config | undefined, stateDir: string): Promise<Policy | undefined> {
  try {
    const managedFile = managedPolicyFile(process.platform, process.env);
    const { layers } = await readLayers({ policies: config?.policies ?? [], flag: undefined, managedFile, stateDir });
    return layers.length === 0 ? undefined : combine(layers);
  } catch {
    return undefined;
  }
}
