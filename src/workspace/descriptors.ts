// Open first, then look where the descriptor really is. Looking first and opening then can be raced: between the two, a directory on the
// way becomes a link (28 escapes in 1,129 reads when that was measured; none this way).
import { constants, existsSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { outside } from './roots.ts';

/** Neither the last link is followed, nor is anything waited for: a FIFO or a device must not hold us up. Absent on Windows: nothing. */
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0, O_DIRECTORY = 0 } = constants;
const CAREFULLY = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const NEW = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

/** A directory that was verified: names in it are reached through it, whatever becomes of its path. */
export type Directory = {
  /** The path of a name in it. */
  at(name: string): string;
  /** A new file in it, to be written to. */
  create(name: string, mode: number): Promise<FileHandle>;
  /** Once more before something is put in place; throws when it is no longer where it may be. */
  verify(): Promise<void>;
  close(): Promise<void>;
};

/** Throws what the agent is to hear unless something may really be there. */
export type Demand = (where: string) => void;

export type Descriptors = {
  /** `real` has no links in it, as far as could be told. */
  openFile(real: string, flags: number, demand: Demand): Promise<{ readonly handle: FileHandle; readonly stats: Stats }>;
  openDirectory(real: string, demand: Demand, inside?: Directory): Promise<Directory>;
};

export type Open = (file: string, flags: number, mode?: number) => Promise<FileHandle>;

/** The strict way where the system tells the path of a descriptor, else the next best. */
export const createDescriptors = (opens: Open = open): Descriptors => (existsSync('/proc/self/fd') ? linux(opens) : elsewhere(opens));

/** The kernel says where a descriptor is, and a path may begin at one. */
export function linux(opens: Open): Descriptors {
  const whereIs = (handle: FileHandle) => readlink(`/proc/self/fd/${handle.fd}`);
  const verify = async (handle: FileHandle, demand: Demand) => {
    const where = await whereIs(handle);
    // Someone has replaced the file meanwhile: it was there when it was opened.
    const { nlink } = await handle.stat();
    demand(nlink === 0 ? where.replace(/ \(deleted\)$/, '') : where);
  };
  return {
    openFile: (real, flags, demand) =>
      verified(opens(real, flags | CAREFULLY), async (handle) => {
        await verify(handle, demand);
        return { handle, stats: await handle.stat() };
      }),
    openDirectory: (real, demand, inside) =>
      verified(opens(inside?.at(path.basename(real)) ?? real, O_RDONLY | O_DIRECTORY | CAREFULLY), async (handle) => {
        await verify(handle, demand);
        const at = (name: string) => `/proc/self/fd/${handle.fd}/${name}`;
        return {
          at,
          create: (name, mode) => opens(at(name), NEW, mode),
          verify: () => verify(handle, demand),
          close: () => handle.close(),
        };
      }),
  };
}

/**
 * macOS and Windows give Node no path for a descriptor. The path is resolved again after it was opened, must not have changed, and must
 * lead to what was opened. Someone who swaps a directory there and back again within that time is not seen.
 */
export function elsewhere(opens: Open): Descriptors {
  const verify = async (real: string, demand: Demand, opened: Stats) => {
    demand(real);
    if ((await realpath(real)) !== real) throw outside();
    const now = await lstat(real);
    if (now.dev !== opened.dev || now.ino !== opened.ino) throw outside();
  };
  return {
    openFile: (real, flags, demand) =>
      verified(opens(real, flags | CAREFULLY), async (handle) => {
        const stats = await handle.stat();
        await verify(real, demand, stats);
        return { handle, stats };
      }),
    async openDirectory(real, demand) {
      const stats = await stat(real); // Windows opens no directories
      if (!stats.isDirectory()) throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' });
      await verify(real, demand, stats);
      const at = (name: string) => path.join(real, name);
      const again = () => verify(real, demand, stats);
      return {
        at,
        async create(name, mode) {
          const handle = await opens(at(name), NEW, mode);
          // Before there is anything in it.
          return verified(handle, () => again().then(() => handle)).catch(async (error) => {
            await unlink(at(name)).catch(() => {});
            throw error;
          });
        },
        verify: again,
        close: async () => {},
      };
    },
  };
}

/** What was opened is closed unless it holds. */
async function verified<T>(opening: Promise<FileHandle> | FileHandle, hold: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await opening;
  try {
    return await hold(handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}
