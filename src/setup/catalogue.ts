// The agents that come with the package as data: config/agent-catalog.json, in the shape of the public registry.
import { readFileSync } from 'node:fs';

type Distribution = {
  readonly package: string;
  readonly bin?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

export type CatalogueAgent = {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  /** Whether it was started with this version before it was listed. */
  readonly checked: boolean;
  /** The Node it needs, as `>=22`. */
  readonly node?: string;
  readonly distribution: { readonly npx?: Distribution; readonly uvx?: Distribution };
  /** Packages it was known by before. */
  readonly replaces?: readonly string[];
  readonly renamedFlags?: Readonly<Record<string, string>>;
  readonly note?: string;
};

export type Catalogue = readonly CatalogueAgent[];

export function readCatalogue(file: string): Catalogue {
  return (JSON.parse(readFileSync(file, 'utf8')) as { agents: Catalogue }).agents;
}

/** The day it was put together. */
export function catalogueDate(file: string): string {
  return (JSON.parse(readFileSync(file, 'utf8')) as { date: string }).date;
}

/** `@scope/name@1.2.3` or `name==1.2.3`: the name alone. */
export function packageName(pinned: string): string {
  return pinned.replace(/(?<=.)(?:@|==).*$/, '');
}

/** The program an agent is started by, where the catalogue knows it. */
export function programOf({ distribution: { npx, uvx } }: CatalogueAgent): string | undefined {
  return npx ? npx.bin : (uvx?.bin ?? (uvx && packageName(uvx.package)));
}

/** The agent behind a registry id or a name an editor uses for it. */
export function findAgent(catalogue: Catalogue, name: string): CatalogueAgent | undefined {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[\s_-]+/g, '-')
      .replace(/-(?:acp|cli|code|agent)$/, '');
  return catalogue.find(({ id }) => id === name) ?? catalogue.find(({ id }) => plain(id) === plain(name));
}

/** Whether this Node is new enough for the agent. */
export function suitsNode({ node }: CatalogueAgent, version: string): boolean {
  const [, least] = /^>=(\d+)/.exec(node ?? '') ?? [];
  return least === undefined || Number.parseInt(version.replace(/^v/, ''), 10) >= Number(least);
}

/** The agent that a command starts, told by the name of its package or program. */
export function agentBehind(words: readonly string[], catalogue: Catalogue): CatalogueAgent | undefined {
  return catalogue.find(({ distribution: { npx }, replaces = [] }) => {
    const packages = [...(npx ? [packageName(npx.package)] : []), ...replaces];
    return words.some((word) => packages.includes(packageName(word)) || word.split(/[\\/]/).at(-1) === npx?.bin);
  });
}
