// What no schema can say of `host_tools.commands` and `mcp_servers`: whether names are free, and whether what they refer to is there.
import type { CommandOptions, McpServerOptions } from './options.ts';
import { SERVER_NAME, TOOL_NAME } from './settings.ts';
import { allTools } from './tools/builtin-tools.ts';

export type OptionProblem = { readonly path: readonly (string | number)[]; readonly message: string };

/** What is to be checked of a tool, whoever carries it out. */
type Declared = Pick<CommandOptions, 'name' | 'input_schema' | 'args'>;

export function checkCommands(commands: readonly Declared[]): OptionProblem[] {
  const taken = new Set(allTools.map(({ name }) => name));
  return commands.flatMap(({ name, input_schema, args = [] }, index) => {
    const problems: OptionProblem[] = [];
    const say = (path: readonly (string | number)[], message: string) => problems.push({ path: [index, ...path], message });
    if (!TOOL_NAME.test(name)) say(['name'], 'a tool\'s name starts with a small letter and holds only small letters, digits and "_"');
    else if (taken.has(name)) say(['name'], 'there is another tool of that name');
    taken.add(name);
    if (input_schema && input_schema.type !== 'object') say(['input_schema'], 'expected a JSON Schema with "type": "object"');
    const known = Object.keys((input_schema?.properties as object | undefined) ?? {});
    args.forEach((arg, at) => {
      for (const placeholder of placeholdersIn(arg))
        if (!known.includes(placeholder)) say(['args', at], 'a placeholder in it is not a property of input_schema');
    });
    return problems;
  });
}

export function checkServers(servers: readonly McpServerOptions[]): OptionProblem[] {
  const taken = new Set<string>(['switchboard']);
  return servers.flatMap(({ name, command, url }, index) => {
    const problems: OptionProblem[] = [];
    const say = (key: string, message: string) => problems.push({ path: [index, key], message });
    if (!SERVER_NAME.test(name)) say('name', 'a server\'s name starts with a small letter and holds only small letters, digits and "-"');
    else if (taken.has(name)) say('name', 'there is another server of that name');
    taken.add(name);
    if ((command === undefined) === (url === undefined)) say('name', 'expected either "command" or "url"');
    else if (url !== undefined && !isHttp(url) && !url.includes('${')) say('url', 'expected an http or https address');
    return problems;
  });
}

/** Whether the schemas can be used at all. Apart from the rest, since it brings the validator with it. */
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
