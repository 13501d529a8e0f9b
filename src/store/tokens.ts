// Access tokens for network clients: one file per token, which holds its hash and never the token itself. A file is created or deleted whole, so
// a running daemon sees a new or revoked token without a lock.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fields } from '../json-object.ts';
import { makeDirectory } from '../private-files.ts';

/** What the holder of a token may do; docs/daemon.md has the list. */
export const ROLES = ['owner', 'client', 'observer', 'metrics'] as const;
export type Role = (typeof ROLES)[number];

export type Token = {
  /** Also the principal that its sessions belong to. */
  readonly name: string;
  readonly role: Role;
  readonly createdAt: string;
  readonly expiresAt: string | undefined;
};

type StoredToken = Token & { readonly hash: Buffer };

/** A name is a file name, and part of messages. */
export const TOKEN_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
const PREFIX = 'swb_';

const tokensDir = (stateDir: string): string => path.join(stateDir, 'tokens');
const fileOf = (stateDir: string, name: string): string => path.join(tokensDir(stateDir), `${name}.json`);
const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Returns the token, which is stored nowhere. Undefined if there is a token of that name. */
export function createToken(stateDir: string, { name, role, createdAt, expiresAt }: Token): string | undefined {
  const token = `${PREFIX}${randomBytes(32).toString('base64url')}`;
  makeDirectory(tokensDir(stateDir));
  const stored = { role, createdAt, ...(expiresAt !== undefined && { expiresAt }), sha256: digest(token).toString('hex') };
  try {
    writeFileSync(fileOf(stateDir, name), `${JSON.stringify(stored)}\n`, { mode: 0o600, flag: 'wx' });
    return token;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}

/** False if there is no token of that name. */
export function revokeToken(stateDir: string, name: string): boolean {
  if (!TOKEN_NAME.test(name)) return false;
  try {
    rmSync(fileOf(stateDir, name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** By name. A file that is not a token is left out: it admits nobody. */
export function listTokens(stateDir: string): readonly Token[] {
  return readTokens(stateDir).map(({ hash: _, ...token }) => token);
}

export type TokenReader = {
  /** The token that was presented, if it is known and has not expired. Takes the same time for every wrong one. */
  verify(presented: string): Token | undefined;
  /** Whether a token that was valid still is. */
  isValid(token: Token): boolean;
};

/**
 * A directory that changed this recently is read each time: its timestamp has the resolution of the kernel's clock, and a new file has no content
 * at first.
 */
const SETTLED_MS = 2000;

/** Reads the directory again when it has changed. */
export function createTokenReader(stateDir: string, now: () => number): TokenReader {
  let seen = '';
  let tokens: readonly StoredToken[] = [];
  function current(): readonly StoredToken[] {
    const about = statSync(tokensDir(stateDir), { throwIfNoEntry: false, bigint: true });
    const stamp = about ? `${about.mtimeNs}:${about.ino}` : '';
    if (stamp !== seen) tokens = readTokens(stateDir);
    seen = about && now() - Number(about.mtimeMs) < SETTLED_MS ? '' : stamp;
    return tokens;
  }
  const isCurrent = ({ expiresAt }: Token): boolean => expiresAt === undefined || Date.parse(expiresAt) > now();
  return {
    verify(presented) {
      const given = digest(presented);
      let found: StoredToken | undefined;
      for (const token of current()) if (timingSafeEqual(token.hash, given)) found = token;
      return found && isCurrent(found) ? found : undefined;
    },
    isValid: ({ name, createdAt }) => current().some((token) => token.name === name && token.createdAt === createdAt && isCurrent(token)),
  };
}

function readTokens(stateDir: string): readonly StoredToken[] {
  let names: string[];
  try {
    names = readdirSync(tokensDir(stateDir)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names.flatMap((file) => {
    const name = file.replace(/\.json$/, '');
    if (name === file || !TOKEN_NAME.test(name)) return [];
    const token = readToken(name, path.join(tokensDir(stateDir), file));
    return token ? [token] : [];
  });
}

function readToken(name: string, file: string): StoredToken | undefined {
  try {
    const { role, createdAt, expiresAt, sha256 } = fields(JSON.parse(readFileSync(file, 'utf8')));
    const hash = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? Buffer.from(sha256, 'hex') : undefined;
    const known = ROLES.find((one) => one === role);
    // An expiry that cannot be read must not count as none.
    const isDated = expiresAt === undefined || (typeof expiresAt === 'string' && !Number.isNaN(Date.parse(expiresAt)));
    if (!hash || !known || !isDated || typeof createdAt !== 'string') return undefined;
    return { name, role: known, createdAt, expiresAt: expiresAt as string | undefined, hash };
  } catch {
    return undefined;
  }
}
