// Loads the configuration: find, check, merge, apply defaults. The entry point for the rest of the program.
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
};

/** Finds, reads and checks the configuration. Throws a ConfigError with all problems. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { stateDir, version } = options;
  const known = version === undefined ? NOTHING_KNOWN : createKnownGood(stateDir, version);
  try {
    return await load(options, known);
  } catch (error) {
    // Valid files may conflict or refer to missing things. Only the strict parser knows the positions, so parse again.
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
    return { config: toConfig({ ...EMPTY_LAYER, policies }, new Map(), [], project), files, notices, origin: 'none', layer, documents };
  }
  const agents = await resolveAgents(layer, options.env);
  const servers = await resolveServers(layer, options.env);
  // These checks rely on types that the schema has verified.
  const ofTools = problems.length > 0 ? [] : await checkTools(layer);
  const dangling = [...agents.problems, ...servers.problems];
  if (options.isOnlyShown) notices.push(...dangling.map(renderProblem));
  const refused = options.isOnlyShown ? [] : dangling;
  const all = [...problems, ...check(layer, main), ...refused, ...ofTools, ...(await badPatterns(documents))];
  if (all.length > 0) throw new ConfigError(inReadingOrder(all, files));
  const origin = found.origin !== 'search' ? found.origin : trusted ? 'project' : 'user';
  return { config: toConfig(layer, agents.resolved, servers.resolved, project), files, notices, origin, layer, documents };
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

async function resolveAgents(layer: Layer, env: NodeJS.ProcessEnv): Promise<{ resolved: Map<string, unknown>; problems: Problem[] }> {
  const resolved = new Map<string, unknown>();
  const problems: Problem[] = [];
  for (const name of enabledNames(layer)) {
    const agent = layer.agents.get(name);
    if (!agent) continue;
    const result = await resolveReferences(agent, env);
    resolved.set(name, result.options);
    problems.push(...result.problems);
  }
  return { resolved, problems };
}

async function resolveServers(layer: Layer, env: NodeJS.ProcessEnv): Promise<{ resolved: unknown[]; problems: Problem[] }> {
  const results = await Promise.all([...layer.mcpServers.values()].map((server) => resolveReferences(server, env)));
  return { resolved: results.map(({ options }) => options), problems: results.flatMap(({ problems }) => [...problems]) };
}

function inReadingOrder(problems: readonly Problem[], files: readonly string[]): Problem[] {
  return problems.toSorted((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column);
}
