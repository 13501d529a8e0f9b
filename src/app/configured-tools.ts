// The host tools of the configuration, and how an agent starts the shim that carries them.
import { inheritedEnvironment } from '../agents/environment.ts';
import type { Config } from '../config/config.ts';
import { agentName } from '../mcp/server/portable-tool.ts';
import { type HostTool, object, ToolFailure, text } from '../mcp/server/tool.ts';
import { COMMAND_TIMEOUT_MS } from '../mcp/settings.ts';
import { toolsFor } from '../mcp/tools/builtin-tools.ts';
import type { Shim } from '../mcp/transports/listeners.ts';
import type { HostToolsOptions, TransportMemory } from '../proxy/tools/session-tools.ts';
import { createMcpLogins } from '../store/mcp-logins.ts';
import { createToolPins } from '../store/tool-pins.ts';
import { type HostFunction, SetupFailure } from './api.ts';
import type { Notify } from './events.ts';
import { ownCommand } from './package-files.ts';

/** How an agent starts the shim. */
export const shimOf = (): Shim => ownCommand('mcp-shim');

/** Undefined if the configuration turns host tools off. */
export function toolAttachmentsOf(
  { hostTools, mcpServers, secretVariables }: Config,
  stateDir: string,
  memory: TransportMemory,
  onProblem: (error: unknown) => void,
  report: Notify,
  own: Pick<HostToolsOptions, 'onEvent' | 'clean'> & { readonly tools: readonly HostTool[]; readonly onSecret: (value: string) => void },
): HostToolsOptions | undefined {
  if (!hostTools.enabled) {
    if (mcpServers.length > 0) report('agents do not get the tools of mcp_servers, because host_tools.enabled is false');
    return undefined;
  }
  const environment = () => inheritedEnvironment(process.env, 'all', secretVariables);
  const tools = [...toolsFor(hostTools, environment), ...own.tools];
  const clean = hostTools.redactResults ? own.clean : undefined;
  const [pins, logins] = [createToolPins(stateDir, onProblem), createMcpLogins(stateDir, own.onSecret, onProblem)];
  return { tools, shim: shimOf(), servers: mcpServers, pins, logins, memory, onEvent: own.onEvent, clean };
}

// Functions of the embedding program as host tools: checked when they are registered, called like any other tool.
export type Named = Pick<HostTool, 'name' | 'inputSchema'>;

/** `others` are the existing tools. Throws a SetupFailure that lists every problem. */
export async function hostFunctions(
  functions: readonly HostFunction[],
  others: readonly Named[],
  hint = 'see "Tools of your own" in docs/embedding.md',
): Promise<readonly HostTool[]> {
  if (functions.length === 0) return [];
  const { checkCommands, checkSchemas } = await import('../mcp/check-options.ts');
  const declared = [
    ...others.map(({ name, inputSchema }) => ({ name, input_schema: inputSchema })),
    ...functions.map(({ name, inputSchema }) => ({ name: String(name), ...(inputSchema && { input_schema: inputSchema }) })),
  ];
  const problems = [...checkCommands(declared), ...(await checkSchemas(declared))].filter(
    ({ path: [index] }) => Number(index) >= others.length,
  );
  if (problems.length > 0) {
    const problemTexts = problems.map(({ path: [index, key], message }) => `tool "${declared[Number(index)]?.name}": ${key}: ${message}`);
    throw new SetupFailure('TOOL_INVALID', problemTexts.join('\n'), hint);
  }
  return functions.map(hostTool);
}

function hostTool({
  name,
  title = name,
  description,
  inputSchema = object({}),
  effect = 'execute',
  timeoutMs,
  run,
}: HostFunction): HostTool {
  return {
    ...agentName(name),
    title,
    description,
    inputSchema,
    effect,
    needs: [],
    timeoutMs: timeoutMs ?? COMMAND_TIMEOUT_MS,
    server: 'switchboard',
    async run(args, { host: { sessionId, agent, cwd }, signal, progress }) {
      try {
        const answer = await run({ ...args }, { sessionId, agent, cwd, signal, progress });
        return typeof answer === 'string' ? text(answer) : answer;
      } catch (error) {
        // The host's own message: the host knows that agents read it.
        throw signal.aborted ? error : new ToolFailure(error instanceof Error ? error.message : String(error));
      }
    },
  };
}
