// The registry as a command uses it: fetched, else from the cache, else the list that came with switchboard; and which agent an id means.
import { type Catalogue, type CatalogueAgent, packageName } from '../../../agents/catalogue.ts';
import { bundledCatalogue, bundledDate } from '../../../app/package-files.ts';
import { didYouMean } from '../../../policy/format/nearest.ts';
import { createIndexCache } from '../../../registry/index-cache.ts';
import type { Plan } from '../../../registry/plan.ts';
import { RegistryError } from '../../../registry/registry-error.ts';
import type { RegistryAgent, RegistryIndex } from '../../../registry/schema.ts';
import { CommandFailure } from '../../failure.ts';

/** The public registry of the protocol. */
export const PUBLIC_REGISTRY = 'https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json';

export type RegistryFlags = { readonly offline?: boolean };

export type Registry = RegistryIndex & {
  readonly url: string;
  /** `bundled`: the catalogue that came with switchboard. */
  readonly from: 'fetched' | 'cached' | 'bundled';
  readonly at: Date;
  /** The user has named this registry: only what it lists may be installed. */
  readonly isChosen: boolean;
  readonly warnings: readonly string[];
};

export async function openRegistry(chosen: string | undefined, stateDir: string, { offline = false }: RegistryFlags): Promise<Registry> {
  const url = chosen ?? PUBLIC_REGISTRY;
  const isChosen = chosen !== undefined;
  const cache = createIndexCache(stateDir, url);
  const withoutNetwork = (why: string, next: string): Registry => {
    const known = cache.cached();
    if (known) return { ...known, isChosen, warnings: [`${why}; using the list of ${ageOf(known.at)}`] };
    if (isChosen) throw new CommandFailure(1, `${why}, and there is no earlier copy of ${url}`, next);
    const at = new Date(bundledDate());
    const warnings = [`${why}; using the list that came with switchboard, of ${ageOf(at)}`];
    return { url, from: 'bundled', at, isChosen, agents: bundledCatalogue().map(asEntry), skipped: [], warnings };
  };
  if (offline) return withoutNetwork('offline', 'try again without --offline');
  try {
    return { ...(await cache.fresh()), isChosen, warnings: [] };
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return withoutNetwork(error.message, error.next);
  }
}

const DAY_MS = 86_400_000;

function ageOf(at: Date): string {
  const days = Math.floor((Date.now() - at.getTime()) / DAY_MS);
  return `${at.toISOString().slice(0, 10)}${days > 0 ? ` (${days} day${days === 1 ? '' : 's'} old)` : ''}`;
}

function asEntry({ id, name, version, distribution: { npx, uvx } }: CatalogueAgent): RegistryAgent {
  const part = (one: typeof npx) => one && { package: one.package, args: [...(one.args ?? [])], env: { ...one.env } };
  return { id, name, version, distribution: { npx: part(npx), uvx: part(uvx) } };
}

/** By its id; or by the catalogue's, if the registry has the same package under another id. */
export function findEntry(registry: Registry, id: string): RegistryAgent {
  const listed = registry.agents.find((agent) => agent.id === id);
  if (listed) return listed;
  const broken = registry.skipped.find((one) => one.id === id);
  if (broken) throw new CommandFailure(4, `the registry's entry of "${id}" cannot be used: ${broken.why}`, 'report this to the registry');
  const catalogue = bundledCatalogue();
  const known = catalogue.find((agent) => agent.id === id);
  if (known) {
    const same = registry.agents.find(({ distribution }) => distribution.npx && isPackageOf(known, packageName(distribution.npx.package)));
    if (same) return same;
    if (!registry.isChosen) return asEntry(known);
  }
  const ids = [...new Set([...registry.agents.map((agent) => agent.id), ...(registry.isChosen ? [] : catalogue.map((agent) => agent.id))])];
  const hint = [
    didYouMean(id, ids),
    'to find one: switchboard agents search. For any other agent: switchboard agents add NAME --command PROGRAM -- ARGS',
  ];
  const where = registry.isChosen ? `the registry ${registry.url}` : 'the registry';
  throw new CommandFailure(4, `${where} has no agent "${id}"`, hint.filter((part) => part !== undefined).join('; '));
}

/** What the catalogue knows about the agent of a plan: by its package, else by its program or id. */
export function knownFor({ id, source }: Plan): CatalogueAgent | undefined {
  const catalogue: Catalogue = bundledCatalogue();
  if (source.kind === 'npx') return catalogue.find((agent) => isPackageOf(agent, source.package));
  const program =
    source.kind === 'binary'
      ? source.program
          .split('/')
          .at(-1)
          ?.replace(/\.exe$/, '')
      : undefined;
  return (
    catalogue.find(({ distribution: { npx } }) => program !== undefined && npx?.bin === program) ??
    catalogue.find((agent) => agent.id === id)
  );
}

function isPackageOf({ distribution: { npx }, replaces = [] }: CatalogueAgent, name: string): boolean {
  return (npx !== undefined && packageName(npx.package) === name) || replaces.includes(name);
}
