// From the path an agent names to the real one that is then opened. Only a first sieve: what counts is where the descriptor turns out to be.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { failure } from '../errors.ts';
import { canonicalPath } from './canonical.ts';
import { holdTo, isNamedInside, outside, type Roots } from './roots.ts';

// Paths that are refused for what they are, before anything looks at the disk.
/** In bytes: what systems take at most. */
const MAX_PATH = 4096;
const MAX_NAME = 255;

/** What is wrong with a path; undefined when it can be looked for. */
export function pathProblem(file: unknown, platform: NodeJS.Platform = process.platform): string | undefined {
  if (typeof file !== 'string') return 'path must be a string';
  if (file.includes('\0')) return 'path holds a NUL character';
  if (/\p{Surrogate}/u.test(file)) return 'path holds half a character';
  const { isAbsolute, sep } = platform === 'win32' ? path.win32 : path.posix;
  if (!isAbsolute(file)) return 'path must be absolute, and a path instead of a URI';
  if (Buffer.byteLength(file) > MAX_PATH) return `path is longer than ${MAX_PATH} bytes`;
  const names = platform === 'win32' ? file.split(/[\\/]/) : file.split(sep);
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME)) return `path has a name longer than ${MAX_NAME} bytes`;
  return platform === 'win32' ? windowsProblem(file, names) : undefined;
}

const RESERVED = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Windows reads some names as other things than files of that name. */
function windowsProblem(file: string, names: readonly string[]): string | undefined {
  if (/^[\\/]{2}/.test(file)) return 'path must begin with a drive: shares and devices are not served';
  if (!/^[A-Za-z]:[\\/]/.test(file)) return 'path must begin with a drive';
  const inner = names.slice(1).filter((name) => name !== '' && name !== '.' && name !== '..');
  if (inner.some((name) => name.includes(':'))) return 'path names a stream of a file';
  if (inner.some((name) => /[ .]$/.test(name))) return 'path has a name that ends in a dot or a space';
  if (inner.some((name) => RESERVED.test(name.trimEnd()))) return 'path has a name that stands for a device';
  return undefined;
}

/** Throws what the agent is to hear when the path does not lead into the roots. */
export async function resolveInside(method: string, file: unknown, roots: Roots, judged?: string): Promise<string> {
  const problem = pathProblem(file);
  if (problem !== undefined) throw failure('PARAMS', [method, problem]);
  // `..` by name, as policy reads it: what was judged is what is opened.
  const named = path.resolve(file as string);
  if (!isNamedInside(roots, named)) throw outside();
  const real = await realPath(named);
  // The same words whether or not there is something: outside is none of the agent's business.
  holdTo(roots, judged)(real);
  return real;
}

async function realPath(named: string): Promise<string> {
  try {
    return await realpath(named);
  } catch {
    return canonicalPath(named);
  }
}
