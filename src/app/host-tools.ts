// Which tools the proxy lends, and how an agent starts the shim that carries them.
import type { Config } from '../config/config.ts';
import type { HostTool } from '../mcp/server/tool.ts';
import { toolsFor } from '../mcp/tools/builtin-tools.ts';
import type { Shim } from '../mcp/transports/listeners.ts';
import type { LendingOptions, TransportMemory } from '../proxy/tools/host-tools.ts';
import { createToolPins } from '../store/tool-pins.ts';
import { packageFile } from './package-files.ts';
import type { Say } from './say-once.ts';

/** How an agent starts the shim. */
export const shimOf = (): Shim => ({ command: process.execPath, args: [packageFile('bin', 'switchboard.js'), 'mcp-shim'] });

/** Undefined when the configuration lends none. */
export function lendingOf(
  { hostTools, mcpServers }: Config,
  stateDir: string,
  memory: TransportMemory,
  onProblem: (error: unknown) => void,
  notice: Say,
  own: Pick<LendingOptions, 'onEvent' | 'clean'> & { readonly tools: readonly HostTool[] },
): LendingOptions | undefined {
  if (!hostTools.enabled) {
    if (mcpServers.length > 0) notice('mcp_servers are not lent to agents, because host_tools.enabled is false');
    return undefined;
  }
  const tools = [...toolsFor(hostTools), ...own.tools];
  const clean = hostTools.redactResults ? own.clean : undefined;
  return { tools, shim: shimOf(), servers: mcpServers, pins: createToolPins(stateDir, onProblem), memory, onEvent: own.onEvent, clean };
}
