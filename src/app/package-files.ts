// Files of the package. The bundle is in dist/, the source some folders deep; both inside the package. The single executable carries the files.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Catalogue, catalogueDate, readCatalogue } from '../agents/catalogue.ts';

/** Puts a file or directory of the single executable on the disk, and returns its path. */
type Unpack = (...parts: readonly string[]) => string;
let unpack: Unpack | undefined;

/** The single executable calls this before anything else. */
export function useEmbeddedFiles(from: Unpack): void {
  unpack = from;
}

export const isSingleExecutable = (): boolean => unpack !== undefined;

/** The path of a file of the package, such as `config/agent-catalog.json`. */
export function packageFile(...parts: readonly string[]): string {
  if (unpack) return unpack(...parts);
  const start = path.dirname(fileURLToPath(import.meta.url));
  for (let folder = start; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const file = path.join(folder, ...parts);
    if (existsSync(file)) return file;
  }
  return path.join(start, '..', ...parts);
}

/** How another process starts this program: with absolute paths. */
export function ownCommand(...words: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: unpack ? words : [packageFile('bin', 'switchboard.js'), ...words] };
}

/** The first argument of `process.execPath` that runs the demo agents. The single executable knows its scripts by name. */
export const demoScript = (): string => (unpack ? 'demo-agent' : packageFile('dist', 'demo-agent.js'));

/** The same for the bridge of the sandbox, which mounts this file: the single executable takes its own path for it. */
export const bridgeScript = (): string => (unpack ? process.execPath : packageFile('dist', 'sandbox-bridge.js'));

/** From package.json; the build inserts it. */
export const VERSION: string = process.env.SWITCHBOARD_VERSION ?? '0.0.0';

/** The agents that this version knows. */
export const bundledCatalogue = (): Catalogue => readCatalogue(packageFile('config', 'agent-catalog.json'));

/** When they were last checked. */
export const bundledDate = (): string => catalogueDate(packageFile('config', 'agent-catalog.json'));
