// A mount namespace in which layers lie over their projects. Open descriptors keep it alive: it ends with this process, whatever happens.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import type { Program } from '../sandbox/run/contain.ts';
import { type Layer, partsOf } from './layers.ts';

export type Namespace = {
  /** The same command, started in the namespace. */
  enter(program: Program): Program;
  close(): void;
};

/** Why there is no overlay. */
export type NoOverlay = { readonly problem: string; readonly next: string };

const isRoot = (): boolean => process.getuid?.() === 0;

/** Root mounts with its own rights. Others get them in a user namespace, where only their own files can be changed. */
const unshare = (): readonly string[] => (isRoot() ? ['--mount'] : ['--user', '--map-root-user', '--mount']);

/**
 * Relative paths, so that no name can be read as an option of the mount. `lower` keeps the project visible where the overlay hides it.
 * `userxattr` also rules out redirects: a directory of the layer is always the one of the same name below.
 */
const MOUNT = `
set -e
layer=$1; shift; n=0
for root; do
  cd "$layer/$n"
  mount --rbind "$root" lower
  mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr switchboard "$root"
  n=$((n+1))
done
cd /
sleep 30 </dev/null >/dev/null 2>&1 &
echo $!
`;

/** Blocks for some milliseconds, once for each session. */
export function mountLayer({ directory, roots }: Layer): Namespace | NoOverlay {
  const { status, stdout, stderr, error } = spawnSync('unshare', [...unshare(), 'sh', '-c', MOUNT, 'sh', directory, ...roots], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (status !== 0) return noOverlay(error ? `unshare: ${error.message}` : stderr.trim());
  const pid = Number(stdout);
  const descriptors: number[] = [];
  try {
    const names = isRoot() ? ['mnt'] : ['user', 'mnt'];
    const args = names.map((name) => {
      const descriptor = openSync(`/proc/${pid}/ns/${name}`, 'r');
      descriptors.push(descriptor);
      return `--${name === 'mnt' ? 'mount' : name}=/proc/${process.pid}/fd/${descriptor}`;
    });
    return {
      enter: ({ command, args: rest, ...kept }) => ({
        ...kept,
        command: 'nsenter',
        args: ['--preserve-credentials', ...args, '--', command, ...rest],
      }),
      close: () => descriptors.forEach(closeSync),
    };
  } catch (cause) {
    descriptors.forEach(closeSync);
    return noOverlay((cause as Error).message);
  } finally {
    process.kill(pid, 'SIGKILL');
  }
}

function noOverlay(reason: string): NoOverlay {
  const problem = `the level "review" needs an overlay over the project, and that failed: ${reason.split('\n').at(-1) || 'no reason given'}`;
  return { problem, next: remedyFor(reason) };
}

/** Exported for tests. */
export function remedyFor(reason: string): string {
  if (/ENOENT/.test(reason)) return 'Install util-linux (unshare, nsenter, mount), or use the level "workspace"';
  if (/unshare failed|uid_map|Operation not permitted|Permission denied|must be superuser/i.test(reason))
    return 'User namespaces are not allowed here. In a container, start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, or use the level "workspace"';
  if (/unknown filesystem type/i.test(reason)) return 'Load the module (sudo modprobe overlay), or use the level "workspace"';
  if (/wrong fs type|bad option|Invalid argument/i.test(reason))
    return 'The file system of the state directory cannot hold a layer, or another one is mounted inside the project. Set SWITCHBOARD_HOME to a directory on ext4, xfs, btrfs or tmpfs, or use the level "workspace"';
  return 'Run switchboard doctor, or use the level "workspace"';
}

const LOOK = `
set -e
cd "$1"
mount --rbind "$2" lower
mount -t overlay -o ro,lowerdir=upper:lower,userxattr switchboard view
cd view
exec xargs -0 sh -c 'for name; do if [ -e "$name" ] || [ -L "$name" ]; then echo 1; else echo 0; fi; done' sh
`;

/** Whether each of the names can be seen through the layer of root `index`. Mounts it read-only, besides the mount that an agent may use. */
export async function visibleThrough(layer: Layer, index: number, names: readonly string[]): Promise<readonly boolean[] | NoOverlay> {
  if (names.length === 0) return [];
  const args = [...unshare(), 'sh', '-c', LOOK, 'sh', path.dirname(partsOf(layer, index).upper), layer.roots[index] ?? ''];
  const { code, out, reason } = await new Promise<{ code: number | null; out: string; reason: string }>((resolve) => {
    const child = spawn('unshare', args, { timeout: 60_000, killSignal: 'SIGKILL' });
    let out = '';
    let reason = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      reason += chunk;
    });
    child.stdin.on('error', () => {});
    child.on('error', (error) => resolve({ code: null, out, reason: `unshare: ${error.message}` }));
    child.on('close', (status) => resolve({ code: status, out, reason: reason.trim() }));
    child.stdin.end(names.map((name) => `${name}\0`).join(''));
  });
  if (code !== 0) return noOverlay(reason);
  const seen = out.trim().split('\n');
  if (seen.length !== names.length) return noOverlay('the names cannot be read');
  return seen.map((line) => line === '1');
}
