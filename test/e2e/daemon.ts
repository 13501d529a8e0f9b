// A built `switchboard serve` for one test, its tokens, and clients that connect to it.
import { execFileSync } from 'node:child_process';
import readline from 'node:readline';
import { PassThrough } from 'node:stream';
import { WebSocket } from 'ws';
import { createToken as createStoredToken, type Role } from '../../src/store/tokens.ts';
import { type Client, hello, type Json, type ScriptedAgent, type Server, type Stage, SWITCHBOARD } from './harness.ts';
import { type AttachablePeer, createPeer } from './peer.ts';

export type Daemon = {
  readonly child: Client['child'];
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
  readonly socketUrl: string;
  stderr(): string;
};

/** Without agents, `args` name the configuration, or there is none. */
export async function startDaemon(
  stage: Stage,
  agents: Readonly<Record<string, Server>> | readonly ScriptedAgent[] | undefined,
  { config, args = [], node = [] }: { readonly config?: Json; readonly args?: readonly string[]; readonly node?: readonly string[] } = {},
): Promise<Daemon> {
  const file = agents ? ['--config', stage.writeConfig(agents, config)] : [];
  const child = stage.spawn(process.execPath, [...node, SWITCHBOARD, 'serve', '--no-console', '--json', ...file, ...args]);
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const line = await new Promise<string>((resolve, reject) => {
    readline.createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`serve exited with ${code}: ${stderr}`)));
  });
  const { listening } = JSON.parse(line);
  return { child, address: listening, socketUrl: `${listening.replace(/^http/, 'ws')}/acp`, stderr: () => stderr };
}

/** Runs a command of the switchboard with the stage's state directory, and returns its stdout. */
export function runCommand(stage: Stage, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [SWITCHBOARD, ...args], {
    env: { ...process.env, SWITCHBOARD_HOME: stage.state, SWITCHBOARD_CONFIG: '' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** A token without a process for it. */
export function storeToken(stage: Stage, name: string, role: Role): string {
  return createStoredToken(stage.state, { name, role, createdAt: new Date().toISOString(), expiresAt: undefined }) ?? '';
}

export const createToken = (stage: Stage, name: string, role = 'client'): string =>
  runCommand(stage, 'token', 'create', name, '--role', role).trim();

export type SocketClient = AttachablePeer & { readonly socket: WebSocket; readonly closed: Promise<{ code: number; reason: string }> };

/** A client over a bare WebSocket, initialized. */
export async function connectSocket({ socketUrl }: Daemon, token: string, params: Json = {}): Promise<SocketClient> {
  const socket = new WebSocket(socketUrl, { headers: { authorization: `Bearer ${token}` } });
  const peer = createPeer('the client');
  const [input, output] = [new PassThrough(), new PassThrough()];
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      peer.abandon(`the socket closed (${code})`);
      resolve({ code, reason: String(reason) });
    });
  });
  socket.on('message', (data) => void input.write(`${String(data)}\n`));
  readline.createInterface({ input: output }).on('line', (line) => socket.send(line));
  peer.attach(input, output);
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  await hello(peer, params);
  return Object.assign(peer, { socket, closed });
}
