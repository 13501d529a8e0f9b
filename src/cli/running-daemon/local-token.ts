// The token with which this user's own programs reach the daemon. It is in a file that only the user can read, and never in arguments.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from '../../private-files.ts';
import { createToken, createTokenReader, revokeToken } from '../../store/tokens.ts';

const NAME = 'local-user';

export const localTokenFile = (stateDir: string): string => path.join(stateDir, 'daemon.token');

/** Creates the token if there is no valid one. */
export function localToken(stateDir: string): string {
  const file = localTokenFile(stateDir);
  const kept = read(file);
  if (kept !== undefined && createTokenReader(stateDir, Date.now).verify(kept)?.role === 'owner') return kept;
  revokeToken(stateDir, NAME);
  const token = createToken(stateDir, { name: NAME, role: 'owner', createdAt: new Date().toISOString(), expiresAt: undefined });
  // Another process has just made it.
  if (token === undefined) return read(file) ?? '';
  replaceFile(file, `${token}\n`);
  return token;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
