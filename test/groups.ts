// Groups of tests that need something a machine may lack. A file named `x.GROUP.test.ts` belongs to a group, `x.ONE.OTHER.test.ts` to two. Where the
// need is not met, vitest leaves its files out, and the run ends with the name of the group and the reason.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export type Group = {
  readonly name: string;
  readonly needs: string;
  /** The Debian packages that meet the need. */
  readonly install?: string;
  isMet(): boolean;
};

const hasProgram = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

const CHROMIUM_PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export const findChromium = (): string | undefined =>
  [process.env.CHROMIUM ?? '', ...CHROMIUM_PLACES].find((place) => place !== '' && existsSync(place));

export const SSHD = '/usr/sbin/sshd';

export const GROUPS: readonly Group[] = [
  {
    name: 'browser',
    needs: 'Chromium: apt-get install chromium, or set CHROMIUM to its path',
    install: 'chromium',
    isMet: () => findChromium() !== undefined,
  },
  { name: 'zsh', needs: 'zsh: apt-get install zsh', install: 'zsh', isMet: () => hasProgram('zsh') },
  { name: 'fish', needs: 'fish: apt-get install fish', install: 'fish', isMet: () => hasProgram('fish') },
  {
    name: 'sandbox',
    needs: 'bubblewrap, and the right to use user namespaces: apt-get install bubblewrap',
    install: 'bubblewrap',
    isMet: () => spawnSync('bwrap', ['--unshare-all', '--cap-drop', 'ALL', '--ro-bind', '/', '/', '--proc', '/proc', 'true']).status === 0,
  },
  {
    name: 'tracer',
    needs: 'strace inside bubblewrap: apt-get install bubblewrap strace',
    install: 'bubblewrap strace ripgrep fd-find jq tree zip unzip',
    isMet: mayTrace,
  },
  {
    name: 'sshd',
    needs: 'OpenSSH, with its server: apt-get install openssh-server openssh-client',
    install: 'openssh-server openssh-client',
    isMet: () => existsSync(SSHD) && spawnSync('ssh', ['-V']).status === 0,
  },
  {
    name: 'promtool',
    needs: 'promtool: apt-get install prometheus',
    install: 'prometheus',
    isMet: () => hasProgram('promtool'),
  },
  {
    name: 'nats',
    needs: 'a NATS server: apt-get install nats-server',
    install: 'nats-server',
    isMet: () => hasProgram('nats-server'),
  },
  {
    name: 'systemd',
    needs: "systemd's tools: apt-get install systemd",
    install: 'systemd',
    isMet: () => hasProgram('systemd-analyze'),
  },
  {
    name: 'kubectl',
    needs: 'kubectl: apt-get install kubernetes-client',
    install: 'kubernetes-client',
    isMet: () => spawnSync('kubectl', ['version', '--client']).status === 0,
  },
  { name: 'python', needs: 'Python: apt-get install python3', install: 'python3', isMet: () => hasProgram('python3') },
  {
    name: 'netns',
    needs: 'network namespaces with a bridge: root, and apt-get install iproute2',
    install: 'iproute2',
    isMet: mayConnectNamespaces,
  },
  { name: 'root', needs: 'a user who may make devices (mknod): root', isMet: mayMakeDevices },
];

/** A container may forbid namespaces, or ptrace inside them. */
function mayTrace(): boolean {
  const system = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
  return spawnSync('bwrap', ['--unshare-all', ...system, 'strace', '-f', '-qq', '-o', '/dev/null', 'true']).status === 0;
}

/** In a namespace of its own, so that nothing is left on this machine. */
function mayConnectNamespaces(): boolean {
  const devices = ['link add bridge type bridge', 'link add one type veth peer name other'];
  return spawnSync('unshare', ['--net', 'sh', '-c', devices.map((one) => `ip ${one}`).join(' && ')]).status === 0;
}

/** Root may not always: some containers lack the capability. */
function mayMakeDevices(): boolean {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-device-'));
  const isMade = spawnSync('mknod', ['-m', '600', path.join(dir, 'full'), 'c', '1', '7']).status === 0;
  rmSync(dir, { recursive: true });
  return isMade;
}

/** Groups that this machine cannot run. With `install`, root first installs the packages that are missing. */
export function unmetGroups({ install }: { readonly install: boolean }): readonly Group[] {
  const unmet = GROUPS.filter((group) => !group.isMet());
  const packages = unmet.flatMap((group) => group.install?.split(' ') ?? []);
  if (!install || packages.length === 0 || !installPackages(packages)) return unmet;
  return unmet.filter((group) => !group.isMet());
}

export function installPackages(packages: readonly string[]): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !hasProgram('apt-get')) return false;
  const apt = (...args: string[]) =>
    execFileSync('apt-get', ['-o', 'Acquire::Retries=1', '-o', 'Acquire::http::Timeout=20', ...args], {
      stdio: 'ignore',
      timeout: 240_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const installAll = () => apt('install', '-y', '--no-install-recommends', ...packages);
  try {
    installAll();
    return true;
  } catch {
    // The package lists may be old or missing.
  }
  try {
    apt('update');
    installAll();
    return true;
  } catch {
    return false;
  }
}
