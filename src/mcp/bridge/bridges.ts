// All bridges of a connection: their tokens and listeners.

import { createRevokedKeys, tokenKey } from '../server/tool-server.ts';
import { createListeners, type Shim } from '../transports/listeners.ts';
import { type Bridge, type BridgeDeps, createBridge } from './bridge.ts';
import type { ClientServer } from './client-server.ts';

export type Wanted = { readonly server: ClientServer; readonly way: 'http' | 'stdio' | 'tcp' };

/** The entries that replace the servers, in their order, as JSON text. */
export type Opened = { readonly entries: readonly string[]; revoke(): void };

export type Bridges = {
  /** Calls back at once, unless a listener must be opened first. */
  open(wanted: readonly Wanted[], deps: Omit<BridgeDeps, 'onEnding'>, done: (opened: Opened | Error) => void): void;
  /** Resolves when all started servers have exited. */
  close(): Promise<void>;
};

export function createBridges(shim: Shim, onRefused: () => void): Bridges {
  const byKey = new Map<string, Bridge>();
  const revoked = createRevokedKeys();
  const listeners = createListeners<Bridge>(shim, {
    admit(token) {
      const key = tokenKey(token);
      const bridge = byKey.get(key);
      if (!bridge && !revoked.has(key)) onRefused();
      return bridge;
    },
    serveSocket: (bridge, socket) => bridge.serveSocket(socket),
    serveHttp: (bridge) => bridge.serveHttp(),
  });

  const ending = new Set<Promise<void>>();
  const onEnding = (done: Promise<void>) => {
    ending.add(done);
    void done.then(() => ending.delete(done));
  };
  function bridgeTo(server: ClientServer, deps: Omit<BridgeDeps, 'onEnding'>): Bridge {
    const bridge = createBridge(server, { ...deps, onEnding });
    const key = tokenKey(bridge.token);
    byKey.set(key, bridge);
    bridge.onRevoke(() => {
      byKey.delete(key);
      revoked.add(key);
    });
    return bridge;
  }

  return {
    open(wanted, deps, done) {
      const bridges: Bridge[] = [];
      const entries: string[] = [];
      const revoke = () => {
        for (const bridge of bridges) bridge.revoke();
      };
      const next = ([one, ...others]: readonly Wanted[]): void => {
        if (!one) return done({ entries, revoke });
        listeners.open(one.way, (entry) => {
          if (entry instanceof Error) {
            revoke();
            return done(entry);
          }
          const bridge = bridgeTo(one.server, deps);
          bridges.push(bridge);
          entries.push(entry(one.server.name, bridge.token));
          next(others);
        });
      };
      next(wanted);
    },
    async close() {
      for (const bridge of [...byKey.values()]) bridge.revoke();
      listeners.close();
      await Promise.all(ending);
    },
  };
}
