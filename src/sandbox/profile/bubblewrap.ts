// A profile as the arguments of bubblewrap.
import path from 'node:path/posix';
import { RUNTIME_DIRECTORY, VISIBLE_IN_RUNTIME } from './defaults.ts';
import { isWithin, type Place, type Profile } from './profile.ts';

export type BubblewrapInput = {
  /** Root keeps its rights inside: it becomes another user there. */
  readonly isRoot: boolean;
  /** In a namespace in which an ordinary user is root: the user to become again. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** The descriptor of the seccomp filter. */
  readonly seccomp: number | undefined;
  /** Of `VISIBLE_IN_RUNTIME`. */
  readonly existing: (path: string) => boolean;
};

/** The user that root becomes. Programs that start their own sandbox refuse to run as root in a user namespace. */
const INNER_USER = '1000';

/** Settings and triggers of the kernel. They belong to root by user id, and dropping capabilities does not take that away. */
const KERNEL_FILES = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/acpi', '/proc/scsi', '/proc/fs', '/proc/mtrr'];

export function bubblewrapArgs(profile: Profile, { isRoot, user, seccomp, existing }: BubblewrapInput): string[] {
  const inner = isRoot ? [INNER_USER, INNER_USER] : user && [String(user.uid), String(user.gid)];
  return [
    // Nested user namespaces stay possible: agents start sandboxes of their own. No new session: the process must stay in our group.
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--die-with-parent'],
    ...['--cap-drop', 'ALL', ...(inner ? ['--uid', inner[0] ?? '', '--gid', inner[1] ?? ''] : [])],
    ...(profile.network === 'open' ? [] : ['--unshare-net']),
    ...(seccomp === undefined ? [] : ['--seccomp', String(seccomp)]),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...KERNEL_FILES.filter(existing).flatMap((file) => ['--ro-bind', file, file]),
    ...mountArgs(profile, existing),
    ...['--chdir', profile.cwd],
  ];
}

function mountArgs({ temporary, places }: Profile, existing: (path: string) => boolean): string[] {
  const args: string[] = [];
  /** Made read-only at the end, when everything inside them is mounted. */
  const sealed: string[] = [];
  const empty = (directory: string) => {
    args.push('--tmpfs', directory);
    sealed.push(directory);
  };
  const readable = (one: string) => args.push('--ro-bind', one, one);
  if (existing(RUNTIME_DIRECTORY)) {
    empty(RUNTIME_DIRECTORY);
    VISIBLE_IN_RUNTIME.filter(existing).forEach(readable);
  }
  const isCovered = (directory: string) => temporary.some((one) => one !== directory && isWithin(one, directory));
  for (const directory of temporary) if (!isCovered(directory)) args.push('--tmpfs', directory);
  for (const directory of standIns(temporary, places)) empty(directory);
  for (const { kind, path: one, isDirectory } of places) {
    if (kind === 'write' || kind === 'pin') args.push('--bind', one, one);
    else if (kind !== 'hide') readable(one);
    else if (isDirectory) empty(one);
    else args.push('--ro-bind', '/dev/null', one); // reading it fails: an empty file would look like a valid one
  }
  for (const directory of sealed) args.push('--remount-ro', directory);
  return args;
}

/**
 * A place below a temporary directory needs the directories above it. They must be read-only, else the process could write there and the
 * files would vanish with it.
 */
function standIns(temporary: readonly string[], places: readonly Place[]): readonly string[] {
  const tops = places.flatMap(({ path: one }) => {
    const directory = temporary.find((candidate) => candidate !== one && isWithin(candidate, one));
    if (directory === undefined) return [];
    const top = path.join(directory, one.slice(directory.length + 1).split('/')[0] ?? '');
    return top === one ? [] : [top];
  });
  return [...new Set(tops)].filter((top) => !places.some((place) => place.path === top));
}
