// Files and terminals that the console serves to agents, and the web app to its pages, limited to the session's directories.
import { ClientError } from '../../client/client-error.ts';
import type { Host } from '../../console/client/workspace.ts';
import { ProxyError, wireDataOf } from '../../errors.ts';
import { type Roots, rootsOf } from '../../workspace/roots.ts';
import type { TerminalsOptions } from '../../workspace/terminals.ts';
import { createWorkspace, type Requester } from '../../workspace/workspace.ts';

const GRACE_MS = 3000;

/** `mark` identifies the programs it starts; `environment` is what they inherit; `heard` gets the output of terminals as it comes. */
export function createHost(mark: string, environment: () => NodeJS.ProcessEnv, heard?: TerminalsOptions['heard']): Host {
  const workspace = createWorkspace({ mark, onChild: () => {}, environment, heard });
  const owners = new Map<string, { roots: Roots }>();
  function requesterOf(sessionId: string, evaluatedPath: string | undefined): Requester {
    const owner = owners.get(sessionId);
    if (!owner) throw new ClientError(-32602, 'the session is not open here');
    return { owner, roots: owner.roots, evaluatedPath, graceMs: GRACE_MS };
  }
  return {
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    look(directories) {
      const roots = rootsOf(directories);
      return (sessionId) => {
        // Its terminals keep running: the session may be opened again.
        const owner = owners.get(sessionId);
        if (owner) owner.roots = roots;
        else owners.set(sessionId, { roots });
      };
    },
    serve: async (sessionId, method, params, evaluatedPath) =>
      answered(workspace.serve(method, params, requesterOf(sessionId, evaluatedPath))),
    edit: async (sessionId, file, edit, evaluatedPath) => answered(workspace.edit(file, edit, requesterOf(sessionId, evaluatedPath))),
    endOf(sessionId) {
      const owner = owners.get(sessionId);
      if (owner) workspace.endOf(owner);
      owners.delete(sessionId);
    },
    stop: () => workspace.stop(),
  };
}

/** Maps workspace failures to ACP errors. */
function answered<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw error instanceof ProxyError ? new ClientError(error.rpc, error.message, wireDataOf(error)) : error;
  });
}
