// Starts workers in bubblewrap: the system read-only, a project and a home in memory, no network but the loopback device.
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { Measured } from './measure.ts';
import type { Order, Report } from './worker.ts';

const HOSTS = '127.0.0.1 localhost sandbox a.test\n127.0.0.2 b.test\n';
const USERS = 'user:x:1000:1000::/sandbox/home:/bin/sh\nroot:x:0:0::/root:/bin/sh\n';
const GROUPS = 'user:x:1000:\nroot:x:0:\n';
/** What the system's programs need of /etc. */
const SYSTEM_FILES = ['ld.so.cache', 'alternatives', 'localtime', 'magic', 'terminfo', 'nsswitch.conf', 'ssl'];

function bubblewrap(folder: string): string[] {
  const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) =>
    existsSync(`/usr/${name}`) ? ['--symlink', `usr/${name}`, `/${name}`] : [],
  );
  return [
    ...['--unshare-all', '--uid', '1000', '--gid', '1000', '--die-with-parent', '--new-session', '--clearenv'],
    ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin'],
    ...['--hostname', 'sandbox'],
    ...['--ro-bind', '/usr', '/usr', ...links, '--proc', '/proc', '--dev', '/dev'],
    ...['--tmpfs', '/tmp', '--tmpfs', '/sandbox', '--dir', '/template', '--dir', '/harness-tmp', '--dir', '/etc'],
    ...SYSTEM_FILES.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['hosts', 'passwd', 'group'].flatMap((name) => ['--ro-bind', `${folder}/${name}`, `/etc/${name}`]),
    ...['--ro-bind', folder, '/harness', '--ro-bind', process.execPath, '/harness-node', '--chdir', '/'],
    ...['/harness-node', '/harness/worker.mjs'],
  ];
}

async function bundleTo(folder: string, root: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['test/policy/reality/worker.ts'],
    outfile: path.join(folder, 'worker.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'inline',
    logLevel: 'warning',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
}

export type Options = Omit<Order, 'share' | 'shares'> & {
  /** The repository. */
  readonly root: string;
  readonly jobs: number;
};
export type Outcome = { readonly reports: readonly Report[]; readonly measured: readonly Measured[]; readonly missing: readonly string[] };

/** Runs the order in as many sandboxes as jobs. */
export async function runInSandboxes(
  { root, jobs, count, ...order }: Options,
  onReport: (report: Report) => void = () => undefined,
): Promise<Outcome> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'switchboard-reality-'));
  const reports: Report[] = [];
  const measured: Measured[] = [];
  let missing: readonly string[] = [];
  const children: ChildProcess[] = [];
  try {
    await bundleTo(folder, root);
    for (const [name, text] of Object.entries({
      hosts: HOSTS,
      passwd: USERS,
      group: GROUPS,
      'standard.yaml': readFileSync(path.join(root, 'config/policies/standard.yaml'), 'utf8'),
    }))
      writeFileSync(path.join(folder, name), text);
    await Promise.all(
      Array.from({ length: jobs }, async (_, share) => {
        const own = `${folder}/share-${share}`;
        mkdirSync(own);
        for (const name of ['hosts', 'passwd', 'group', 'standard.yaml', 'worker.mjs'])
          cpSync(path.join(folder, name), path.join(own, name));
        writeFileSync(
          path.join(own, 'order.json'),
          JSON.stringify({ ...order, count: Math.ceil(count / jobs), share, shares: jobs } satisfies Order),
        );
        const child = spawn('bwrap', bubblewrap(own), { stdio: ['ignore', 'pipe', 'pipe'] });
        children.push(child);
        let errors = '';
        child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString('utf8')).slice(-4000)));
        let isDone = false;
        for await (const text of createInterface({ input: child.stdout })) {
          const value = JSON.parse(text) as Report | Measured | { missing: string[] } | { done: true };
          if ('missing' in value) missing = value.missing;
          else if ('done' in value) isDone = true;
          else if ('mutant' in value) measured.push(value);
          else {
            reports.push(value);
            onReport(value);
          }
        }
        if (!isDone) throw new Error(`the sandbox ended before its lines did: ${errors}`);
      }),
    );
    return { reports, measured, missing };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}
