// Files of the package. The bundle is in dist/, the source some folders deep; both inside the package.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Catalogue, catalogueDate, readCatalogue } from '../agents/catalogue.ts';

/** The path of a file of the package, such as `config/agent-catalog.json`. */
export function packageFile(...parts: readonly string[]): string {
  const start = path.dirname(fileURLToPath(import.meta.url));
  for (let folder = start; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const file = path.join(folder, ...parts);
    if (existsSync(file)) return file;
  }
  return path.join(start, '..', ...parts);
}

/** From package.json; the build inserts it. */
export const VERSION: string = process.env.SWITCHBOARD_VERSION ?? '0.0.0';

/** The agents that this version knows. */
export const bundledCatalogue = (): Catalogue => readCatalogue(packageFile('config', 'agent-catalog.json'));

/** When they were last checked. */
export const bundledDate = (): string => catalogueDate(packageFile('config', 'agent-catalog.json'));
