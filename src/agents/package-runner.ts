// Agents that a package runner starts: `npx` downloads the package first, which may take minutes and must not be cut off half way.
import path from 'node:path';
import { here } from '../platform/platform.ts';
import { membersOf, runsFrom } from '../processes/process-table.ts';
import type { AgentSpec } from './defaults.ts';

const RUNNERS = new Set(['npx', 'pnpx', 'bunx', 'uvx', 'npm', 'pnpm', 'yarn', 'bun', 'uv']);

/** How long a download may take. */
export const INSTALL_MS = 10 * 60_000;

export const runnerOf = ({ command, remote }: Pick<AgentSpec, 'command' | 'remote'>): string | undefined => {
  const name = path.basename(command).replace(/\.(?:cmd|exe|ps1)$/i, '');
  return remote === undefined && RUNNERS.has(name) ? name : undefined;
};

/** Where runners keep the programs that they start. Scripts that a package runs while it is installed are not there. */
const INSTALLED = /[\\/](?:\.bin|bin|Scripts)[\\/]/;

/** Whether the runner has not started the agent yet. Where processes cannot be read, the time limit alone decides. */
export function isInstalling(pid: number): boolean {
  if (here.processes !== 'proc') return true;
  const started = membersOf(pid).filter((member) => member.pid !== pid);
  return !started.some((member) => runsFrom(member.pid, INSTALLED));
}
