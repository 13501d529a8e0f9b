// A NATS server with JetStream on loopback, with its data in a directory that goes with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';

export type NatsServer = {
  readonly url: string;
  /** Freezes and wakes it. */
  signal(signal: NodeJS.Signals): void;
  /** Kills it and starts it again with its data, on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

export async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  return port;
}

/** `settings` is added to its configuration file. */
export async function startNats(settings = ''): Promise<NatsServer> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'nats-'));
  const port = await freePort();
  writeFileSync(path.join(dir, 'nats.conf'), `listen: "127.0.0.1:${port}"\njetstream { store_dir: "data" }\n${settings}\n`);
  return startNatsIn(dir, `nats://127.0.0.1:${port}`);
}

/** A server with the `nats.conf` of this directory, which is removed when the server is stopped. */
export async function startNatsIn(dir: string, url: string): Promise<NatsServer> {
  let child = await run();

  async function run(): Promise<ChildProcess> {
    const started = spawn('nats-server', ['--config', 'nats.conf'], { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    await new Promise<void>((resolve, reject) => {
      started.once('exit', (code) => reject(new Error(`nats-server ended with ${code}: ${log}`)));
      started.stderr?.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        if (log.includes('Server is ready')) resolve();
      });
    });
    return started;
  }
  async function end(): Promise<void> {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
  return {
    url,
    signal: (signal) => void child.kill(signal),
    async restart() {
      await end();
      child = await run();
    },
    async stop() {
      await end();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
