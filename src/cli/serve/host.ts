// The files and terminals that the console lends agents: those of the session's directory, and no others.
import { ClientError } from '../../client/client.ts';
import type { Host } from '../../console/desk.ts';
import { ProxyError } from '../../errors.ts';
import { type Roots, rootsOf } from '../../workspace/roots.ts';
import { createWorkspace } from '../../workspace/workspace.ts';

const GRACE_MS = 3000;

/** `mark` tells the programs it starts from others. */
export function createHost(mark: string): Host {
  const workspace = createWorkspace({ mark, onChild: () => {} });
  const owners = new Map<string, { readonly roots: Roots }>();
  return {
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    async serve(sessionId, cwd, method, params) {
      const owner = owners.get(sessionId) ?? { roots: rootsOf([cwd]) };
      owners.set(sessionId, owner);
      try {
        return await workspace.serve(method, params, { owner, roots: owner.roots, graceMs: GRACE_MS });
      } catch (error) {
        if (error instanceof ProxyError) throw new ClientError(error.rpc, error.message, error.data);
        throw error;
      }
    },
    endOf(sessionId) {
      const owner = owners.get(sessionId);
      if (owner) workspace.endOf(owner);
      owners.delete(sessionId);
    },
    stop: () => workspace.stop(),
  };
}
