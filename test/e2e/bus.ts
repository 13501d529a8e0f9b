// Built hosts and edges on a bus, for one test. Their agents are the demo agents, which keep their sessions in a directory that all hosts share.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { type Client, hello, type Json, type Stage, SWITCHBOARD } from './harness.ts';

const DEMO_AGENT = path.join(path.dirname(SWITCHBOARD), '../dist/demo-agent.js');

export type HostProcess = {
  readonly child: Client['child'];
  readonly name: string;
  stderr(): string;
  /** Resolves with the first line of stderr that contains this. */
  says(text: string): Promise<string>;
  kill(signal?: NodeJS.Signals): void;
  /** Ends it cleanly; resolves with the exit code. */
  stop(): Promise<number | null>;
};

export type Cluster = {
  readonly bus: { readonly url: string; readonly tenant: string };
  /** The state directory of a host. */
  state(name: string): string;
  /** `program`: another build of the switchboard. */
  host(
    name: string,
    options?: { readonly args?: readonly string[]; readonly config?: Json; readonly program?: string },
  ): Promise<HostProcess>;
  /** An edge on stdio, initialized. */
  edge(options?: { readonly args?: readonly string[]; readonly config?: Json; readonly home?: string }): Promise<Client>;
  /** A configuration file that names the bus. */
  config(): string;
  /** Runs a command of the switchboard to its end. */
  command(...args: readonly string[]): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
};

/** A copy of the built command that takes itself for this version. */
export function builtAs(version: string, dir: string): string {
  const root = path.join(path.dirname(SWITCHBOARD), '..');
  const { version: own } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  for (const part of ['package.json', 'bin', 'dist', 'config']) cpSync(path.join(root, part), path.join(dir, part), { recursive: true });
  for (const file of readdirSync(path.join(dir, 'dist'))) {
    const at = path.join(dir, 'dist', file);
    if (file.endsWith('.cache')) rmSync(at); // V8 would take the compiled code, since the length of the source is the same
    if (/\.c?js$/.test(file)) writeFileSync(at, readFileSync(at, 'utf8').replaceAll(own, version));
  }
  return path.join(dir, 'bin', path.basename(SWITCHBOARD));
}

export function clusterOn(
  stage: Stage,
  bus: string,
  env: Readonly<Record<string, string>> = {},
  tenant: string = randomUUID().slice(0, 8), // hosts of other tests may be in the directory until their lease ends
): Cluster {
  const agents = {
    demo: { command: process.execPath, args: [DEMO_AGENT, '--name', 'builder', '--state', path.join(stage.dir, 'shared')] },
  };
  const settings = { url: bus, tenant };
  const home = (name: string) => ({ ...env, SWITCHBOARD_HOME: path.join(stage.dir, `state-${name}`) });
  return {
    bus: settings,
    state: (name) => home(name).SWITCHBOARD_HOME,
    async host(name, { args = [], config = {}, program = SWITCHBOARD } = {}) {
      const file = stage.writeConfig(agents, { bus: settings, allow_cwd: [stage.dir], ...config });
      const child = stage.spawn(process.execPath, [program, 'host', '--name', name, '--config', file, '--json', ...args], home(name));
      let stderr = '';
      const lines = readline.createInterface({ input: child.stderr as NodeJS.ReadableStream });
      const waiting = new Set<(line: string) => void>();
      lines.on('line', (line) => {
        stderr += `${line}\n`;
        for (const look of waiting) look(line);
      });
      await new Promise<void>((resolve, reject) => {
        readline
          .createInterface({ input: child.stdout })
          .once('line', (line) => (JSON.parse(line).ok === false ? reject(new Error(line)) : resolve()));
        child.once('exit', (code) => reject(new Error(`host ${name} exited with ${code}: ${stderr}`)));
      });
      return {
        child,
        name,
        stderr: () => stderr,
        says: (text) =>
          new Promise((resolve) => {
            const known = stderr.split('\n').find((line) => line.includes(text));
            if (known !== undefined) return resolve(known);
            const look = (line: string) => {
              if (!line.includes(text)) return;
              waiting.delete(look);
              resolve(line);
            };
            waiting.add(look);
          }),
        kill: (signal = 'SIGKILL') => void child.kill(signal),
        async stop() {
          const ended = once(child, 'exit');
          child.kill('SIGTERM');
          const [code] = await ended;
          return code as number | null;
        },
      };
    },
    async edge({ args = [], config = {}, home: name = 'edge' } = {}) {
      const file = stage.writeConfig({}, { agent_servers: undefined, bus: settings, ...config });
      const client = stage.run(process.execPath, [SWITCHBOARD, 'acp', '--config', file, ...args], home(name));
      await hello(client);
      return client;
    },
    config: () => stage.writeConfig({}, { agent_servers: undefined, bus: settings }),
    async command(...args) {
      const child = stage.spawn(process.execPath, [SWITCHBOARD, ...args], home('command'));
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk;
      });
      child.stderr?.on('data', (chunk: Buffer) => {
        stderr += chunk;
      });
      child.stdin.end();
      const [code] = await once(child, 'close');
      return { code: code as number | null, stdout, stderr };
    },
  };
}
