// From the path an agent names to the real one that is then opened. Only a first sieve: what counts is where the descriptor turns out to be.
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { failure } from '../errors.ts';
import { canonicalPath } from './canonical.ts';
import { pathProblem } from './path-problem.ts';
import { holdTo, isNamedInside, outside, type Roots } from './roots.ts';

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
