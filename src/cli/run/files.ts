// The files that a terminal client serves: the working directory, and more if the user allows it.
import { agentBehind } from '../../agents/catalogue.ts';
import type { AgentSpec } from '../../agents/defaults.ts';
import { bundledCatalogue } from '../../app/package-files.ts';
import type { Capabilities } from '../../client/acp-methods.ts';
import { ClientError } from '../../client/client-error.ts';
import { ProxyError, wireDataOf } from '../../errors.ts';
import { fields } from '../../json-object.ts';
import { rootsOf } from '../../workspace/roots.ts';
import { createWorkspace } from '../../workspace/workspace.ts';

export type Files = {
  /** The capabilities for `initialize`. */
  readonly capabilities: Capabilities;
  serve(method: string, params: unknown): Promise<unknown>;
  stop(): Promise<void>;
};

export type FilesOptions = {
  readonly canWrite: boolean;
  readonly canReadAll: boolean;
  readonly agent: AgentSpec | undefined;
  /** A write outside the working directory. */
  readonly refusedWrite?: (path: string) => void;
};

/** Writes stay in the working directory, whatever the user allowed. */
export function createFiles(cwd: string, { canWrite, canReadAll, agent, refusedWrite }: FilesOptions): Files {
  const workspace = createWorkspace({ mark: 'run', onChild: () => {}, environment: () => ({}) }); // no terminals are offered;
  const owner = {};
  const inside = rootsOf([cwd]);
  const readable = canReadAll ? rootsOf([cwd, '/']) : inside;
  return {
    capabilities: { fs: { readTextFile: true, writeTextFile: canWrite }, terminal: false, session: { notices: {} } },
    async serve(method, params) {
      const isRead = method === 'fs/read_text_file';
      if (!isRead && method !== 'fs/write_text_file') throw new ClientError(-32601, `Method not found: ${method}`);
      if (!isRead && !canWrite) throw new ClientError(-32601, 'Files are read-only: start switchboard run with --write to allow changes');
      try {
        return await workspace.serve(method, params, { owner, roots: isRead ? readable : inside, graceMs: 0 });
      } catch (error) {
        if (isRead && error instanceof ProxyError && error.key === 'FILE_MISSING' && readsMissingFiles(agent)) return { content: '' };
        if (!isRead && error instanceof ProxyError && error.key === 'PATH_OUTSIDE') refusedWrite?.(String(fields(params).path));
        if (error instanceof ProxyError) throw new ClientError(error.rpc, error.message, wireDataOf(error));
        throw error;
      }
    },
    stop: () => workspace.stop(),
  };
}

/** Gemini CLI 0.61 does not understand the error, and creates no file. */
function readsMissingFiles(agent: AgentSpec | undefined): boolean {
  return agent !== undefined && agentBehind([agent.command, ...agent.args], bundledCatalogue())?.readsMissingFiles === true;
}
