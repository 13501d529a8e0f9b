// Starts the program of an agent, unless that program is this proxy.
import { MARK } from '../processes/spawn.ts';
import { startChildProcess, unstartable } from '../transports/child-process.ts';
import type { Cleaner } from '../transports/stderr-tail.ts';
import type { Transport } from '../transports/transport.ts';
import type { AgentSpec } from './defaults.ts';
import { inheritedEnvironment } from './environment.ts';
import { DEPTH, depthOf, isOurProxy } from './recursion.ts';

/** The configuration key of an agent, for messages that ask the user to change it. */
export const configKey = (name: string): string => `agent_servers.${name}`;

/** The whole environment of an agent's program. */
export const agentEnvironment = ({ env, inheritEnv, withheldEnv }: AgentSpec): Record<string, string> => ({
  ...inheritedEnvironment(process.env, inheritEnv, withheldEnv),
  ...env,
});

/** `onStderrLine` gets every line of stderr as it is; `clean` redacts the lines that are kept. */
export function startAgentProcess(spec: AgentSpec, mark: string, clean?: Cleaner, onStderrLine?: (line: string) => void): Transport {
  const { name, command, args, cwd, timeouts } = spec;
  if (isOurProxy(command, args)) return unstartable({ why: 'it is switchboard itself', next: `Take "${name}" out of agent_servers` });
  return startChildProcess(
    {
      command,
      args,
      cwd,
      env: { ...agentEnvironment(spec), [MARK]: mark, [DEPTH]: String(depthOf(process.env) + 1) },
      configKey: configKey(name),
    },
    { graceMs: timeouts.stopGraceMs, clean, onStderrLine },
  );
}
