// An agent of a principal, over a proxy connection of its own: `initialize` then answers for this agent alone.
import type { Readable, Writable } from 'node:stream';
import { isOffered } from '../acp/shapes.ts';
import { type Client, createClient } from '../client/client.ts';
import { fields, type JsonObject } from '../json-object.ts';
import type { Questions } from './open-requests.ts';

export type Verdict = { readonly allow: true; readonly evaluatedPath?: string } | { readonly allow: false; readonly reason: string };
export type Command = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly cwd?: string | undefined;
};

/** A connection to a proxy in this process that knows one agent, and what the policy says about acts of the user. */
export type ProxyLink = {
  readonly input: Readable;
  readonly output: Writable;
  byUser(sessionId: string, act: 'read' | 'edit', file: string): Verdict;
  runByUser(sessionId: string, command: Command): Verdict;
  /** The updates that tell the session so far; undefined if there is no transcript. */
  transcript(sessionId: string): readonly JsonObject[] | undefined;
  /** Why the agent cannot be used, if it has failed to start. */
  problem(): Error | undefined;
  /** Stops the agent. */
  close(): Promise<void>;
};

export type AgentLink = {
  readonly name: string;
  /** The answer to `initialize`. */
  readonly init: JsonObject;
  readonly authMethods: readonly unknown[];
  readonly canResume: boolean;
  readonly client: Client;
  readonly proxy: ProxyLink;
  readonly closed: Promise<void>;
  close(): Promise<void>;
};

/** The proxy serves files and terminals: in the session's directories, under the policy, in the agent's sandbox. */
const CAPABILITIES = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };

export type LinkHandlers = {
  readonly permission: Questions['ask'];
  readonly update: (sessionId: string, update: JsonObject) => void;
};

/** Rejects if the agent does not start. */
export async function linkAgent(
  name: string,
  proxy: ProxyLink,
  clientInfo: { readonly name: string; readonly version: string },
  on: LinkHandlers,
): Promise<AgentLink> {
  const client = createClient(proxy.input, proxy.output, {
    requests: { 'session/request_permission': (params, { signal }) => on.permission(params, signal) },
    notifications: { 'session/update': ({ sessionId, update }) => on.update(sessionId, fields(update)) },
  });
  async function close(): Promise<void> {
    client.close();
    await proxy.close();
  }
  try {
    const init = fields(await client.request('initialize', { protocolVersion: 1, clientCapabilities: CAPABILITIES, clientInfo }));
    const problem = proxy.problem();
    if (problem) throw problem;
    const { authMethods, agentCapabilities } = init;
    return {
      name,
      init,
      authMethods: Array.isArray(authMethods) ? authMethods : [],
      canResume: isOffered(fields(fields(agentCapabilities).sessionCapabilities).resume),
      client,
      proxy,
      closed: client.closed,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
