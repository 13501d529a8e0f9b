// Checks that a schema cannot express: whether names refer to something.

import { AGENT_NAME } from '../agents/defaults.ts';
import { fields } from '../json-object.ts';
import type { CommandOptions, McpServerOptions } from '../mcp/options.ts';
import { didYouMean } from '../policy/format/nearest.ts';
import { enabledNames, type Layer, type Placed } from './layer.ts';
import { type Document, type Problem, showPath } from './problems.ts';

/** Problems of all layers together. A missing key is reported in `main`. */
export function check(layer: Layer, main: Document): Problem[] {
  return [...badNames(layer), ...badStarts(layer), ...noAgent(layer, main), ...danglingNames(layer)];
}

/** The keys that each kind of agent does not have, and the key that would allow them. */
const WRONG_KEYS = {
  local: [
    [['headers', 'tls'], 'url'],
    [['connect_ms', 'keepalive_ms', 'files'], 'url" or "ssh'],
  ],
  url: [[['args', 'env', 'inherit_env', 'cwd'], 'command']],
  ssh: [
    [['headers', 'tls'], 'url'],
    [['inherit_env', 'wrap'], 'command" and without "ssh'],
  ],
} as const;
/** The remote shell sets them, so they must be names to it. */
const SHELL_NAME = /^[A-Za-z_]\w*$/;

/** An agent is a program or an address, and each has its own keys. */
function badStarts(layer: Layer): Problem[] {
  return [...layer.agents].flatMap(([, { document, path, value }]) => {
    const given = fields(value);
    if (given !== value) return []; // already reported by the schema
    const owner = showPath(path);
    if (given.command === undefined && given.url === undefined)
      return [document.problem(path, `${owner}: missing key "command"`, 'expected a program, or "url" for a remote agent')];
    if (given.ssh !== undefined && given.url !== undefined)
      return [document.problem([...path, 'ssh'], `${owner}: "ssh" and "url" exclude each other`, 'keep one of them')];
    if (given.command !== undefined && given.url !== undefined)
      return [document.problem([...path, 'url'], `${owner}: "command" and "url" exclude each other`, 'keep one of them')];
    const kind = given.ssh !== undefined ? 'ssh' : given.url !== undefined ? 'url' : 'local';
    const wrong = WRONG_KEYS[kind].flatMap(([keys, other]) =>
      keys
        .filter((key) => given[key] !== undefined)
        .map((key) => document.keyProblem([...path, key], `${showPath([...path, key])}: only for an agent with "${other}"`)),
    );
    const names = kind === 'ssh' ? Object.keys(fields(given.env)).filter((name) => !SHELL_NAME.test(name)) : [];
    return [
      ...wrong,
      ...names.map((name) =>
        document.keyProblem([...path, 'env', name], `${showPath([...path, 'env', name])}: a shell cannot set this name`),
      ),
    ];
  });
}

function badNames(layer: Layer): Problem[] {
  const rule = 'an agent name must start with a letter or digit and use only letters, digits, ".", "_" and "-"';
  return [...layer.agents].flatMap(([name, { document, path }]) => (AGENT_NAME.test(name) ? [] : [document.keyProblem(path, rule)]));
}

function noAgent(layer: Layer, main: Document): Problem[] {
  const { agent_servers } = fields(main.value);
  const isWrongType = agent_servers !== undefined && fields(agent_servers) !== agent_servers; // already reported by the schema
  if (isWrongType || layer.bus !== undefined || enabledNames(layer).length > 0) return [];
  return [main.problem(['agent_servers'], 'agent_servers: expected at least one enabled agent')];
}

function danglingNames(layer: Layer): Problem[] {
  const routes = layer.routes.map(({ document, path, value }) => ({ document, path: [...path, 'agent'], value: fields(value).agent }));
  return [...(layer.defaultAgent ? [layer.defaultAgent] : []), ...routes].flatMap((reference) => dangling(layer, reference));
}

function dangling(layer: Layer, { document, path, value: name }: Placed): Problem[] {
  const names = enabledNames(layer);
  // On the bus, hosts offer agents that this configuration does not know.
  if (typeof name !== 'string' || names.includes(name) || (layer.bus !== undefined && !layer.agents.has(name))) return [];
  const key = showPath(path);
  if (layer.agents.has(name)) return [document.problem(path, `${key}: agent "${name}" is disabled`)];
  return [document.problem(path, `${key}: expected the name of an agent in agent_servers`, didYouMean(name, names))];
}

/** Checks host tools and MCP servers for duplicate names and invalid schemas. The casts rely on a layer that passed the schema. */
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

/** Layers are keyed by name, so a duplicate server in one file is visible only in the document. */
function duplicate({ document, path }: Placed): (Problem | undefined)[] {
  const listed = fields(document.value).mcp_servers;
  const all = Array.isArray(listed) ? listed : [];
  const index = Number(path[1]);
  const { name } = fields(all[index]);
  const first = all.findIndex((one) => fields(one).name === name);
  return first === index ? [] : [document.problem([...path, 'name'], `${showPath(path)}: another server has the same name`)];
}

// Invalid redaction patterns. The RE2 engine is too large to load at every start.
export async function badPatterns(documents: readonly Document[]): Promise<Problem[]> {
  const given = documents.flatMap((document) => {
    const { patterns } = fields(fields(fields(document.value).log).redact);
    const texts = Array.isArray(patterns) ? patterns : [];
    return texts.map((text: unknown, index) => ({ document, path: ['log', 'redact', 'patterns', index], text }));
  });
  if (given.length === 0) return [];
  const { compileUserPattern } = await import('../redaction/user-patterns.ts');
  return given.flatMap(({ document, path, text }) => {
    if (typeof text !== 'string') return []; // already reported by the schema
    try {
      compileUserPattern(text);
      return [];
    } catch (error) {
      return [
        document.problem(path, `log.redact.patterns[${path.at(-1)}]: expected a pattern in RE2 syntax (${(error as Error).message})`),
      ];
    }
  });
}
