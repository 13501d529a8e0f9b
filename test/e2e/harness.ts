// A stage per test: a temporary home, the built proxy as a client would start it, its agents, and a clean-up at the end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { test as base } from 'vitest';
import { removeDirectory } from '../remove-directory.ts';
import { type AttachablePeer, createPeer, type Json, type Peer } from './peer.ts';
import { createScriptedAgents, type ScriptedAgent, type Traits } from './scripted-agent.ts';

export { type Json, type Peer, Refusal, type Seen, UNANSWERED } from './peer.ts';
export type { ScriptedAgent } from './scripted-agent.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const SWITCHBOARD = path.join(ROOT, 'bin/switchboard.js');

/** An `agent_servers` entry. */
export type Server = { readonly command: string; readonly args?: readonly string[]; readonly [other: string]: unknown };

export type Client = Peer & {
  readonly child: ChildProcess & { readonly stdin: Writable; readonly stdout: Readable };
  stderr(): string;
  /** Resolves with the exit code or signal once all its output was read. */
  readonly ended: Promise<number | string | null>;
  /** Like a client that quits: closes stdin and waits for the exit. */
  close(): Promise<number | string | null>;
  kill(): Promise<void>;
};

export type StartOptions = {
  /** Configuration besides `agent_servers`. */
  readonly config?: Json;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
};

export type Stage = {
  readonly dir: string;
  /** An absolute working directory. */
  readonly cwd: string;
  /** `SWITCHBOARD_HOME` of every proxy of this stage. */
  readonly state: string;
  /** An agent that the test plays; it works, and `traits` say how it differs. */
  agent(name: string, traits?: Traits): ScriptedAgent;
  /** The proxy with these agents, before `initialize`. */
  proxy(agents: Readonly<Record<string, Server | ScriptedAgent>> | readonly ScriptedAgent[], options?: StartOptions): Client;
  /** The proxy with these agents, initialized. */
  connect(agents: Readonly<Record<string, Server | ScriptedAgent>> | readonly ScriptedAgent[], options?: StartOptions): Promise<Client>;
  /** Any program with a line client on its stdio, such as a direct connection to an agent. */
  run(command: string, args: readonly string[], env?: Readonly<Record<string, string>>): Client;
  /** The same without the line client. */
  spawn(command: string, args: readonly string[], env?: Readonly<Record<string, string>>): Client['child'];
  /** Writes the configuration file for these agents. */
  writeConfig(agents: Readonly<Record<string, Server | ScriptedAgent>> | readonly ScriptedAgent[], config?: Json): string;
};

/** A program under test/fixtures. */
export function fixture(name: string, ...args: readonly string[]): Server & { readonly args: readonly string[] } {
  return { command: process.execPath, args: [path.join(ROOT, 'test/fixtures', `${name}.mjs`), ...args] };
}

export const test = base.extend<{ stage: Stage }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures it must provide from the pattern
  stage: async ({}, use) => {
    const { stage, strike } = await setUp();
    try {
      await use(stage);
    } finally {
      await strike();
    }
  },
});

/** For tests that may run concurrently within their file. They share nothing, and spend most of their time starting processes. */
export const testAtOnce: typeof test.concurrent = test.concurrent;

async function setUp(): Promise<{ stage: Stage; strike: () => Promise<void> }> {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-e2e-'));
  const inside = (name: string) => path.join(dir, name);
  for (const name of ['home', 'state', 'work', 'tmp']) mkdirSync(inside(name));
  const env = {
    ...{ HOME: inside('home'), XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', SWITCHBOARD_CONFIG: '', SWITCHBOARD_HOME: inside('state') },
    ...{ TMPDIR: inside('tmp'), FIXTURE_DIR: dir },
  };
  const scriptedAgentServer = createScriptedAgents(inside('agents.sock'));
  const children: ChildProcess[] = [];
  let configs = 0;

  const stage: Stage = {
    dir,
    cwd: inside('work'),
    state: inside('state'),
    agent: (name, traits) => scriptedAgentServer.agent(name, traits),
    writeConfig(agents, config = {}) {
      const named = Array.isArray(agents) ? Object.fromEntries(agents.map((agent: ScriptedAgent) => [agent.name, agent])) : agents;
      const agent_servers = Object.fromEntries(
        Object.entries(named as Record<string, Server | ScriptedAgent>).map(([name, agent]) => [
          name,
          isScripted(agent) ? agent.server : agent,
        ]),
      );
      const file = inside(`config-${configs++}.json`);
      // Host tools are off unless a test is about them: most tests compare what the client sent with what the agent got.
      writeFileSync(file, JSON.stringify({ agent_servers, host_tools: { enabled: false }, ...config }));
      return file;
    },
    proxy: (agents, { config, args = [], env: own } = {}) =>
      stage.run(process.execPath, [SWITCHBOARD, 'acp', '--config', stage.writeConfig(agents, config), ...args], own),
    async connect(agents, options) {
      const client = stage.proxy(agents, options);
      await hello(client);
      return client;
    },
    run(command, args, own) {
      return clientOf(stage.spawn(command, args, own));
    },
    spawn(command, args, own = {}) {
      const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env, ...own }, cwd: stage.cwd });
      children.push(child);
      return child;
    },
  };
  return {
    stage,
    async strike() {
      // Agents exit by themselves when the proxy is gone: their stdin ends.
      await Promise.all(children.map(kill));
      await scriptedAgentServer.stop();
      await removeDirectory(dir);
    },
  };
}

const isScripted = (agent: Server | ScriptedAgent): agent is ScriptedAgent => 'seen' in agent;

function clientOf(child: Client['child']): Client {
  const peer: AttachablePeer = createPeer('the editor');
  let stderr = '';
  let isKilled = false;
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-20_000);
  });
  peer.attach(child.stdout, child.stdin);
  const ended = new Promise<number | string | null>((resolve) => {
    child.on('close', (code, signal) => {
      if (!isKilled) peer.abandon(`the process ended (${signal ?? `exit ${code}`}): ${stderr.slice(-500)}`);
      resolve(code ?? signal);
    });
    child.on('error', (error) => resolve(error.message));
  });
  return Object.assign(peer, {
    child,
    ended,
    stderr: () => stderr,
    async close() {
      child.stdin.end();
      return ended;
    },
    async kill() {
      isKilled = true;
      await kill(child);
    },
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

export const CAPABILITIES = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

export function hello(client: Peer, params: Json = {}): Promise<Json> {
  return client.call('initialize', {
    protocolVersion: 1,
    clientCapabilities: CAPABILITIES,
    clientInfo: { name: 'test-editor', version: '1.0.0' },
    ...params,
  });
}

/** The `_meta` that chooses an agent. */
export const choosing = (agent: string): Json => ({ _meta: { 'acp-switchboard': { agent } } });

export type Opened = { readonly id: string; readonly result: Json; readonly index: number };

/** Opens a session, with this agent or the proxy's choice. */
export async function open(client: Peer, cwd: string, agent?: string, params: Json = {}): Promise<Opened> {
  const answer = await client.request('session/new', { cwd, mcpServers: [], ...(agent !== undefined && choosing(agent)), ...params });
  if (!answer.result) throw new Error(`session/new was answered ${JSON.stringify(answer)}`);
  return { id: answer.result.sessionId, result: answer.result, index: client.place(answer) };
}

export const text = (message: string): Json => [{ type: 'text', text: message }];

export function prompt(client: Peer, sessionId: string, message: string, id?: Json): Promise<Json> {
  return client.request('session/prompt', { sessionId, prompt: text(message) }, id);
}

/** Resident memory of a process in MB. */
export function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
