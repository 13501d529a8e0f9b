// Which tools the proxy lends, and how an agent starts the shim that carries them.
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import { toolsFor } from '../mcp/tools/all.ts';
import type { LendingOptions, TransportMemory } from '../proxy/lend.ts';
import { createToolPins } from '../store/tool-pins.ts';
import { notice } from './notice.ts';

/** Undefined when the configuration lends none. */
export function lendingOf(
  { hostTools, mcpServers }: Config,
  stateDir: string,
  memory: TransportMemory,
  onProblem: (error: unknown) => void,
): LendingOptions | undefined {
  if (!hostTools.enabled) {
    if (mcpServers.length > 0) notice('mcp_servers are not lent to agents, because host_tools.enabled is false');
    return undefined;
  }
  const command = fileURLToPath(new URL('../bin/switchboard.js', import.meta.url));
  const shim = { command: process.execPath, args: [command, 'mcp-shim'] };
  return { tools: toolsFor(hostTools), shim, servers: mcpServers, pins: createToolPins(stateDir, onProblem), memory };
}
