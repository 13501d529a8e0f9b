// Where the shim finds us: a socket nobody but the user can reach, in a directory of its own (a named pipe on Windows).
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isAlive } from '../../processes/process-table.ts';

/** What a socket's path may have at most, on the platform that takes the least. */
const MAX_PATH = 100;
const PREFIX = 'switchboard-mcp-';

export type PrivatePlace = { readonly address: string; remove(): void };

export function makePrivatePlace(): PrivatePlace {
  if (process.platform === 'win32')
    return { address: `\\\\.\\pipe\\${PREFIX}${process.pid}-${randomBytes(16).toString('hex')}`, remove: () => {} };
  const roomy = path.join(os.tmpdir(), `${PREFIX}${process.pid}-XXXXXX`, 'mcp.sock').length <= MAX_PATH;
  const parent = roomy ? os.tmpdir() : '/tmp';
  removeLeftovers(parent);
  const dir = mkdtempSync(path.join(parent, `${PREFIX}${process.pid}-`)); // made with mode 0700
  const address = path.join(dir, 'mcp.sock');
  const remove = () => {
    process.off('exit', remove);
    try {
      // Nothing else is in there, and to look for more would take a descriptor, of which none may be free.
      rmSync(address, { force: true });
      rmdirSync(dir);
    } catch {
      // Gone already, or for the next process to remove.
    }
  };
  process.on('exit', remove);
  return { address, remove };
}

/** Of a proxy that was killed. Whoever has its pid now may be another program: then it stays, and the next one sees to it. */
function removeLeftovers(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      const pid = Number(new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]);
      const place = path.join(parent, name);
      if (pid > 0 && !isAlive(pid) && isOurs(place)) rmSync(place, { recursive: true, force: true });
    }
  } catch {
    // Gone already.
  }
}

/** Anybody may make a directory of such a name, and change what is in it while it is being removed. */
function isOurs(place: string): boolean {
  const stat = lstatSync(place);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
}
