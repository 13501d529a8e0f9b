// Clients that connect to the daemon with a token: who they are, what they may do, and how they are served.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { ClientStreams, Guest, Served } from '../../app/serve-client.ts';
import { type ServedClient, type ServedClients, type Streams, serveClients } from '../../attach/serve-clients.ts';
import type { Principal } from '../../attach/state.ts';
import type { Config } from '../../config/config.ts';
import type { NetworkClient } from '../../console/protocol/agents.ts';
import { type AcpEndpoint, createAcpEndpoint } from '../../listener/acp-endpoint.ts';
import { createGate, type Gate } from '../../listener/gate.ts';
import type { BodyLimits } from '../../listener/respond.ts';
import { opensOutOfScope } from '../../proxy/client-scope.ts';
import { createTokenReader, type Token } from '../../store/tokens.ts';
import { Scanner } from '../../wire/scanner/scanner.ts';
import type { InProcessProxy } from '../in-process-proxy.ts';

export type NetworkClients = {
  readonly acp: AcpEndpoint;
  /** Serves a client of this process for a principal. Its sessions do not outlive its token. */
  connect(streams: Streams, token: Token): ServedClient;
  /** Clients and live sessions. */
  readonly served: ServedClients;
  /** Clients, for people. */
  list(): readonly NetworkClient[];
  /** Returns whether the client was connected. */
  disconnect(number: number): boolean;
  /** A proxy connection for a client of this principal. */
  openProxy(streams: ClientStreams, principal: Principal, how: Pick<Guest, 'only'>): Served;
  /** Whether this principal may open sessions in a directory. */
  allowsDirectory(principal: Principal, directory: string): boolean;
  /** Whether an agent works on a request. */
  isBusy(): boolean;
  /** Disconnects all clients, and stops their agents. */
  close(): Promise<void>;
};

/** `hosts`: the Host values that lead here, once the port is known. `ownOrigins`: pages of this server that may connect. */
export function openGate(
  { config, stateDir }: Pick<InProcessProxy, 'config' | 'stateDir'>,
  hosts: () => ReadonlySet<string>,
  ownOrigins: () => readonly string[],
): Gate {
  const addresses = () => ({ hosts: hosts(), origins: new Set([...config.network.origins, ...ownOrigins()]) });
  return createGate({ tokens: createTokenReader(stateDir, Date.now), addresses });
}

export function networkClients(
  { config, connect, owns, isStored }: Pick<InProcessProxy, 'config' | 'connect' | 'owns' | 'isStored'>,
  gate: Gate,
  bodyLimits: (principal: string) => BodyLimits,
): NetworkClients {
  const allowsDirectory = directoryCheck(config.network.allowCwd ?? [process.cwd()]);
  const busy = new Set<() => boolean>();
  function openProxy(streams: ClientStreams, principal: Principal, how: Omit<Guest, 'scope' | 'principal'>): Served {
    const proxy = connect(streams, undefined, { ...guestOf(principal, config, allowsDirectory), ...how });
    const isBusy = () => Object.values(proxy.connection.health()).some(({ inFlight }) => inFlight > 0);
    busy.add(isBusy);
    void proxy.closed.then(() => busy.delete(isBusy));
    return proxy;
  }
  const served = serveClients({
    scanner: new Scanner(),
    maxFrameBytes: config.limits.maxFrameBytes,
    graceMs: config.network.detachGraceMs,
    offersAttach: config.network.offersAttach,
    isStored,
    refuses: (principal, frame) =>
      principal.role === 'client' && frame.method !== 'session/attach'
        ? opensOutOfScope(guestOf(principal, config, allowsDirectory).scope, frame.method ?? '', frame)
        : undefined,
    openProxy(streams, principal, multiplexer) {
      const { connection, transcripts, close } = openProxy(streams, principal, { multiplexer });
      const { ended, evaluatedRequest } = connection;
      return { ended, evaluatedRequest, transcripts, close };
    },
  });
  function connectFor(streams: Streams, token: Token): ServedClient {
    const client = served.connect(streams, { name: token.name, role: token.role as Principal['role'] });
    // The sessions of a revoked token do not wait for its next client.
    void client.closed.then(() => void (gate.isValid(token) || served.endPrincipal(token.name)));
    return client;
  }
  const acp = createAcpEndpoint({
    gate,
    maxFrameBytes: config.limits.maxFrameBytes,
    bodyLimits,
    now: Date.now,
    knows: (sessionId, { name, role }) => role !== 'client' || owns(name, sessionId),
    connect: connectFor,
  });
  const listed = (): readonly NetworkClient[] =>
    served.clients().map(({ disconnect: _, principal: { name, role }, ...one }) => ({ ...one, principal: name, role }));
  function disconnect(number: number): boolean {
    const client = served.clients().find((one) => one.number === number);
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
    allowsDirectory: ({ role }, directory) => role === 'owner' || allowsDirectory(directory),
    async close() {
      gate.close();
      await acp.close();
      await served.close();
    },
    isBusy: () => [...busy].some((isBusy) => isBusy()),
  };
}

function guestOf({ name, role }: Principal, { network }: Config, allowsDirectory: (directory: string) => boolean): Guest {
  return {
    // An owner and an observer see every session.
    principal: role === 'client' ? name : undefined,
    scope: {
      isOwner: role === 'owner',
      isObserver: role === 'observer',
      allowsDirectory,
      allowsStdioServers: network.allowsStdioServers,
    },
  };
}

/** A directory counts by where it really is, so a link does not lead out. */
function directoryCheck(allowed: readonly string[]): (directory: string) => boolean {
  return (directory) => {
    const at = realOf(directory);
    return at !== undefined && allowed.some((one) => isBelow(at, realOf(one)));
  };
}

const isBelow = (at: string, root: string | undefined): boolean =>
  root !== undefined && (at === root || at.startsWith(root.endsWith(path.sep) ? root : `${root}${path.sep}`));

function realOf(directory: string): string | undefined {
  try {
    return realpathSync(directory);
  } catch {
    return undefined;
  }
}
