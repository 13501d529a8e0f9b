// The clients of the daemon: those that connect with a token, and the console. Who they are, what they may do, and how they are served.

import { realpathSync } from 'node:fs';
import type { ClientStreams, Guest, Served } from '../../app/serve-client.ts';
import { type ServedClient, type ServedClients, type Streams, serveClients } from '../../attach/serve-clients.ts';
import type { Principal } from '../../attach/state.ts';
import type { Config } from '../../config/config.ts';
import type { Connected } from '../../console/console.ts';
import type { NetworkClient } from '../../console/protocol/agents.ts';
import type { Addresses } from '../../listener/access.ts';
import { type AcpEndpoint, createAcpEndpoint } from '../../listener/acp-endpoint.ts';
import { createGate, type Gate } from '../../listener/gate.ts';
import type { BodyLimits } from '../../listener/respond.ts';
import { isInside } from '../../native-path.ts';
import type { RunningProxy } from '../../proxy/api.ts';
import { type ClientScope, opensOutOfScope } from '../../proxy/client-scope.ts';
import { createTokenReader, type Token } from '../../store/tokens.ts';
import { inProcessPair } from '../../transports/in-process.ts';
import { Scanner } from '../../wire/scanner/scanner.ts';
import type { InProcess } from '../in-process-proxy.ts';

export type NetworkClients = {
  readonly acp: AcpEndpoint;
  /** Serves a client of this process for a principal. Its sessions do not outlive its token. */
  connect(streams: Streams, token: Token): ServedClient;
  /** Serves the console, which may join every session. */
  connectConsole(): ConsoleSide;
  /** Clients and live sessions. */
  readonly served: ServedClients;
  /** Clients, for people: those with a token, and the console if it has sessions and `hasConsole` is set. */
  list(hasConsole?: boolean): readonly NetworkClient[];
  /** Returns whether the client was connected. */
  disconnect(number: number): boolean;
  /** A proxy connection for a client of this principal. */
  openProxy(streams: ClientStreams, principal: Principal, how: Pick<Guest, 'only'>): Served;
  /** The waiting prompts of all clients. Their ids are numbers, which no other prompt of this daemon gets. */
  readonly queue: Pick<RunningProxy, 'queuedPrompts' | 'changeQueued'>;
  /** Whether this principal may open sessions in a directory. */
  allowsDirectory(principal: Principal, directory: string): boolean;
  /** Whether an agent works on a request. */
  isBusy(): boolean;
  /** Ends all agents at once. */
  kill(): void;
  /** Disconnects all clients, and stops their agents. */
  close(): Promise<void>;
};

export type ConsoleSide = Connected & {
  /** The proxy of the sessions that the console opens. */
  readonly connection: Served['connection'];
  /** Completes what the transcripts of all clients have. */
  settle(): void;
};

/** No token has such a name. */
const CONSOLE: Principal = { name: 'the console', role: 'owner' };

/** `own`: the Host values that lead here, once the port is known, and the pages of this server that may connect. */
export const addressesOf = ({ network }: Config, { hosts, origins, takesAddresses }: Addresses): Addresses => ({
  hosts: new Set([...hosts, ...network.hosts]),
  origins: new Set([...network.origins, ...origins]),
  takesAddresses: takesAddresses === true,
});

export const openGate = ({ stateDir }: Pick<InProcess, 'stateDir'>, addresses: () => Addresses): Gate =>
  createGate({ tokens: createTokenReader(stateDir, Date.now), addresses });

export function networkClients(
  { config, connect, owns, isStored }: Pick<InProcess, 'config' | 'connect' | 'owns' | 'isStored'>,
  gate: Gate,
  bodyLimits: (principal: string) => BodyLimits,
): NetworkClients {
  const allowsDirectory = directoryCheck(config.network.allowCwd ?? [process.cwd()]);
  const open = new Set<Served>();
  const connections = () => [...open].map(({ connection }) => connection);
  function openProxy(streams: ClientStreams, principal: Principal, how: Omit<Guest, 'scope' | 'principal'>): Served {
    const proxy = connect(streams, undefined, { ...(principal !== CONSOLE && guestOf(principal, config, allowsDirectory)), ...how });
    open.add(proxy);
    void proxy.closed.then(() => open.delete(proxy));
    return proxy;
  }
  /** The proxy behind the console, once it is connected. */
  let consoleProxy: Served | undefined;
  const served = serveClients({
    scanner: new Scanner(),
    maxFrameBytes: config.limits.maxFrameBytes,
    graceMs: config.network.detachGraceMs,
    offersAttach: config.network.offersAttach,
    isStored,
    refuses: (principal, frame) =>
      principal.role === 'client' && frame.method !== 'session/attach'
        ? opensOutOfScope(scopeOf(principal, config, allowsDirectory), frame.method ?? '', frame)
        : undefined,
    openProxy(streams, principal, multiplexer) {
      const proxy = openProxy(streams, principal, { multiplexer });
      if (principal === CONSOLE) consoleProxy = proxy;
      const { connection, transcripts, close } = proxy;
      const { ended, evaluatedRequest } = connection;
      return { ended, evaluatedRequest, transcripts, close };
    },
  });
  const kept = new Map<string, { readonly token: Token; readonly stopWatching: () => void }>();
  /** Sessions outlive the clients of a token, but not the token. One of the same name that comes later is another one. */
  function keepWhileValid(token: Token): void {
    const { name } = token;
    const before = kept.get(name);
    if (before?.token.createdAt === token.createdAt) return;
    before?.stopWatching();
    if (before) served.endPrincipal(name);
    const ended = () => {
      kept.delete(name);
      served.endPrincipal(name);
    };
    kept.set(name, { token, stopWatching: gate.whileValid(token, ended) });
  }
  function connectFor(streams: Streams, token: Token): ServedClient {
    keepWhileValid(token);
    return served.connect(streams, { name: token.name, role: token.role as Principal['role'] });
  }
  const acp = createAcpEndpoint({
    gate,
    maxFrameBytes: config.limits.maxFrameBytes,
    bodyLimits,
    now: Date.now,
    knows: (sessionId, { name, role }) => role !== 'client' || owns(name, sessionId),
    connect: connectFor,
  });
  const queue: NetworkClients['queue'] = {
    queuedPrompts: () => connections().flatMap(({ queuedPrompts }) => queuedPrompts()),
    changeQueued: (prompt, text) => connections().some(({ changeQueued }) => changeQueued(prompt, text)),
  };
  function connectConsole(): ConsoleSide {
    const { client, proxy } = inProcessPair();
    const { evaluatedRequest, number, leave, prompts } = served.connect(proxy, CONSOLE, true);
    const { connection } = consoleProxy as Served;
    const proxyOf = (sessionId: string) => connections().find(({ agentOf }) => agentOf(sessionId) !== undefined) ?? connection;
    return {
      ...client,
      connection,
      evaluatedRequest,
      byUser: (sessionId, act, file) => proxyOf(sessionId).fileActionByUser(sessionId, act, file),
      queue: {
        ...queue,
        runningPrompts: (sessionId) => proxyOf(sessionId).runningPrompts(sessionId),
        others: {
          isPrompting: (sessionId) => prompts(sessionId).others > 0,
          isMine: ({ sessionId, id }) => prompts(sessionId).own.includes(id),
        },
      },
      others: {
        number,
        leave,
        isLive: (sessionId) => served.sessions().some((one) => one.sessionId === sessionId),
      },
      settle() {
        for (const { transcripts } of open) transcripts?.stats();
      },
    };
  }
  const listed = (hasConsole = false): readonly NetworkClient[] =>
    served
      .clients()
      .filter(({ principal, sessions }) => principal !== CONSOLE || (hasConsole && sessions.length > 0))
      .map(({ disconnect: _, principal: { name, role }, ...one }) => ({ ...one, principal: name, role }));
  function disconnect(number: number): boolean {
    const client = served.clients().find((one) => one.number === number && one.principal !== CONSOLE);
    client?.disconnect('disconnected by the owner');
    return client !== undefined;
  }
  return {
    acp,
    connect: connectFor,
    served,
    list: listed,
    disconnect,
    openProxy,
    connectConsole,
    queue,
    kill: () => {
      for (const { kill } of connections()) kill();
    },
    allowsDirectory: ({ role }, directory) => role === 'owner' || allowsDirectory(directory),
    async close() {
      gate.close();
      await acp.close();
      await served.close();
    },
    isBusy: () => connections().some(({ health }) => Object.values(health()).some(({ inFlight }) => inFlight > 0)),
  };
}

type AllowsDirectory = (directory: string) => boolean;

export const guestOf = (principal: Principal, config: Config, allowsDirectory: AllowsDirectory, of?: string): Guest => ({
  // An owner and an observer see every session.
  principal: principal.role === 'client' ? principal.name : undefined,
  scope: scopeOf(principal, config, allowsDirectory, of),
});

/** `of`: what it is a client of, in messages. */
export const scopeOf = ({ role }: Principal, { network }: Config, allowsDirectory: AllowsDirectory, of = 'the daemon'): ClientScope => ({
  isOwner: role === 'owner',
  isObserver: role === 'observer',
  of,
  allowsDirectory,
  allowsStdioServers: network.allowsStdioServers,
});

/** A directory counts by where it really is, so a link does not lead out. */
export function directoryCheck(allowed: readonly string[]): (directory: string) => boolean {
  return (directory) => {
    const at = realOf(directory);
    return (
      at !== undefined &&
      allowed.some((one) => {
        const root = realOf(one);
        return root !== undefined && isInside(root, at);
      })
    );
  };
}

function realOf(directory: string): string | undefined {
  try {
    return realpathSync(directory);
  } catch {
    return undefined;
  }
}
