// Checks of `host_tools.commands` and `mcp_servers` that a schema cannot express: names are free, and references exist.
import type { CommandOptions, McpServerOptions } from './options.ts';
import { FORMER_NAMES, SERVER_NAME, TOOL_NAME } from './settings.ts';
import { allTools } from './tools/builtin-tools.ts';

export type OptionProblem = { readonly path: readonly (string | number)[]; readonly message: string };

/** The checked part of a tool. */
type Declared = Pick<CommandOptions, 'name' | 'input_schema' | 'args'>;

export function checkCommands(commands: readonly Declared[]): OptionProblem[] {
  const taken = new Set([...allTools.map(({ name }) => name), ...Object.keys(FORMER_NAMES)]);
  return commands.flatMap(({ name, input_schema, args = [] }, index) => {
    const problems: OptionProblem[] = [];
    const report = (path: readonly (string | number)[], message: string) => problems.push({ path: [index, ...path], message });
    if (!TOOL_NAME.test(name))
      report(['name'], 'a tool name starts with a lower-case letter and contains only lower-case letters, digits and "_"');
    else if (taken.has(name)) report(['name'], 'another tool has this name');
    taken.add(name);
    if (input_schema && input_schema.type !== 'object') report(['input_schema'], 'expected a JSON Schema with "type": "object"');
    const known = Object.keys((input_schema?.properties as object | undefined) ?? {});
    args.forEach((arg, at) => {
      for (const placeholder of placeholdersIn(arg))
        if (!known.includes(placeholder)) report(['args', at], 'a placeholder is not a property of input_schema');
    });
    return problems;
  });
}

export function checkServers(servers: readonly McpServerOptions[]): OptionProblem[] {
  const taken = new Set<string>(['switchboard']);
  return servers.flatMap(({ name, command, url }, index) => {
    const problems: OptionProblem[] = [];
    const report = (key: string, message: string) => problems.push({ path: [index, key], message });
    if (!SERVER_NAME.test(name))
      report('name', 'a server name starts with a lower-case letter and contains only lower-case letters, digits and "-"');
    else if (taken.has(name)) report('name', 'another server has this name');
    taken.add(name);
    if ((command === undefined) === (url === undefined)) report('name', 'expected either "command" or "url"');
    else if (url !== undefined && !isHttp(url) && !url.includes('${')) report('url', 'expected an http or https URL');
    return problems;
  });
}

/** Whether the schemas are valid. Separate, because it loads the validator. */
export async function checkSchemas(commands: readonly Declared[]): Promise<OptionProblem[]> {
  if (commands.every(({ input_schema }) => input_schema === undefined)) return [];
  const { fromJsonSchema } = await import('@modelcontextprotocol/server');
  return commands.flatMap(({ input_schema }, index) => {
    try {
      if (input_schema) fromJsonSchema(input_schema);
      return [];
    } catch (error) {
      return [{ path: [index, 'input_schema'], message: `not a usable JSON Schema: ${(error as Error).message}` }];
    }
  });
}

export const placeholdersIn = (arg: string): string[] => [...arg.matchAll(/\{([A-Za-z_]\w*)\}/g)].map(([, name = '']) => name);

function isHttp(url: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(url).protocol);
  } catch {
    return false;
  }
}
