// Starts a sandbox with the flags that agents get, and tries to break out of it: for `switchboard doctor`.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Profile } from '../profile/profile.ts';
import type { Available } from './available.ts';
import { contain } from './contain.ts';

export type Act = { readonly name: string; readonly isHeld: boolean };
const LIMIT_MS = 20_000;

/** Empty if the sandbox did not run at all; `output` is what it printed. */
export async function attackItself(
  available: Available,
  bridge: string,
): Promise<{ readonly acts: readonly Act[]; readonly output: string }> {
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-doctor-')));
  const project = path.join(base, 'project');
  const socket = path.join(project, 's');
  const server = createServer((connection) => connection.end('reached'));
  try {
    mkdirSync(project);
    writeFileSync(path.join(project, 'hidden'), 'secret');
    writeFileSync(path.join(project, 'protected'), 'as it was');
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve));
    const output = await runIn(profileOf(project), script(base, socket), available, bridge);
    const outside = readOr(path.join(base, 'outside'));
    const acts = [...output.matchAll(/^(held|BROKEN) (.+)$/gm)].map(([, how, name = '']) => ({ name, isHeld: how === 'held' }));
    const isUnchanged = readOr(path.join(project, 'protected')) === 'as it was' && outside === undefined;
    return { acts: acts.length === 0 ? [] : [...acts, { name: 'leave files outside as they are', isHeld: isUnchanged }], output };
  } finally {
    server.close();
    rmSync(base, { recursive: true, force: true });
  }
}

function profileOf(project: string): Profile {
  const file = (kind: 'hide' | 'protect', name: string) => ({ kind, path: path.join(project, name), isDirectory: false, why: '' });
  return {
    ...{ level: 'workspace', network: 'none', hosts: { allow: [], ports: [] }, roots: [project], cwd: project, sockets: [], gaps: [] },
    temporary: ['/tmp', '/var/tmp'],
    places: [{ kind: 'write', path: project, isDirectory: true, why: '' }, file('hide', 'hidden'), file('protect', 'protected')],
  };
}

/** Each act prints whether the sandbox held. The last one must work: agents start sandboxes of their own. */
function script(base: string, socket: string): string {
  const dial = (target: string) =>
    `"${process.execPath}" -e 'require("node:net").connect(${target}).on("connect", () => process.exit(0)).on("error", () => process.exit(1))'`;
  const refused = (name: string, command: string) =>
    `if { ${command}; } >/dev/null 2>&1; then echo "BROKEN ${name}"; else echo "held ${name}"; fi`;
  return [
    refused('write outside', `echo x > ${base}/outside`),
    refused('read a hidden file', 'cat hidden'),
    refused('write a protected file', 'echo x > protected'),
    refused('remount', 'mount -o remount,rw / || umount hidden || unshare -Urm umount hidden'),
    refused('connect', dial('80, "192.0.2.1"')),
    refused('use a unix socket', dial(`"${socket}"`)),
    'if unshare -U true >/dev/null 2>&1; then echo "held nest (agents can start sandboxes of their own)"; else echo "BROKEN nest (agents cannot start sandboxes of their own)"; fi',
  ].join('\n');
}

function runIn(profile: Profile, text: string, available: Available, bridge: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/' };
  const contained = contain(profile, { command: '/bin/sh', args: ['-c', text], env }, { available, bridge, decide: async () => 'no host' });
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(contained.command, [...contained.args], {
      env: contained.env,
      stdio: ['ignore', 'pipe', 'pipe', ...contained.stdio],
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    contained.started(child);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        output += chunk;
      });
    child.on('error', (error) => resolve(error.message));
    child.on('close', () => resolve(output));
  });
}

function readOr(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
