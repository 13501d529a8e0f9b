// The bundled agent catalogue, config/agent-catalog.json, in the format of the public registry.
import { readFileSync } from 'node:fs';
import type { Asking } from './asking.ts';

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
  /** Whether this version was tested with switchboard. */
  readonly checked: boolean;
  /** The required Node version, such as `>=22`. */
  readonly node?: string;
  readonly distribution: { readonly npx?: Distribution; readonly uvx?: Distribution };
  /** Former package names. */
  readonly replaces?: readonly string[];
  readonly renamedFlags?: Readonly<Record<string, string>>;
  readonly note?: string;
  /** It creates a file only if the client answers `fs/read_text_file` of a missing one with no text instead of an error. */
  readonly readsMissingFiles?: boolean;
  /** What it needs in a sandbox. Paths begin with `~`, may contain `${VARIABLE:-default}`, and end with `/` if they are directories. */
  readonly sandbox?: { readonly state: readonly string[]; readonly protect?: readonly string[]; readonly hosts?: readonly string[] };
  /** When it asks for permission. */
  readonly asks?: Asking;
};

export type Catalogue = readonly CatalogueAgent[];

export function readCatalogue(file: string): Catalogue {
  return (JSON.parse(readFileSync(file, 'utf8')) as { agents: Catalogue }).agents;
}

/** The date of the catalogue. */
export function catalogueDate(file: string): string {
  return (JSON.parse(readFileSync(file, 'utf8')) as { date: string }).date;
}

/** The package name in `@scope/name@1.2.3` or `name==1.2.3`. */
export function packageName(pinned: string): string {
  return pinned.replace(/(?<=.)(?:@|==).*$/, '');
}

/** The program that starts an agent, if the catalogue knows it. */
export function programOf({ distribution: { npx, uvx } }: CatalogueAgent): string | undefined {
  return npx ? npx.bin : (uvx?.bin ?? (uvx && packageName(uvx.package)));
}

/** Finds an agent by its registry id or by a name that editors use. */
export function findAgent(catalogue: Catalogue, name: string): CatalogueAgent | undefined {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/[\s_-]+/g, '-')
      .replace(/-(?:acp|cli|code|agent)$/, '');
  return catalogue.find(({ id }) => id === name) ?? catalogue.find(({ id }) => plain(id) === plain(name));
}

/** Whether this Node version is new enough for the agent. */
export function suitsNode({ node }: CatalogueAgent, version: string): boolean {
  const [, least] = /^>=(\d+)/.exec(node ?? '') ?? [];
  return least === undefined || Number.parseInt(version.replace(/^v/, ''), 10) >= Number(least);
}

/** Finds the agent that a command starts, by its package or program name. */
export function agentBehind(words: readonly string[], catalogue: Catalogue): CatalogueAgent | undefined {
  return catalogue.find(({ distribution: { npx }, replaces = [] }) => {
    const packages = [...(npx ? [packageName(npx.package)] : []), ...replaces];
    return words.some((word) => packages.includes(packageName(word)) || word.split(/[\\/]/).at(-1) === npx?.bin);
  });
}
