// A NATS server with JetStream on loopback, for the workload of the bus. Root on Debian installs the package when it is missing.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

const hasServer = () => spawnSync('nats-server', ['--version']).status === 0;

/** Undefined where there is none. */
export async function startNats(dir) {
  if (!hasServer() && process.getuid?.() === 0)
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', 'nats-server'], {
      stdio: 'ignore',
      timeout: 120_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  if (!hasServer()) return undefined;
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  writeFileSync(path.join(dir, 'nats.conf'), `listen: "127.0.0.1:${port}"\njetstream { store_dir: "data" }\n`);
  const child = spawn('nats-server', ['--config', 'nats.conf'], { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  for await (const bytes of child.stderr) {
    log += bytes;
    if (log.includes('Server is ready')) break;
  }
  return { child, url: `nats://127.0.0.1:${port}` };
}

async function freePort() {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}
