// What no schema can say of the tools and servers that are lent: whether names are free and schemas usable.
import type { CommandOptions, McpServerOptions } from '../mcp/options.ts';
import { showPath } from './document.ts';
import { fields, type Layer, type Placed } from './layer.ts';
import type { Problem } from './problems.ts';

/** To be called with a layer that the schema has found right: that is what the casts rest on. */
export async function checkTools(layer: Layer): Promise<Problem[]> {
  const commands = (fields(layer.hostTools?.value).commands ?? []) as readonly CommandOptions[];
  const servers = [...layer.mcpServers.values()];
  if (commands.length === 0 && servers.length === 0) return [];
  const { checkCommands, checkSchemas, checkServers } = await import('../mcp/check-options.ts');
  const ofCommands = [...checkCommands(commands), ...(await checkSchemas(commands))];
  const duplicates = servers.flatMap((server) => duplicate(server));
  return [
    ...ofCommands.map(({ path, message }) => problem(layer.hostTools, ['commands', ...path], message)),
    ...checkServers(servers.map(({ value }) => value as McpServerOptions)).map(({ path: [index, ...rest], message }) =>
      problem(servers[Number(index)], rest, message),
    ),
    ...duplicates,
  ].flatMap((one) => one ?? []);
}

function problem(placed: Placed | undefined, path: readonly (string | number)[], message: string): Problem | undefined {
  if (!placed) return undefined;
  const at = [...placed.path, ...path];
  return placed.document.problem(at, `${showPath(at)}: ${message}`);
}

/** Layers go by name, so of two servers of one name in one file only the last is left by now. */
function duplicate({ document, path }: Placed): (Problem | undefined)[] {
  const listed = fields(document.value).mcp_servers;
  const all = Array.isArray(listed) ? listed : [];
  const index = Number(path[1]);
  const { name } = fields(all[index]);
  const first = all.findIndex((one) => fields(one).name === name);
  return first === index ? [] : [document.problem([...path, 'name'], `${showPath(path)}: there is another server of that name`)];
}
