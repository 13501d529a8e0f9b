// ssh holds the contract of transports, to a real sshd.
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startSsh } from '../../src/transports/ssh.ts';
import { type SshHost, startSshd } from '../ssh-host.ts';
import { holdsTheContract } from './contract.ts';

const ECHO = path.resolve(import.meta.dirname, '../fixtures/echoes-lines.mjs');
let host: SshHost;
beforeAll(async () => {
  host = await startSshd();
});
afterAll(() => host.stop());

holdsTheContract({
  name: 'ssh',
  async start() {
    const at = { host: 'far', connectMs: 10_000, keepaliveMs: 30_000, configKey: 'agent_servers.x' };
    const program = { command: process.execPath, args: [ECHO], env: {}, cwd: undefined, graceMs: 500 };
    const transport = startSsh(at, program, { env: { ...(process.env as Record<string, string>), PATH: host.PATH } });
    return { transport, peer: { cut: () => host.cut(), stop: async () => transport.kill() } };
  },
});
