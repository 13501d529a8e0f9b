// The server's end of a bridge: a child process, a URL, or the client itself.
import { SSEClientTransport, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { type Children, type ServerProcess, serverProcess } from '../gateway/server-process.ts';
import { type AskClient, acpUpstream } from './acp-upstream.ts';
import type { ClientServer } from './client-server.ts';

export type UpstreamDeps = {
  /** The session's directory, in which the client's stdio servers start. */
  readonly cwd: string | undefined;
  readonly askClient: AskClient;
  readonly children: Children | undefined;
};
export type Upstream = Transport & { readonly exit?: string | undefined };

export function openUpstream(server: ClientServer, { cwd, askClient, children }: UpstreamDeps): Upstream | ServerProcess {
  switch (server.kind) {
    case 'stdio':
      return serverProcess({ command: server.command, args: server.args, env: server.env, cwd }, children);
    case 'http':
      return overHttp(server.url, server.headers);
    case 'sse':
      return new SSEClientTransport(new URL(server.url), { requestInit: { headers: server.headers } });
    case 'acp':
      return acpUpstream(server.serverId, askClient);
  }
}

/** Time for a server to learn that a session has ended. */
const TERMINATE_MS = 2000;

function overHttp(url: string, headers: Readonly<Record<string, string>>): Transport {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const close = transport.close.bind(transport);
  transport.close = async () => {
    const late = new Promise((resolve) => setTimeout(resolve, TERMINATE_MS).unref());
    await Promise.race([transport.terminateSession(), late]).catch(() => {});
    await close();
  };
  return transport;
}
