// Functions of whoever embeds us as tools of agents: checked when they are handed in, called like any other tool.

import { type HostTool, object, ToolFailure, text } from '../mcp/server/tool.ts';
import { COMMAND_TIMEOUT_MS } from '../mcp/settings.ts';
import type { HostFunction } from './api.ts';
import { SetupFailure } from './setup-failure.ts';

export type Named = Pick<HostTool, 'name' | 'inputSchema'>;

/** `others` are the tools there are besides. Throws a SetupFailure that names everything wrong with them. */
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
    const said = problems.map(({ path: [index, key], message }) => `tool "${declared[Number(index)]?.name}": ${key}: ${message}`);
    throw new SetupFailure('TOOL_INVALID', said.join('\n'), hint);
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
    name,
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
        // The host's own words: it knows that agents read them.
        throw signal.aborted ? error : new ToolFailure(error instanceof Error ? error.message : String(error));
      }
    },
  };
}
