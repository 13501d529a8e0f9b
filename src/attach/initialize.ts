// initialize: the first client's goes on to the shared proxy, and its answer serves the others too.
import { failure } from '../errors.ts';
import { fields } from '../json-object.ts';
import { errorLine, resultLine } from '../proxy/json-rpc-lines.ts';
import { type Frame, type Span, textOf } from '../wire/frame.ts';
import { idTextOf } from '../wire/scanner/large-frame.ts';
import { readBody } from '../wire/scanner/strict-parse.ts';
import type { AttachedClient, ClientCapabilities, Hub, SharedProxy } from './state.ts';

/** Whether the client waits for the answer to an initialize. */
export const isInitializing = (client: AttachedClient): boolean =>
  'waiting' in client.proxy.initialized && client.proxy.initialized.waiting.has(client);

/** Calls `released` after the answer. */
export function initialize(hub: Hub, client: AttachedClient, frame: Frame, released: (isOpen: boolean) => void): void {
  const idText = idTextOf(frame);
  const params = readBody(frame);
  if (!params.ok) return client.port.line(errorLine(idText, failure('AMBIGUOUS', [params.reason])));
  const { clientCapabilities, clientInfo } = fields(params.value);
  const { name, title } = fields(clientInfo);
  client.capabilities = capabilitiesOf(clientCapabilities);
  client.program = [title, name].find((one): one is string => typeof one === 'string')?.slice(0, 80);
  const { proxy } = client;
  if ('resultText' in proxy.initialized) return answer(hub, client, idText, proxy.initialized.resultText, released);
  proxy.initialized.waiting.set(client, { idText, released });
  if (proxy.initialized.isAsked) return;
  proxy.initialized.isAsked = true;
  proxy.offered = client.capabilities;
  const id = hub.nextId();
  proxy.calls.set(id, {
    id,
    method: 'initialize',
    proxy,
    client: undefined,
    idText: id,
    session: undefined,
    before: (one) => initialized(hub, proxy, one),
  });
  proxy.port.frame(frame, [{ span: frame.id as Span, text: id }]);
}

function initialized(hub: Hub, proxy: SharedProxy, one: Frame): void {
  if ('resultText' in proxy.initialized) return;
  const { waiting } = proxy.initialized;
  const text = one.body ? textOf(one.bytes, one.body) : '{}';
  const isResult = one.outcome === 'result';
  proxy.initialized = isResult ? { resultText: text } : { waiting: new Map(), isAsked: false };
  for (const [client, { idText, released }] of waiting)
    if (isResult) answer(hub, client, idText, text, released);
    else {
      client.port.line(`{"jsonrpc":"2.0","id":${idText},"error":${text}}\n`);
      released(false);
    }
}

function answer({ deps }: Hub, client: AttachedClient, idText: string, resultText: string, released: (isOpen: boolean) => void): void {
  client.port.line(resultLine(idText, deps.offersAttach ? withAttach(resultText) : resultText));
  released(true);
}

function withAttach(resultText: string): string {
  const result = fields(JSON.parse(resultText));
  const agentCapabilities = fields(result.agentCapabilities);
  const sessionCapabilities = { ...fields(agentCapabilities.sessionCapabilities), attach: {} };
  return JSON.stringify({ ...result, agentCapabilities: { ...agentCapabilities, sessionCapabilities } });
}

function capabilitiesOf(value: unknown): ClientCapabilities {
  const { fs, terminal, elicitation, session, plan, subagents } = fields(value);
  const { readTextFile, writeTextFile } = fields(fs);
  const { form, url } = fields(elicitation);
  const { configOptions, notices, compaction } = fields(session);
  return {
    readsFiles: readTextFile === true,
    writesFiles: writeTextFile === true,
    terminals: terminal === true,
    forms: has(form),
    urls: has(url),
    booleanOptions: has(fields(configOptions).boolean),
    notices: has(notices),
    compaction: has(compaction),
    plans: has(plan),
    subagents: has(subagents),
  };
}

const has = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
