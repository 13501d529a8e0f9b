// A server inside the client, reached by `mcp/message`. It speaks the 2026 era: no handshake, no connection, every request complete in
// itself. Most agents speak the 2025 era, so this file translates. Requests of the 2026 era pass unchanged.
import type { JSONRPCMessage, JSONRPCRequest, RequestId, Transport } from '@modelcontextprotocol/client';
import type { McpReply } from '../transports/acp-transport.ts';

/** Sends one request to a server of the client. The returned function cancels it; it then has no answer. */
export type AskClient = (
  serverId: string,
  method: string,
  params: unknown,
  done: (reply: McpReply) => void,
  onNote: (method: string, params: unknown) => void,
) => () => void;

type Params = Readonly<Record<string, unknown>>;

const ERA = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const METHOD_NOT_FOUND = -32601;
/** Limits a server that keeps requesting more input. */
const MAX_ROUNDS = 8;

export function acpUpstream(serverId: string, ask: AskClient): Transport {
  const open = new Map<RequestId, () => void>();
  /** Requests to the agent on behalf of a server that needs input. */
  const agentRequests = new Map<RequestId, (reply: McpReply) => void>();
  const watched = new Set<string>();
  let client: Params = {};
  let capabilities: Readonly<Record<string, { listChanged?: unknown; subscribe?: unknown } | undefined>> = {};
  let logLevel: unknown;
  let unlisten = () => {};
  let nextId = 0;

  const out = (message: JSONRPCMessage) => back.onmessage?.(message);
  const note = (method: string, params: unknown) => out({ jsonrpc: '2.0', method, params: { ...(params as Params) } });
  const reply = (id: RequestId, outcome: McpReply) => {
    if (!open.delete(id)) return;
    out(
      'result' in outcome
        ? { jsonrpc: '2.0', id, result: { ...(outcome.result as Params) } }
        : { jsonrpc: '2.0', id, error: outcome.error },
    );
  };
  const envelope = (): Params => ({
    [`${META}protocolVersion`]: ERA,
    [`${META}clientCapabilities`]: client.capabilities ?? {},
    ...(client.clientInfo !== undefined && { [`${META}clientInfo`]: client.clientInfo }),
    ...(logLevel !== undefined && { [`${META}logLevel`]: logLevel }),
  });
  const enveloped = (params: Params | undefined): Params => ({
    ...params,
    _meta: { ...(params?._meta as Params | undefined), ...envelope() },
  });

  /** `server/discover` provides what the handshake needs. */
  function initialize(id: RequestId, params: Params): void {
    client = params;
    open.set(
      id,
      ask(
        serverId,
        'server/discover',
        enveloped(undefined),
        (outcome) => {
          if (!('result' in outcome)) return reply(id, outcome);
          const found = (outcome.result ?? {}) as Params;
          capabilities = (found.capabilities ?? {}) as typeof capabilities;
          const wanted = String(params.protocolVersion);
          const serverInfo = (found._meta as Params | undefined)?.[`${META}serverInfo`] ?? { name: serverId, version: '0' };
          reply(id, {
            result: {
              protocolVersion: HANDSHAKE_VERSIONS.includes(wanted) ? wanted : HANDSHAKE_VERSIONS[0],
              capabilities: { ...capabilities, logging: {} },
              serverInfo,
              ...(found.instructions !== undefined && { instructions: found.instructions }),
            },
          });
          listen();
        },
        () => {},
      ),
    );
  }
  /** The 2026 era sends changes only to listeners; the 2025 era sends them unsolicited. */
  function listen(): void {
    unlisten();
    const { tools, prompts, resources } = capabilities;
    const notifications = {
      ...(tools?.listChanged === true && { toolsListChanged: true }),
      ...(prompts?.listChanged === true && { promptsListChanged: true }),
      ...(resources?.listChanged === true && { resourcesListChanged: true }),
      ...(watched.size > 0 && { resourceSubscriptions: [...watched] }),
    };
    if (Object.keys(notifications).length === 0) return;
    const onNotification = (method: string, params: unknown) => {
      if (method === 'notifications/subscriptions/acknowledged') return;
      const { _meta, ...rest } = (params ?? {}) as Params;
      const { [`${META}subscriptionId`]: _, ...meta } = (_meta ?? {}) as Params;
      note(method, { ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }) });
    };
    unlisten = ask(serverId, 'subscriptions/listen', enveloped({ notifications }), () => {}, onNotification);
  }

  /** In the 2026 era a server that needs input answers so and is called again with it; in the 2025 era it sends a request itself. */
  function call(id: RequestId, method: string, params: Params, round = 0): void {
    open.set(
      id,
      ask(
        serverId,
        method,
        enveloped(params),
        (outcome) => {
          const result = 'result' in outcome ? ((outcome.result ?? {}) as Params) : undefined;
          if (result?.resultType !== 'input_required') return reply(id, result ? { result: plain(result) } : outcome);
          if (round >= MAX_ROUNDS) return reply(id, refusal('it asked for more and more'));
          const wanted = Object.entries((result.inputRequests ?? {}) as Record<string, { method: string; params?: Params }>);
          void Promise.all(wanted.map(async ([key, one]) => [key, await askAgent(one.method, one.params)] as const)).then(
            (answers) => {
              if (!open.has(id)) return; // cancelled in the meantime
              const more = { ...(result.requestState !== undefined && { requestState: result.requestState }) };
              call(id, method, { ...params, inputResponses: Object.fromEntries(answers), ...more }, round + 1);
            },
            (error: Error) => reply(id, refusal(error.message)),
          );
        },
        note,
      ),
    );
  }
  function askAgent(method: string, params: Params | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = `switchboard-${nextId++}`;
      agentRequests.set(id, (outcome) => ('result' in outcome ? resolve(outcome.result) : reject(new Error(outcome.error.message))));
      out({ jsonrpc: '2.0', id, method, ...(params && { params: { ...params } }) });
    });
  }

  function request({ id, method, params = {} }: JSONRPCRequest): void {
    const done = (result: Params) => {
      open.set(id, () => {});
      reply(id, { result });
    };
    if ((params._meta as Params | undefined)?.[`${META}protocolVersion`] !== undefined)
      return void open.set(
        id,
        ask(serverId, method, params, (outcome) => reply(id, outcome), note),
      );
    switch (method) {
      case 'initialize':
        return initialize(id, params);
      case 'ping':
        return done({});
      case 'logging/setLevel':
        logLevel = params.level;
        return done({});
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        if (method === 'resources/subscribe') watched.add(String(params.uri));
        else watched.delete(String(params.uri));
        listen();
        return done({});
      case 'server/discover':
        open.set(id, () => {});
        return reply(id, { error: { code: METHOD_NOT_FOUND, message: 'server/discover without the envelope of its era' } });
      default:
        return call(id, method, params);
    }
  }

  const back: Transport = {
    async start() {},
    async send(message) {
      if ('method' in message && 'id' in message) return request(message);
      if ('method' in message) {
        if (message.method !== 'notifications/cancelled') return; // the 2026 era has no other notifications to a server
        const id = (message.params as { requestId?: RequestId } | undefined)?.requestId;
        const cancel = id === undefined ? undefined : open.get(id);
        if (id !== undefined) open.delete(id);
        return cancel?.();
      }
      const { id } = message;
      const waiting = id === undefined ? undefined : agentRequests.get(id);
      if (id !== undefined) agentRequests.delete(id);
      waiting?.('result' in message ? { result: message.result } : { error: message.error });
    },
    async close() {
      unlisten();
      for (const cancel of open.values()) cancel();
      open.clear();
      back.onclose?.();
    },
  };
  return back;
}

const refusal = (why: string): McpReply => ({
  error: { code: -32603, message: `The server wanted more input than it can be given here: ${why}` },
});

/** Removes fields that only the 2026 era has. */
function plain({ resultType: _, ...result }: Params): Params {
  return result;
}
