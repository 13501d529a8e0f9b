// Files and terminals that the client lacks: agents see the capability, and our workspace answers.

import { failure, ProxyError } from '../../errors.ts';
import { fields } from '../../json-object.ts';
import { canonicalId } from '../../router/pending-ids.ts';
import { type Frame, textOf } from '../../wire/frame.ts';
import { member, memberAt } from '../../wire/json-path.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import { type Roots, rootsOf } from '../../workspace/roots.ts';
import { FILE_METHODS, TERMINAL_METHODS, type Workspace } from '../../workspace/workspace.ts';
import type { Agent } from '../agents/agent.ts';
import type { InitializeParams } from '../agents/agent-pool.ts';
import type { Parts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';

/** An agent's request that the workspace is answering. */
export type Serving = {
  readonly idText: string;
  readonly method: string;
  /** Answers it now; the result of the work is then dropped. */
  readonly answer: (respond: () => void) => void;
};

const NOTHING: ReadonlySet<string> = new Set();

/** What the client itself sent. */
export type ClientParams = Omit<InitializeParams, 'served' | 'missing'>;

/** The client's capabilities and those that our workspace adds. The client's own come first. */
export function withWorkspace(workspace: Workspace | undefined, initializeParams: ClientParams): InitializeParams {
  const own = fields(initializeParams.clientCapabilities);
  const fs = fields(own.fs);
  const missing = new Set<string>([
    ...(fs.readTextFile === true ? [] : [FILE_METHODS.read]),
    ...(fs.writeTextFile === true ? [] : [FILE_METHODS.write]),
    ...(own.terminal === true ? [] : TERMINAL_METHODS),
  ]);
  if (!workspace || missing.size === 0) return { ...initializeParams, missing, served: NOTHING };
  const clientCapabilities = { ...own, fs: { ...fs, readTextFile: true, writeTextFile: true }, terminal: true };
  return {
    paramsText: withMember(initializeParams.paramsText, 'clientCapabilities', JSON.stringify(clientCapabilities)),
    clientCapabilities,
    missing: NOTHING,
    served: missing,
  };
}

/** The client's files are not those of an agent on another machine. */
export function paramsWithoutFiles({ paramsText, clientCapabilities }: InitializeParams): string {
  const capabilities = { ...fields(clientCapabilities), fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  return withMember(paramsText, 'clientCapabilities', JSON.stringify(capabilities));
}

/** The client's files are not those of an agent on a layer, and its terminals would run outside. Ours run in the agent's sandbox. */
export function paramsOnLayer({ paramsText, clientCapabilities, served }: InitializeParams): string {
  const capabilities = {
    ...fields(clientCapabilities),
    fs: { readTextFile: false, writeTextFile: false },
    terminal: served.has(TERMINAL_METHODS[0]),
  };
  return withMember(paramsText, 'clientCapabilities', JSON.stringify(capabilities));
}

/** Whether an agent asks for files or terminals that it was not offered, because it is remote or works on a layer. */
export function withholdsFiles(proxy: Parts<'pool'>, { spec, layer }: Agent, method: string | undefined): boolean {
  if (method === undefined || !/^(fs|terminal)\//.test(method)) return false;
  if (layer !== undefined) return !(method.startsWith('terminal/') && isServed(proxy, method));
  return spec.remote?.files === 'none';
}

/** Replaces one member and keeps the rest as written. */
function withMember(objectText: string, key: string, valueText: string): string {
  const bytes = Buffer.from(objectText);
  const span = member(bytes, 0, key);
  if (span) return `${bytes.toString('utf8', 0, span.start)}${valueText}${bytes.toString('utf8', span.end)}`;
  const rest = objectText.slice(objectText.indexOf('{') + 1);
  return `{${JSON.stringify(key)}:${valueText}${rest.trim() === '}' ? '' : ','}${rest}`;
}

/** The directories of a session that is about to be opened; undefined if nothing is served. */
export function rootsFor({ pool, context }: Parts<'context' | 'pool'>, openParams: string | undefined): Roots | undefined {
  const mayServe = context.multiplexer !== undefined || (pool.initializeParams?.served.size ?? 0) > 0;
  if (!mayServe || openParams === undefined) return undefined;
  const { cwd, additionalDirectories } = fields(JSON.parse(openParams));
  if (rootsOf([cwd]).real.length === 0) return undefined;
  return rootsOf([cwd, ...(Array.isArray(additionalDirectories) ? additionalDirectories : [])]);
}

/** Whether our workspace answers the method, because the client cannot. */
export const isServed = (proxy: Parts<'pool'>, method: string | undefined): boolean =>
  method !== undefined && proxy.pool.initializeParams?.served.has(method) === true;

/** Whether our workspace answers the request: the client cannot, or of several clients none can now. Our terminals stay ours. */
export function isServedHere(
  proxy: Parts<'context' | 'pool'>,
  session: Session | undefined,
  method: string,
  terminalId: () => string | undefined,
): boolean {
  if (isServed(proxy, method)) return true;
  const { multiplexer, workspace } = proxy.context;
  if (!multiplexer || !workspace || !session?.roots || !/^(fs|terminal)\//.test(method)) return false;
  if (method.startsWith('terminal/') && method !== 'terminal/create') return workspace.hasTerminal(session, terminalId() ?? '');
  return !multiplexer.serves(session.publicId, method);
}

/** Whether nobody answers the method: the client cannot, and our workspace does not. */
export const nobodyServes = (proxy: Parts<'pool'>, method: string | undefined): boolean =>
  method !== undefined && proxy.pool.initializeParams?.missing.has(method) === true;

/** `evaluatedPath` is the real path of a file when the policy was evaluated. */
export function serveWorkspace(
  proxy: Parts<'context'>,
  agent: Agent,
  session: Session | undefined,
  frame: Frame,
  evaluatedPath: string | undefined,
): void {
  const idText = idTextOf(frame);
  const method = frame.method as string;
  const params = readBody(frame);
  if (!params.ok) return agent.fail(idText, failure('AMBIGUOUS', [params.reason]));
  if (!proxy.context.workspace || !session?.roots) return agent.fail(idText, failure('ROOTS_UNKNOWN', [method]));
  const { connection } = agent;
  const serving: Serving = {
    idText,
    method,
    answer(respond) {
      // A new connection of the agent does not wait for it, nor does an agent that withdrew it.
      if (session.serving.delete(serving) && agent.connection === connection) respond();
    },
  };
  session.serving.add(serving);
  const contain = method === 'terminal/create' ? agent.containCommand : undefined;
  const requester = { owner: session, roots: session.roots, evaluatedPath, graceMs: agent.spec.timeouts.stopGraceMs, contain };
  void proxy.context.workspace.serve(method, params.value, requester).then(
    (result) => serving.answer(() => agent.succeed(idText, JSON.stringify(result))),
    (error) => serving.answer(() => agent.fail(idText, asProxyError(method, error))),
  );
}

function asProxyError(method: string, error: unknown): ProxyError {
  return error instanceof ProxyError ? error : failure('INTERNAL', [method, error instanceof Error ? error.message : String(error)]);
}

/** The agent withdraws a request. Only waiting can be cancelled: a read, a write or a start is answered when it is done. */
export function withdrawServed(agent: Agent, frame: Frame): boolean {
  const span = memberAt(frame.bytes, frame.body, 'requestId');
  const id = span && canonicalId(textOf(frame.bytes, span));
  for (const session of agent.sessions.values())
    for (const { idText, method, answer } of session.serving) {
      if (canonicalId(idText) !== id) continue;
      if (method === 'terminal/wait_for_exit') answer(() => agent.fail(idText, failure('CANCELLED', [method])));
      return true;
    }
  return false;
}
