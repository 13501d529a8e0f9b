// The agents of a reference proxy: argv[2] is a JSON list of commands, each a list of arguments. They end with the proxy.
import { spawn } from 'node:child_process';

export function startAgents() {
  const agents = JSON.parse(process.argv[2]).map(([command, ...args]) => spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
  process.stdin.on('end', () => {
    for (const agent of agents) agent.kill();
    process.exit();
  });
  return agents;
}

/** Which agent a `session/new` is for, by the same field that the switchboard reads. */
export const agentOf = (params) => Number(/\d+$/.exec(params?._meta?.['acp-switchboard']?.agent ?? 'a0')[0]);
