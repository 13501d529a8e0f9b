// Which paths a tool may name: those inside the session's roots, links followed. Who serves the file looks again when it opens it.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { type SessionHost, ToolFailure } from '../server/tool.ts';

const MAX_PATH_BYTES = 4096;

/** The absolute path meant by what an agent wrote. */
export async function inside(host: SessionHost, given: string): Promise<string> {
  if (given === '' || given.includes('\0') || Buffer.byteLength(given) > MAX_PATH_BYTES) throw new ToolFailure('the path is not usable');
  if (host.cwd === undefined && !path.isAbsolute(given)) throw new ToolFailure('the path must be absolute: this session has no directory');
  const target = path.resolve(host.cwd ?? '/', given);
  const isLexical = host.roots.some((root) => contains(path.resolve(root), target));
  const real = await nearestReal(target);
  const roots = await Promise.all(host.roots.map((root) => realpath(root).catch(() => undefined)));
  if (!isLexical || !roots.some((root) => root !== undefined && contains(root, real)))
    throw new ToolFailure(`the path is outside the session's directories (${host.roots.join(', ') || 'it has none'})`);
  return target;
}

/** By whole names: `/a/bc` is not inside `/a/b`. */
function contains(root: string, target: string): boolean {
  const relative = path.relative(root, target);
  return relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative));
}

/** Where the path leads; of one that does not exist yet, where what exists of it leads. */
async function nearestReal(target: string): Promise<string> {
  try {
    return await realpath(target);
  } catch {
    const parent = path.dirname(target);
    return parent === target ? target : path.join(await nearestReal(parent), path.basename(target));
  }
}
