// A login in a terminal. Editors run our command again with an agent's arguments appended; we run that agent in our place.
import { once } from 'node:events';
import { spawn } from '../processes/spawn.ts';
import { CommandFailure } from './command-failure.ts';
import { type ConfigFlags, resolveConfig } from './resolve-config.ts';

/** The exit code is the agent's own: zero says that the login worked. */
export async function auth(agent: string, args: readonly string[], flags: ConfigFlags): Promise<number> {
  const { config } = await resolveConfig({ ...(flags.config !== undefined && { config: flags.config }), agent });
  const [spec] = config.agents;
  if (!spec) throw new CommandFailure(4, `there is no agent "${agent}"`);
  const child = spawn(spec.command, [...spec.args, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...spec.env }, // as when the agent is started to work: a login for another account would not be its own
    ...(spec.cwd !== undefined && { cwd: spec.cwd }),
  });
  // Ctrl-C is for the agent; we end when it does.
  const ignore = () => {};
  process.on('SIGINT', ignore);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  } catch (error) {
    throw new CommandFailure(
      7,
      `agent "${agent}" could not be started: ${(error as NodeJS.ErrnoException).code}`,
      `check "command" in agent_servers.${agent}`,
    );
  } finally {
    process.off('SIGINT', ignore);
  }
}
