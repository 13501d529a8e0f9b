// Debian's sshd on loopback, for the current user, and an `ssh` that knows it as the host `far`.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { SSHD } from './groups.ts';
import { removeDirectory } from './remove-directory.ts';

export type SshHost = {
  /** PATH with our `ssh` first. */
  readonly PATH: string;
  /** Ends every connection at the server, without a word to the client. */
  cut(): void;
  stop(): Promise<void>;
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** `shell`: the command line that runs what the client sends, in place of the user's login shell. */
export async function startSshd({ shell, isKnown = true }: { readonly shell?: string; readonly isKnown?: boolean } = {}): Promise<SshHost> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-sshd-'));
  const at = (name: string) => path.join(dir, name);
  for (const key of ['host', 'id']) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  const port = await freePort();
  const options = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${at('host')}`,
    `AuthorizedKeysFile ${at('id.pub')}`,
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    ...(shell === undefined ? [] : [`ForceCommand ${shell}`]),
  ];
  writeFileSync(at('sshd_config'), `${options.join('\n')}\n`);
  const [type, key] = readFileSync(at('host.pub'), 'utf8').split(' ');
  writeFileSync(at('known_hosts'), isKnown ? `[127.0.0.1]:${port} ${type} ${key}\n` : '');
  const host = [
    'HostName 127.0.0.1',
    `Port ${port}`,
    `IdentityFile ${at('id')}`,
    'IdentitiesOnly yes',
    `UserKnownHostsFile ${at('known_hosts')}`,
  ];
  writeFileSync(at('config'), `Host far\n${host.map((line) => `  ${line}\n`).join('')}`);
  mkdirSync(at('bin'));
  writeFileSync(at('bin/ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F ${at('config')} "$@"\n`, { mode: 0o755 });
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true }); // what the system's service would make
  const sshd = spawn(SSHD, ['-D', '-e', '-f', at('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  await new Promise<void>((resolve, reject) => {
    let output = '';
    sshd.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Server listening')) resolve();
    });
    sshd.once('exit', () => reject(new Error(`sshd did not start: ${output}`)));
  });
  /** Each connection has a process, and with privilege separation a second one below it. */
  const processes = (): number[] => {
    const ours = new Set([sshd.pid]);
    for (const line of execFileSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' }).split('\n')) {
      const [pid, parent, name] = line.trim().split(/\s+/);
      if (name?.startsWith('sshd') && ours.has(Number(parent))) ours.add(Number(pid));
    }
    return [...ours].slice(1) as number[];
  };
  return {
    PATH: `${at('bin')}:${process.env.PATH}`,
    cut() {
      for (const pid of processes()) process.kill(pid, 'SIGKILL');
    },
    async stop() {
      for (const pid of processes()) process.kill(pid, 'SIGKILL');
      sshd.kill('SIGKILL');
      await once(sshd, 'exit');
      await removeDirectory(dir);
    },
  };
}
