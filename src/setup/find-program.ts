// Finds the file of a command, like a shell does.
import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { platformOf } from '../platform/platform.ts';

export type Around = { readonly env: NodeJS.ProcessEnv; readonly platform: NodeJS.Platform };

/** The absolute path of a program, or undefined if it is not on `PATH`. */
export function findProgram(command: string, { env, platform }: Around): string | undefined {
  const { path: rules, programEndings, hasModes } = platformOf(platform);
  const isPath = command.includes('/') || command.includes(rules.sep);
  const folders = isPath ? [''] : (env.PATH ?? env.Path ?? '').split(rules.delimiter).filter((folder) => folder !== '');
  for (const folder of folders)
    for (const ending of programEndings(env, command)) {
      const file = path.resolve(folder, command + ending);
      if (isProgram(file, hasModes)) return file;
    }
  return undefined;
}

function isProgram(file: string, hasModes: boolean): boolean {
  try {
    if (!statSync(file).isFile()) return false;
    if (hasModes) accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether the file is a Node script, which needs `node` on the `PATH`. */
export function isNodeScript(file: string): boolean {
  try {
    return /^#!.*\bnode\b/.test(readFileSync(file, 'latin1').slice(0, 200).split('\n', 1)[0] ?? '');
  } catch {
    return false;
  }
}

/** The installed npm package that contains a file; follows links. */
export function packageOf(file: string): { readonly name: string; readonly version: string } | undefined {
  try {
    const real = realpathSync(file);
    // Outside node_modules, a package.json further up has nothing to do with the program.
    if (!real.split(path.sep).includes('node_modules')) return undefined;
    for (let folder = path.dirname(real); folder !== path.dirname(folder); folder = path.dirname(folder)) {
      const found = readPackage(folder);
      if (found?.name !== undefined && found.version !== undefined) return { name: found.name, version: found.version };
    }
  } catch {
    // no such file
  }
  return undefined;
}

type Package = {
  readonly engines?: { readonly node?: string };
  readonly name?: string;
  readonly version?: string;
  readonly bin?: string | Readonly<Record<string, string>>;
};

export function readPackage(folder: string): Package | undefined {
  try {
    return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  } catch {
    return undefined;
  }
}
