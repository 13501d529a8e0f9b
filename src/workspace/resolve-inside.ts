// From the path an agent names to the real path that is then opened. Only a first filter: the descriptor's real path decides.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { failure } from '../errors.ts';
import { platformOf } from '../platform/platform.ts';
import { canonicalPath } from './canonical.ts';
import { holdTo, isNamedInside, outside, type Roots } from './roots.ts';

// Limit of common systems, in bytes.
const MAX_PATH = 4096;
const MAX_NAME = 255;

/** What is wrong with a path, before any disk access; undefined if nothing. */
export function pathProblem(file: unknown, platform: NodeJS.Platform = process.platform): string | undefined {
  if (typeof file !== 'string') return 'path must be a string';
  if (file.includes('\0')) return 'path holds a NUL character';
  if (/\p{Surrogate}/u.test(file)) return 'path holds half a character';
  const { path: rules, fileProblem } = platformOf(platform);
  if (!rules.isAbsolute(file)) return 'path must be absolute, and a path instead of a URI';
  if (Buffer.byteLength(file) > MAX_PATH) return `path is longer than ${MAX_PATH} bytes`;
  if (file.split(rules.sep === '/' ? '/' : /[\\/]/).some((name) => Buffer.byteLength(name) > MAX_NAME))
    return `path has a name longer than ${MAX_NAME} bytes`;
  return fileProblem(file);
}

/** Throws the error for the agent if the path leads outside the roots. */
export async function resolveInside(method: string, file: unknown, roots: Roots, evaluatedPath?: string): Promise<string> {
  const problem = pathProblem(file);
  if (problem !== undefined) throw failure('PARAMS', [method, problem]);
  // Resolves `..` as text, as the policy does: the opened path must be the evaluated one.
  const named = path.resolve(file as string);
  if (!isNamedInside(roots, named)) throw outside();
  const real = await realPath(named);
  // The same message whether or not the file exists: the agent learns nothing about files outside.
  holdTo(roots, evaluatedPath)(real);
  return real;
}

async function realPath(named: string): Promise<string> {
  try {
    return await realpath(named);
  } catch {
    return canonicalPath(named);
  }
}
