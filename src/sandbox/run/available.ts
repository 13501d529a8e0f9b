// Whether this machine has a sandbox: it is started once, with the flags that agents get.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { platformOf } from '../../platform/platform.ts';
import { bubblewrapArgs } from '../profile/bubblewrap.ts';
import type { Profile } from '../profile/profile.ts';
import { seccompFilter } from '../profile/seccomp.ts';

export type Available =
  | { readonly kind: 'bubblewrap'; readonly program: string }
  /** macOS. Written from its documentation, and not tested. */
  | { readonly kind: 'seatbelt'; readonly program: string };
export type Unavailable = { readonly problem: string; readonly next: string };

let found: Available | Unavailable | undefined;

/** Found once per process. */
export function availableSandbox(): Available | Unavailable {
  found ??= look(process.platform, process.env.PATH ?? '', process.arch);
  return found;
}

const INSTALL =
  'Install bubblewrap: apt-get install bubblewrap (Debian, Ubuntu), dnf install bubblewrap (Fedora), pacman -S bubblewrap (Arch)';

/** Exported for tests. */
export function look(platform: NodeJS.Platform, searchPath: string, architecture: string): Available | Unavailable {
  const { sandbox, hasModes } = platformOf(platform);
  if (!hasModes)
    return { problem: 'there is no sandbox for Windows', next: 'Run switchboard in WSL2, or bring a sandbox of your own with "wrap"' };
  if (sandbox === 'seatbelt') {
    const program = '/usr/bin/sandbox-exec';
    if (existsSync(program)) return { kind: 'seatbelt', program };
    return { problem: `${program} does not exist`, next: 'Bring a sandbox of your own with "wrap"' };
  }
  if (sandbox === 'none') return { problem: `there is no sandbox for ${platform}`, next: 'Bring a sandbox of your own with "wrap"' };
  // Without the filter for system calls, unix sockets would be open.
  if (!seccompFilter(architecture, { allowsUnix: false }))
    return { problem: `there is no sandbox for ${architecture} processors`, next: 'Bring a sandbox of your own with "wrap"' };
  const program = findProgram('bwrap', searchPath);
  if (program === undefined) return { problem: 'bubblewrap (bwrap) is not installed', next: INSTALL };
  const why = trial(program);
  return why ?? { kind: 'bubblewrap', program };
}

export function findProgram(name: string, searchPath: string): string | undefined {
  return searchPath
    .split(path.delimiter)
    .filter((directory) => path.isAbsolute(directory))
    .map((directory) => path.join(directory, name))
    .find(existsSync);
}

const EMPTY: Profile = {
  level: 'read-only',
  network: 'none',
  hosts: { allow: [], ports: [] },
  roots: [],
  cwd: '/',
  temporary: ['/tmp'],
  places: [],
  sockets: [],
  gaps: [],
};

function trial(program: string): Unavailable | undefined {
  const args = bubblewrapArgs(EMPTY, { isRoot: process.getuid?.() === 0, seccomp: undefined, existing: existsSync });
  const { status, stderr, error } = spawnSync(program, [...args, '--', '/bin/true'], { encoding: 'utf8', timeout: 10_000 });
  if (status === 0) return undefined;
  const reason = error ? error.message : (stderr.trim().split('\n').at(-1) ?? '');
  return { problem: `bubblewrap cannot start a sandbox here: ${reason || `exit code ${status}`}`, next: remedy(reason, setting) };
}

const setting = (name: string): string | undefined => {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return undefined;
  }
};

/** The known causes, by what bubblewrap says and how the system is set. */
export function remedy(reason: string, read: (name: string) => string | undefined): string {
  if (read('kernel/apparmor_restrict_unprivileged_userns') === '1' && /uid map|RTM_NEWADDR|namespace|Permission denied/.test(reason))
    return 'AppArmor restricts user namespaces. Allow them for bwrap in an AppArmor profile, or: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  if (read('kernel/unprivileged_userns_clone') === '0')
    return 'User namespaces are switched off: sudo sysctl -w kernel.unprivileged_userns_clone=1';
  if (read('user/max_user_namespaces') === '0') return 'User namespaces are switched off: sudo sysctl -w user.max_user_namespaces=15000';
  if (/make \/ slave|pivot_root|mount proc|mounting proc|No permissions to create new namespace|Operation not permitted/i.test(reason))
    return 'This looks like a container without the rights for it: start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined, or contain it as a whole and bring "wrap"';
  return 'Run bwrap --ro-bind / / true to see the reason, or bring a sandbox of your own with "wrap"';
}
