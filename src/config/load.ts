// Loads the configuration: find, check, merge, apply defaults. The entry point for the rest of the program.
import { fields } from '../json-object.ts';
import { badPatterns, check, checkTools } from './check.ts';
import { type Config, toConfig } from './config.ts';
import { discover, type Surroundings } from './discover.ts';
import { createKnownGood, type KnownGood, NOTHING_KNOWN } from './known-good.ts';
import { EMPTY_LAYER, enabledNames, type Layer, layerOf, merge } from './layer.ts';
import { ConfigError, type Document, type Problem, renderProblem } from './problems.ts';
import { resolveReferences } from './references.ts';
import { isTrusted } from './trust.ts';
import { pickUntrusted } from './untrusted.ts';
import type { Source } from './watch-files.ts';

export type LoadOptions = Surroundings & {
  readonly stateDir: string;
  /** The program version, for the cache of valid files. Without it, every file is validated. */
  readonly version?: string | undefined;
  /** The configuration is only shown, so an unresolved reference is a notice and not an error. */
  readonly isOnlyShown?: boolean | undefined;
  /** An agent or MCP server with an unresolved reference is unusable alone, an agent if there are others. Without this, the whole configuration is. */
  readonly isPerAgent?: boolean | undefined;
  /** The command names a bus, where there are agents that the configuration does not know. */
  readonly isOnBus?: boolean | undefined;
};

export type LoadedConfig = {
  readonly config: Config;
  /** The files in use; the last one takes precedence. */
  readonly files: readonly string[];
  /** Messages for the user about ignored parts. */
  readonly notices: readonly string[];
  /** Where the agents come from. `project`: includes a trusted project file. `none`: no agents, so the demo agents may be used. */
  readonly origin: 'flag' | 'env' | 'user' | 'project' | 'none';
  /** The merged values as written, and the fully trusted files, to find the origin of a value. */
  readonly layer: Layer;
  readonly documents: readonly Document[];
  /** The agents that cannot be used, and why. */
  readonly unresolved: ReadonlyMap<string, readonly Problem[]>;
  /** Entries of `mcp_servers` that are left out; a notice names each. */
  readonly serversLeftOut: number;
};

/** Finds, reads and checks the configuration. Throws a ConfigError with all problems. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { stateDir, version } = options;
  const known = version === undefined ? NOTHING_KNOWN : createKnownGood(stateDir, version);
  try {
    const loaded = await load(options, known);
    // Valid files may refer to missing things. Only the strict parser knows the positions, so parse again.
    return loaded.unresolved.size + loaded.serversLeftOut > 0 && known !== NOTHING_KNOWN ? await load(options, NOTHING_KNOWN) : loaded;
  } catch (error) {
    // Valid files may also conflict.
    if (known === NOTHING_KNOWN || !(error instanceof ConfigError)) throw error;
    return load(options, NOTHING_KNOWN);
  }
}

async function load(options: LoadOptions, known: KnownGood): Promise<LoadedConfig> {
  const found = await discover(options);
  const notices = [...found.notices];
  const trusted = found.project !== undefined && (await isTrusted(options.stateDir, found.project.text));
  const sources = [found.own, trusted ? found.project : undefined].filter((source) => source !== undefined);
  const { documents, problems } = await readDocuments(sources, known);
  const files = documents.map(({ file }) => file);
  let layer = documents.map(layerOf).reduce(merge, EMPTY_LAYER);

  if (found.project && !trusted) {
    const { parseDocument } = await import('./parse.ts');
    const picked = pickUntrusted(parseDocument(found.project.file, found.project.text), enabledNames(layer));
    notices.push(...picked.notices);
    layer = merge(layer, picked.layer);
    if (picked.layer.defaultAgent || picked.layer.routes.length > 0 || picked.layer.policies.length > 0) files.push(found.project.file);
  }

  const [main] = documents;
  const project = found.project && { file: found.project.file, isTrusted: trusted };
  if (!main) {
    const { policies } = layer;
    return {
      config: toConfig({ ...EMPTY_LAYER, policies }, new Map(), [], project),
      files,
      notices,
      origin: 'none',
      layer,
      documents,
      unresolved: NONE,
      serversLeftOut: 0,
    };
  }
  const agents = await resolveAgents(layer, options.env);
  const servers = await resolveServers(layer, options.env);
  const telemetry = await resolveTelemetry(layer, options.env);
  // These checks rely on types that the schema has verified.
  const ofTools = problems.length > 0 ? [] : await checkTools(layer);
  const isOthersUsable = options.isPerAgent === true && agents.unresolved.size < agents.resolved.size;
  const ofAgents = [...agents.unresolved.values()].flat();
  const leftOut = options.isPerAgent && !options.isOnlyShown ? servers.unresolved : NONE;
  for (const [name, [problem]] of leftOut)
    if (problem) notices.push(`MCP server "${name}" is left out, and agents do not get its tools: ${renderProblem(problem)}`);
  const isUnsent = options.isPerAgent === true && telemetry.problems.length > 0;
  for (const problem of isUnsent ? telemetry.problems : []) notices.push(`telemetry is not sent: ${renderProblem(problem)}`);
  const dangling = [
    ...(isOthersUsable ? [] : ofAgents),
    ...(leftOut.size > 0 ? [] : [...servers.unresolved.values()].flat()),
    ...(isUnsent ? [] : telemetry.problems),
  ];
  if (options.isOnlyShown) notices.push(...dangling.map(renderProblem));
  const refused = options.isOnlyShown ? [] : dangling;
  const all = [
    ...problems,
    ...check(options.isOnBus ? { ...layer, bus: layer.bus ?? true } : layer, main),
    ...refused,
    ...ofTools,
    ...(await badPatterns(documents)),
  ];
  if (all.length > 0) throw new ConfigError(inReadingOrder(all, files));
  const origin = found.origin !== 'search' ? found.origin : trusted ? 'project' : 'user';
  const { unresolved } = agents;
  const config = withUnusable(
    toConfig(
      layer,
      agents.resolved,
      servers.resolved.flatMap(([name, one]) => (leftOut.has(name) ? [] : [one])),
      project,
      telemetry.options,
    ),
    isOthersUsable ? unresolved : NONE,
  );
  return { config, files, notices, origin, layer, documents, unresolved, serversLeftOut: leftOut.size };
}

const NONE: ReadonlyMap<string, readonly Problem[]> = new Map();

function withUnusable(config: Config, unresolved: ReadonlyMap<string, readonly Problem[]>): Config {
  if (unresolved.size === 0) return config;
  const agents = config.agents.map((agent) => {
    const [problem] = unresolved.get(agent.name) ?? [];
    return problem ? { ...agent, unusable: { why: problem.message, next: `See ${problem.file}:${problem.line}` } } : agent;
  });
  return { ...config, agents };
}

async function readDocuments(sources: readonly Source[], known: KnownGood): Promise<{ documents: Document[]; problems: Problem[] }> {
  const good = sources.map(known.read).filter((document) => document !== undefined);
  if (good.length === sources.length) return { documents: good, problems: [] };
  // Loaded lazily: these modules pull in a parser and zod.
  const { parseDocument } = await import('./parse.ts');
  const documents = sources.map(({ file, text }) => parseDocument(file, text));
  const broken = documents.flatMap(({ problems }) => problems);
  // After a syntax error, further problems are guesses.
  if (broken.length > 0) throw new ConfigError(broken);
  const { validate } = await import('./validate.ts');
  const problems = documents.flatMap(validate);
  if (problems.length === 0) known.remember(sources, documents);
  return { documents, problems };
}

async function resolveAgents(
  layer: Layer,
  env: NodeJS.ProcessEnv,
): Promise<{ resolved: Map<string, unknown>; unresolved: Map<string, readonly Problem[]> }> {
  const resolved = new Map<string, unknown>();
  const unresolved = new Map<string, readonly Problem[]>();
  for (const name of enabledNames(layer)) {
    const agent = layer.agents.get(name);
    if (!agent) continue;
    const result = await resolveReferences(agent, env);
    resolved.set(name, result.options);
    if (result.problems.length > 0) unresolved.set(name, result.problems);
  }
  return { resolved, unresolved };
}

async function resolveServers(
  layer: Layer,
  env: NodeJS.ProcessEnv,
): Promise<{ resolved: (readonly [name: string, options: unknown])[]; unresolved: Map<string, readonly Problem[]> }> {
  const results = await Promise.all(
    [...layer.mcpServers].map(async ([name, server]) => [name, await resolveReferences(server, env)] as const),
  );
  return {
    resolved: results.map(([name, { options }]) => [name, options] as const),
    unresolved: new Map(results.flatMap(([name, { problems }]) => (problems.length > 0 ? [[name, problems] as const] : []))),
  };
}

/** With a reference that cannot be resolved, nothing is sent: a collector of the environment is not the one that is meant. */
async function resolveTelemetry({ telemetry }: Layer, env: NodeJS.ProcessEnv): Promise<{ options: unknown; problems: readonly Problem[] }> {
  const { traces, ...others } = fields(telemetry?.value);
  if (!telemetry || traces === undefined) return { options: others, problems: [] };
  const { options, problems } = await resolveReferences({ ...telemetry, path: [...telemetry.path, 'traces'], value: traces }, env);
  return { options: problems.length > 0 ? { ...others, isUnsent: true } : { ...others, traces: options }, problems };
}

function inReadingOrder(problems: readonly Problem[], files: readonly string[]): Problem[] {
  return problems.toSorted((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column);
}
