// Logs in to an agent in a terminal. Editors run our command again with the agent's arguments appended; `switchboard auth` does the same.
// The agent takes over the terminal.
import { once } from 'node:events';
import type { AuthMethod } from '../../acp/shapes.ts';
import { agentEnvironment } from '../../agents/agent-process.ts';
import { type AgentSpec, configKey } from '../../agents/defaults.ts';
import type { Sandbox } from '../../app/sandbox.ts';
import { spawn } from '../../processes/spawn.ts';
import { whyUnstartable } from '../../transports/start-error.ts';
import { sandboxHere, startAlone } from '../doctor/sandbox-here.ts';
import { CommandFailure } from '../failure.ts';
import { startUnderSignals } from '../interrupts.ts';
import { type ConfigFlags, resolveConfig } from '../resolve-config.ts';
import { ownCommand, textsOf } from './login-methods.ts';

/** Returns the agent's exit code: zero means that the login succeeded. */
export async function auth(agent: string, args: readonly string[], flags: ConfigFlags): Promise<number> {
  const { config, stateDir } = await resolveConfig({ ...(flags.config !== undefined && { config: flags.config }), agent });
  const [spec] = config.agents;
  if (!spec) throw new CommandFailure(4, `unknown agent "${agent}"`);
  return inTerminal(spec, spec.command, [...spec.args, ...args], {}, await sandboxHere(config, stateDir));
}

/** The same for a method that the agent describes; the method's environment takes precedence. */
export function runInTerminal(spec: AgentSpec, method: AuthMethod, sandbox: Sandbox): Promise<number> {
  const own = ownCommand(method);
  if (own) return inTerminal(spec, own.command, own.args, own.env, sandbox);
  const args = Array.isArray(method.args) ? method.args.map(String) : [];
  return inTerminal(spec, spec.command, [...spec.args, ...args], textsOf(method.env), sandbox);
}

async function inTerminal(
  spec: AgentSpec,
  command: string,
  args: readonly string[],
  methodEnv: Readonly<Record<string, string>>,
  sandbox: Sandbox,
): Promise<number> {
  if (spec.remote)
    throw new CommandFailure(
      2,
      `agent "${spec.name}" runs on another machine (${spec.remote.address})`,
      'log in there, in a terminal of that machine',
    );
  // The same environment as for sessions, so that the login is for the same account; and their sandbox, since it is the same program.
  const env = { ...agentEnvironment(spec), ...methodEnv };
  const contained = startAlone(sandbox, spec, true)?.({ command, args, env });
  if (contained && 'why' in contained) throw new CommandFailure(7, `agent "${spec.name}" did not start: ${contained.why}`, contained.next);
  const { child, ...signals } = startUnderSignals(() => {
    const started = spawn(contained?.command ?? command, [...(contained?.args ?? args)], {
      stdio: ['inherit', 'inherit', 'inherit', ...(contained?.stdio ?? [])],
      env: contained ? { ...contained.env } : env,
      ...(spec.cwd !== undefined && !contained && { cwd: spec.cwd }),
    });
    contained?.started(started);
    return started;
  });
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    signals.check();
    return code ?? 1;
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const { why, next } = whyUnstartable(error as NodeJS.ErrnoException, { ...spec, command, configKey: configKey(spec.name) });
    const words = `agent "${spec.name}" did not start: ${why} (command: ${command})`;
    throw new CommandFailure(7, words, next ?? `check "command" in agent_servers.${spec.name}`);
  } finally {
    signals.stop();
  }
}
