// Starts the program of an agent, unless that program is this proxy.
import { MARK } from '../processes/spawn.ts';
import type { Contained, Program } from '../sandbox/run/contain.ts';
import { type ChildTransport, startChildProcess, unstartable } from '../transports/child-process.ts';
import { startSsh } from '../transports/ssh.ts';
import type { SshHost } from '../transports/ssh-command.ts';
import { type Unstartable, whyMissing } from '../transports/start-error.ts';
import type { Cleaner } from '../transports/stderr-tail.ts';
import type { Transport } from '../transports/transport.ts';
import { type AgentSpec, configKey } from './defaults.ts';
import { inheritedEnvironment } from './environment.ts';
import { DEPTH, depthOf, isOurProxy } from './recursion.ts';

/** The whole environment of an agent's program. */
export const agentEnvironment = ({ env, inheritEnv, withheldEnv }: AgentSpec): Record<string, string> => ({
  ...inheritedEnvironment(process.env, inheritEnv, withheldEnv),
  ...env,
});

export type AgentProcessOptions = {
  /** Redacts the lines of stderr that are kept. */
  readonly clean?: Cleaner | undefined;
  /** Gets every line of stderr as it is. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
  /** Puts the program into a sandbox, or says why there is none. */
  readonly contain?: ((program: Program) => Contained | Unstartable) | undefined;
};

export function startAgentProcess(
  spec: AgentSpec,
  mark: string,
  { clean, onStderrLine, contain }: AgentProcessOptions = {},
): ChildTransport {
  const { name, cwd, timeouts } = spec;
  const [command, ...args] = [...(spec.wrap ?? []), spec.command, ...spec.args] as [string, ...string[]];
  if (isOurProxy(spec.command, spec.args))
    return unstartable({ why: 'it is switchboard itself', next: `Remove "${name}" from agent_servers` });
  const env = { ...agentEnvironment(spec), [MARK]: mark, [DEPTH]: String(depthOf(process.env) + 1) };
  const options = { graceMs: timeouts.stopGraceMs, clean, onStderrLine };
  const about = { command, args, cwd, env, configKey: configKey(name) };
  if (!contain) return startChildProcess(about, options);
  // Inside the sandbox a missing command would look like an exit.
  const missing = whyMissing(about);
  if (missing) return unstartable(missing);
  const contained = contain({ command, args, env });
  if ('why' in contained) return unstartable(contained);
  const { reach, uncovered, refusal } = contained;
  const program = { ...about, command: contained.command, args: contained.args, env: { ...contained.env }, cwd: undefined };
  return { ...startChildProcess(program, { ...options, sandbox: contained }), reach, uncovered, refusal };
}

/** The local ssh gets the variables of this process; the agent gets those of its own settings. */
export function startAgentOverSsh(
  { command, args, env, cwd, timeouts, withheldEnv }: AgentSpec,
  at: SshHost,
  mark: string,
  options: Pick<AgentProcessOptions, 'clean' | 'onStderrLine'> & { readonly redact: (line: string) => string },
): Transport {
  const program = { command, args, env, cwd, graceMs: timeouts.stopGraceMs };
  return startSsh(at, program, { ...options, env: { ...inheritedEnvironment(process.env, 'all', withheldEnv), [MARK]: mark } });
}
