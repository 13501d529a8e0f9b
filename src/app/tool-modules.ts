// `host_tools.modules`: ES modules whose tools agents may call. They run in this process, so only the user's own configuration may name
// them.
import { pathToFileURL } from 'node:url';
import type { HostTool, JsonSchema } from '../mcp/server/tool.ts';
import { type HostFunction, SetupFailure } from './api.ts';
import { hostFunctions, type Named } from './configured-tools.ts';

const HINT = 'see "Tools of your own" in docs/tools.md';

/** `others` are the existing tools. Throws a SetupFailure that names the module and its problem. */
export async function toolsOfModules(files: readonly string[], others: readonly Named[]): Promise<readonly HostTool[]> {
  const functions: HostFunction[] = [];
  for (const [index, file] of files.entries()) functions.push(...(await functionsIn(file, `host_tools.modules[${index}]: ${file}`)));
  return hostFunctions(functions, others, HINT);
}

async function functionsIn(file: string, place: string): Promise<readonly HostFunction[]> {
  let module: { readonly tools?: unknown; readonly default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new SetupFailure('TOOL_INVALID', `${place}: cannot be loaded: ${(error as Error).message}`, HINT);
  }
  const tools = module.tools ?? module.default;
  if (!Array.isArray(tools))
    throw new SetupFailure('TOOL_INVALID', `${place}: exports no list of tools, neither as "tools" nor as default`, HINT);
  return tools.map((tool: Partial<HostFunction> | null, n) => {
    const at = `${place}: tools[${n}]`;
    const wrong = problemOf(tool);
    if (wrong !== undefined || !tool) throw new SetupFailure('TOOL_INVALID', `${at}: ${wrong}`, HINT);
    return withJsonSchema(tool as HostFunction, at);
  });
}

function problemOf(tool: Partial<HostFunction> | null): string | undefined {
  if (typeof tool !== 'object' || tool === null) return 'is not an object';
  for (const key of ['name', 'description'] as const) if (typeof tool[key] !== 'string') return `"${key}" is not a string`;
  return typeof tool.run === 'function' ? undefined : '"run" is not a function';
}

/** A schema from a library such as zod 4, by the interface that these libraries share. */
type LibrarySchema = {
  readonly '~standard': {
    readonly jsonSchema?: { input(options: { target: string }): JsonSchema };
    validate(value: unknown): Promise<Checked> | Checked;
  };
};
type Checked = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly { readonly message: string }[] };

/** Agents see a JSON Schema; the function receives arguments parsed by its own schema, with defaults applied. */
function withJsonSchema(tool: HostFunction, at: string): HostFunction {
  const given = tool.inputSchema as JsonSchema | LibrarySchema | undefined;
  if (given === undefined || !('~standard' in given)) return tool;
  const { jsonSchema, validate } = (given as LibrarySchema)['~standard'];
  if (!jsonSchema)
    throw new SetupFailure('TOOL_INVALID', `${at}: its schema cannot be converted to a JSON Schema; with zod, use 4.2 or later`, HINT);
  const inputSchema = jsonSchema.input({ target: 'draft-2020-12' });
  return {
    ...tool,
    inputSchema,
    async run(args, context) {
      const checked = await validate(args);
      if (checked.issues) throw new Error(checked.issues.map(({ message }) => message).join('; '));
      return tool.run(checked.value as typeof args, context);
    },
  };
}
