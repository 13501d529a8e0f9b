// Why an op fails, as a page reads it: what is wrong and what to do. The socket stays open.
import type * as z from 'zod';
import { ClientError } from '../client/client-error.ts';
import { ProxyError, wireDataOf } from '../errors.ts';

/** The `error` of a response frame. */
export type FrameError = {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  /** The agent wants a login first: send `authenticate` with one of these methods. */
  readonly authRequired?: true;
  readonly authMethods?: readonly unknown[];
};

const INVALID = -32602;
const LOGIN_CODES: ReadonlySet<number> = new Set([-32000, 401]);

export const refusals = {
  notText: () => new ClientError(-32600, 'binary frames are not read; send JSON as text'),
  notJson: () => new ClientError(-32700, 'the frame is not JSON'),
  notAFrame: (why: string) => new ClientError(-32600, `not a request frame: ${why}; send {"type": "acp", "id", "op", "payload"}`),
  unknownOp: (op: string, known: readonly string[]) =>
    new ClientError(-32601, `unknown op ${JSON.stringify(op.slice(0, 80))}; known ops: ${known.join(', ')}`),
  payload: (op: string, why: string) => new ClientError(INVALID, `invalid payload of ${op}: ${why}`),
  busy: (most: number) => new ClientError(-32600, `more than ${most} requests of this page are open; wait for their responses`),
  notConnected: () => new ClientError(-32600, 'no agent is connected; send connect first'),
  noSession: () => new ClientError(INVALID, 'there is no session yet; send session.new first, or name a sessionId'),
  unknownSession: (id: string) =>
    new ClientError(-32002, `unknown session ${JSON.stringify(id.slice(0, 200))}; sessions.list names the known ones`),
  orphanedSession: (id: string, agent: string) =>
    new ClientError(-32002, `session "${id}" belongs to agent "${agent}", which is not configured; add it to agent_servers`),
  commandRefused: (names: readonly string[]) =>
    new ClientError(
      INVALID,
      `agentCmd names no configured agent; use one of ${names.join(', ')}, or let the owner of the daemon set web_app.allow_commands`,
    ),
  commandUnreadable: () => new ClientError(INVALID, 'agentCmd has an unterminated quote'),
  envRefused: (name: string, why: string) => new ClientError(INVALID, `env may not set ${JSON.stringify(name.slice(0, 80))}: ${why}`),
  proxyRefused: () => new ClientError(INVALID, 'proxy must be a URL of http, https, socks4 or socks5'),
  proxyOfRemote: (agent: string) =>
    new ClientError(INVALID, `agent "${agent}" runs elsewhere, so env and proxy cannot be set; send connect without them`),
  tooManyAgents: (most: number) => new ClientError(-32603, `more than ${most} agents are connected; close pages that use the others`),
  stdioServer: (name: string) =>
    new ClientError(
      INVALID,
      `MCP server "${name}" is a program, and a page may not start programs; use an http server, or let the owner of the daemon set network_clients.stdio_servers`,
    ),
  questionUnknown: (id: number) => new ClientError(INVALID, `permission request ${id} is not open; it was answered or cancelled`),
  optionMissing: () => new ClientError(INVALID, 'optionId is missing; it is required with the outcome "selected"'),
  optionUnknown: (id: string, known: readonly string[]) =>
    new ClientError(INVALID, `unknown optionId ${JSON.stringify(id.slice(0, 80))}; the options are ${known.join(', ')}`),
  noModels: () => new ClientError(INVALID, 'the agent of this session offers no models'),
  unknownModel: (id: string, known: readonly string[]) =>
    new ClientError(INVALID, `unknown model ${JSON.stringify(id.slice(0, 80))}; the models are ${known.join(', ')}`),
  terminalsOff: () =>
    new ClientError(-32601, 'terminals of pages are off; the owner of the daemon can turn them on with web_app.allow_terminals'),
  terminalUnknown: (id: string) =>
    new ClientError(-32002, `unknown terminal ${JSON.stringify(id.slice(0, 80))}; it may have been released`),
  terminalOfAgent: () => new ClientError(INVALID, 'the terminal belongs to an agent; cancel its turn to stop it'),
  denied: (reason: string) => new ClientError(-32603, reason),
  notAFile: () => new ClientError(INVALID, 'only files on this machine can be read; give an absolute path or a file: URI'),
  conflict: (file: string, why: string) =>
    new ClientError(-32603, `conflict in ${file}: ${why}; nothing was written`, { reason: 'conflict', path: file }),
  noThreads: () => new ClientError(-32603, 'transcripts are off; the owner of the daemon can turn them on with store.transcripts'),
  unknownThread: (id: string) =>
    new ClientError(-32002, `no transcript of ${JSON.stringify(id.slice(0, 200))}; threads.list names the stored ones`),
} as const;

/** The first problems that zod found, with their places. */
export function problemsIn({ issues }: z.ZodError): string {
  const shown = issues.slice(0, 3).map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  return shown.join('; ');
}

/** Whether an agent refused because its user is not logged in. */
export const wantsLogin = (error: unknown): boolean => LOGIN_CODES.has(peerErrorOf(error).code);

/** `authMethods`: those of the agent that failed. */
export function frameErrorOf(error: unknown, authMethods: readonly unknown[] | undefined): FrameError {
  const { code, message, data } = peerErrorOf(error);
  return {
    code,
    message,
    ...(data !== undefined && { data }),
    ...(LOGIN_CODES.has(code) && { authRequired: true, authMethods: authMethods ?? [] }),
  };
}

function peerErrorOf(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  if (error instanceof ClientError) return error;
  if (error instanceof ProxyError) return { code: error.rpc, message: error.message, data: wireDataOf(error) };
  return { code: -32603, message: error instanceof Error ? error.message : String(error) };
}
