// The directories that sessions may work in: those that the client gives as roots. A client without roots may use any directory.

import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fields } from '../../json-object.ts';
import { isInside } from '../../native-path.ts';
import { ToolFailure } from '../server/tool.ts';
import type { Question, Reply } from './open-requests.ts';

/** Asks the client; undefined if it has no roots. */
export type AskRoots = (question: Question) => Promise<Reply | undefined>;

/** The directory for a session. Throws if it is not absolute, not a directory that the client allows, or not there. */
export async function allowedDirectory(wanted: string | undefined, own: string, ask: AskRoots): Promise<string> {
  if (wanted !== undefined && !path.isAbsolute(wanted)) throw new ToolFailure(`cwd must be an absolute path; "${wanted}" is not`);
  const reply = await ask({ kind: 'roots' });
  if (reply === undefined) return wanted ?? own;
  const given = (Array.isArray(reply.roots) ? reply.roots : []).flatMap((root) => directoryOf(fields(root).uri) ?? []);
  // A client that gives no roots says nothing about directories, so only the one that the user started switchboard in is left.
  const roots = given.length > 0 ? given : [own];
  const real = await Promise.all(roots.map(realOr));
  const isAllowed = (directory: string) => real.some((root) => isInside(root, directory));
  if (wanted === undefined) return isAllowed(await realOr(own)) ? own : (roots[0] as string);
  if (isAllowed(await realOr(wanted))) return wanted;
  throw new ToolFailure(`"${wanted}" is outside the roots that the client allows: ${roots.join(', ')}`);
}

function directoryOf(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !uri.startsWith('file://')) return undefined;
  try {
    return path.normalize(fileURLToPath(uri));
  } catch {
    return undefined; // a root on another host
  }
}

/** Through links; as it is if it does not exist, which the agent reports. */
async function realOr(directory: string): Promise<string> {
  return realpath(directory).catch(() => path.resolve(directory));
}
