// The test's side of test/fixtures/scripted-agent.mjs: agents that are real processes whose every frame the test decides.
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { type AttachablePeer, createPeer, type Json, type Peer, Refusal } from './peer.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../fixtures/scripted-agent.mjs');

export type ScriptedSession = { readonly id: string; cwd: string; model: string; mode: string; title: string; updatedAt: string };

/** How an agent differs from one with all capabilities. */
export type Traits = {
  /** Sends nothing but what the test sends. */
  readonly isMute?: boolean;
  readonly capabilities?: Json;
  /** Announces `_session/steering`. */
  readonly canSteer?: boolean;
  readonly authMethods?: readonly Json[];
  readonly title?: string;
  readonly version?: number;
  /** The id of its n-th session, from 1. */
  readonly mint?: (n: number) => string;
  /** Its fields for responses to new, load, resume and fork. */
  readonly describe?: (session: ScriptedSession) => Json;
  /** A turn; its return value is the response to the prompt. */
  readonly turn?: (session: ScriptedSession, message: string, params: Json) => unknown;
};

export type ScriptedAgent = Peer & {
  /** Its `agent_servers` entry. */
  readonly server: { readonly command: string; readonly args: readonly string[] };
  /** Number of processes started so far, and the process id of the last. */
  readonly pids: readonly number[];
  readonly sessions: Map<string, ScriptedSession>;
  update(sessionId: string, update: Json): void;
  sendText(sessionId: string, message: string): void;
  /** Resolves when the process has started; `n` counts its starts. */
  started(n?: number): Promise<void>;
  /** Resolves when the last process is gone. */
  gone(): Promise<void>;
  /** Stops reading what the proxy writes. */
  stopReading(): void;
  /** Reads again. */
  listen(): void;
  /** Ends the process. */
  exit(): void;
};

export const ALL_CAPABILITIES = {
  loadSession: true,
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {}, additionalDirectories: {} },
};

export const MODELS = (prefix: string): readonly Json[] => ['small', 'large'].map((size) => ({ value: `${prefix}-${size}`, name: size }));

export type ScriptedAgents = { agent(name: string, traits?: Traits): ScriptedAgent; stop(): Promise<void> };

export function createScriptedAgents(socketPath: string): ScriptedAgents {
  const scriptedAgents = new Map<string, { scripted: ScriptedAgent; arrive: (socket: net.Socket, pid: number, rest: Buffer) => void }>();
  const sockets = new Set<net.Socket>();
  let server: net.Server | undefined;

  function listen(): void {
    server ??= net
      .createServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => sockets.delete(socket));
        let head = Buffer.alloc(0);
        const introduce = (chunk: Buffer) => {
          head = Buffer.concat([head, chunk]);
          const lf = head.indexOf(10);
          if (lf === -1) return;
          socket.off('data', introduce);
          const [name = '', pid] = head.toString('utf8', 0, lf).split(' ');
          scriptedAgents.get(name)?.arrive(socket, Number(pid), head.subarray(lf + 1));
        };
        socket.on('data', introduce);
      })
      .listen(socketPath);
  }

  return {
    agent(name, traits = {}) {
      listen();
      const made = createScriptedAgent(name, { command: process.execPath, args: [PROGRAM, socketPath, name] }, traits);
      scriptedAgents.set(name, made);
      return made.scripted;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      if (!server) return;
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

function createScriptedAgent(name: string, server: ScriptedAgent['server'], traits: Traits) {
  const peer: AttachablePeer = createPeer(name);
  const pids: number[] = [];
  const arrivals = new Set<() => void>();
  let socket: net.Socket | undefined;
  const scripted: ScriptedAgent = Object.assign(peer, {
    server,
    pids,
    sessions: new Map<string, ScriptedSession>(),
    update: (sessionId: string, update: Json) => peer.notify('session/update', { sessionId, update }),
    sendText: (sessionId: string, message: string) =>
      scripted.update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: message } }),
    started: (n = 1) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (pids.length < n) return;
          arrivals.delete(look);
          resolve();
        };
        arrivals.add(look);
        look();
      }),
    async gone() {
      if (socket && !socket.destroyed) await once(socket, 'close');
    },
    stopReading: () => void socket?.pause(),
    listen: () => void socket?.resume(),
    exit: () => void socket?.destroy(),
  });
  if (!traits.isMute) behave(scripted, traits);
  return {
    scripted,
    arrive(arrived: net.Socket, pid: number, rest: Buffer) {
      socket = arrived;
      pids.push(pid);
      peer.attach(arrived, arrived);
      peer.push(rest);
      for (const look of [...arrivals]) look();
    },
  };
}

/** A well-behaved agent; tests override parts of it with `on`. */
function behave(agent: ScriptedAgent, traits: Traits): void {
  const { sessions, name } = agent;
  const { capabilities = ALL_CAPABILITIES, authMethods = [], title = name, version = 1 } = traits;
  const mint = traits.mint ?? ((n) => `${name}-${n}`);
  let minted = 0;
  const find = (sessionId: string): ScriptedSession => {
    const session = sessions.get(sessionId);
    if (!session) throw new Refusal(-32002, 'Resource not found', { sessionId });
    return session;
  };
  const describe =
    traits.describe ??
    (({ model }) => ({
      configOptions: [{ id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: model, options: MODELS(name) }],
    }));
  const create = (cwd: string): ScriptedSession => {
    const n = ++minted;
    const session = { id: mint(n), cwd, model: `${name}-small`, mode: 'ask', title: `${name} ${n}`, updatedAt: new Date(n).toISOString() };
    sessions.set(session.id, session);
    return session;
  };
  const bringBack = ({ sessionId, cwd }: Json) => {
    const session = find(sessionId);
    session.cwd = cwd;
    return describe(session);
  };

  agent.on('*', (_, msg) => {
    throw new Refusal(-32601, `Method not found: ${msg.method}`, { method: msg.method });
  });
  agent.on('initialize', () => ({
    protocolVersion: version,
    agentCapabilities: capabilities,
    ...(traits.canSteer && { _meta: { steering: { supported: true } } }),
    agentInfo: { name, title, version: '1.2.3' },
    authMethods,
  }));
  const opened = ({ cwd }: Json) => {
    const session = create(cwd);
    return { sessionId: session.id, ...describe(session) };
  };
  agent.on('session/new', opened);
  agent.on('session/fork', (params) => {
    find(params.sessionId);
    return opened(params);
  });
  agent.on('session/resume', bringBack);
  agent.on('session/load', (params) => {
    const answer = bringBack(params);
    agent.sendText(params.sessionId, `replay of ${params.sessionId} by ${name}`);
    return answer;
  });
  agent.on('session/list', ({ cwd }) => ({
    sessions: [...sessions.values()]
      .filter((session) => cwd === undefined || session.cwd === cwd)
      .map(({ id, cwd: where, title: called, updatedAt }) => ({ sessionId: id, cwd: where, title: called, updatedAt })),
  }));
  agent.on('session/close', () => ({}));
  agent.on('session/delete', ({ sessionId }) => void sessions.delete(sessionId));
  agent.on('session/set_config_option', ({ sessionId, configId, value }) => {
    const session = find(sessionId);
    if (configId !== 'model' || !MODELS(name).some((model) => model.value === value))
      throw new Refusal(-32602, `${name} has no option ${configId}=${value}`);
    session.model = value;
    return { configOptions: describe(session).configOptions };
  });
  agent.on('session/set_mode', ({ sessionId, modeId }) => {
    find(sessionId).mode = modeId;
  });
  agent.on('session/prompt', async (params) => {
    const session = find(params.sessionId);
    const message = params.prompt.map((block: Json) => block.text ?? '').join('');
    if (traits.turn) return traits.turn(session, message, params);
    agent.sendText(session.id, `${name} heard ${message}`);
    return { stopReason: 'end_turn' };
  });
  agent.on('session/cancel', () => {});
  agent.on('$/cancel_request', () => {});
}
