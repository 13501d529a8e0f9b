// What a configuration can start: whoever is asked to trust it should see that, and not have to find it in the file.
import { enabledNames, type Fields, fields, type Layer } from './layer.ts';

export type Program = {
  /** `agent "x"`, `MCP server "x"`, `tool "x"`, `tools within the switchboard`. */
  readonly for: string;
  /** Its command line as written, or the module that is loaded. */
  readonly words: readonly string[];
};

export function programsOf(layer: Layer): readonly Program[] {
  const { agents, mcpServers, hostTools } = layer;
  const { commands, modules } = fields(hostTools?.value);
  return [
    ...enabledNames(layer).flatMap((name) => commandLine(`agent "${name}"`, fields(agents.get(name)?.value))),
    ...[...mcpServers].flatMap(([name, { value }]) => commandLine(`MCP server "${name}"`, fields(value))),
    ...listed(commands).flatMap((tool) => commandLine(`tool "${fields(tool).name}"`, fields(tool))),
    ...listed(modules).map((file) => ({ for: 'tools within the switchboard', words: [String(file)] })),
  ];
}

function commandLine(whose: string, { command, args }: Fields): Program[] {
  return command === undefined ? [] : [{ for: whose, words: [command, ...listed(args)].map(String) }];
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
