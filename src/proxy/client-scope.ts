// What a network client may do: use its own sessions, in allowed directories, without programs of its choice. A token alone must not be as
// good as a shell, so only what is listed here passes. What an agent may make of anything else is unknown.
import path from 'node:path';
import { FROM_CLIENT, type Method, OPENS_SESSION } from '../acp/methods.ts';
import { META_KEY } from '../acp/shapes.ts';
import { failure, type ProxyError } from '../errors.ts';
import { fields, isObject } from '../json-object.ts';
import type { Frame } from '../wire/frame.ts';
import { memberAt, members, stringAt } from '../wire/json-path.ts';
import { sessionIdOf } from '../wire/scanner/large-frame.ts';
import { readBody } from '../wire/scanner/strict-parse.ts';
import type { Parts } from './parts.ts';

export type ClientScope = {
  /** It may do everything that a local client may. */
  readonly isOwner: boolean;
  /** It may list sessions, and do nothing else here. */
  readonly isObserver: boolean;
  /** What it is a client of: the daemon, or a host. */
  readonly of: string;
  /** Whether sessions may be opened in this directory. */
  readonly allowsDirectory: (directory: string) => boolean;
  /** Whether it may name MCP servers that agents start as programs. */
  readonly allowsStdioServers: boolean;
};

const METHODS: ReadonlyMap<string, Method> = new Map(Object.entries(FROM_CLIENT));
/** Methods without a session that a client may use. `logout` is missing: it would log out everybody. */
const WITHOUT_SESSION: ReadonlySet<string> = new Set([
  'session/new',
  'session/list',
  'authenticate',
  'auth/status',
  'mcp/message',
  '$/cancel_request',
]);
/** What an observer may send. Its `session/load` is answered before it gets here (src/attach). */
const OBSERVER_METHODS: ReadonlySet<string> = new Set(['session/list', '$/cancel_request', 'auth/status']);

const OPEN_KEYS: ReadonlySet<string> = new Set(['sessionId', 'cwd', 'additionalDirectories', 'mcpServers', '_meta']);
/** Agents read options of their own from `_meta`, also the programs that they start. The last three trace requests. */
const META_KEYS: ReadonlySet<string> = new Set([META_KEY, 'traceparent', 'tracestate', 'baggage']);
const REMOTE_TYPES: ReadonlySet<unknown> = new Set(['http', 'sse', 'acp']);
const REMOTE_KEYS: ReadonlySet<string> = new Set(['type', 'name', 'url', 'headers', 'id', 'serverId']);

/** Why the client may not send this frame; undefined if it may. */
export function outOfScope(proxy: Parts<'context' | 'registry' | 'pool'>, scope: ClientScope, frame: Frame): ProxyError | undefined {
  const method = frame.method as string;
  if (scope.isObserver && !OBSERVER_METHODS.has(method)) return failure('OBSERVER', [method], { method });
  const known = METHODS.get(method);
  const namesSession = known?.key === 'sessionId';
  if (!scope.isOwner && !(known?.kind === frame.kind && (namesSession || WITHOUT_SESSION.has(method))))
    return failure('METHOD_NOT_ALLOWED', [method], { method });
  const sessionId = sessionIdOf(frame);
  if (!scope.isOwner && namesSession && sessionId === undefined) return failure('PARAMS', [method, 'sessionId must be a string']);
  // To this client, the sessions of others do not exist.
  if (sessionId !== undefined && !proxy.registry.get(sessionId) && !proxy.context.log.records().has(sessionId))
    return failure('SESSION_UNKNOWN', [sessionId], { sessionId });
  if (method === 'authenticate') return notOffered(proxy, frame);
  if (scope.isOwner || scope.isObserver) return undefined;
  return OPENS_SESSION.has(method) ? opensOutOfScope(scope, method, frame) : choosesInMeta(method, frame);
}

/** A login in a terminal would run on this machine. */
function notOffered({ pool }: Parts<'pool'>, { bytes, body }: Frame): ProxyError | undefined {
  const methodId = stringAt(bytes, memberAt(bytes, body, 'methodId')) ?? '';
  const known = pool
    .all()
    .flatMap(({ name, handshake }) =>
      (handshake?.result.authMethods ?? []).map((one) => ({ ...one, id: pool.single ? one.id : `${name}/${one.id}` })),
    );
  const offered = known.filter(({ type }) => type !== 'terminal').map(({ id }) => id);
  if (offered.includes(methodId)) return undefined;
  return failure('AUTH_METHOD_UNKNOWN', [methodId, offered.join(', ') || 'none'], { methodId, known: offered });
}

function choosesInMeta(method: string, { kind, bytes, body }: Frame): ProxyError | undefined {
  if (kind !== 'request' || !body) return undefined;
  const metas = members(bytes, body.start).filter(({ key }) => key === '_meta');
  const unknown = metas.flatMap(({ value }) => members(bytes, value.start)).find(({ key }) => !META_KEYS.has(key));
  return unknown && failure('PARAMS', [method, `network clients may not set "${unknown.key}"`]);
}

/** Why the client may not open a session with these params. */
export function opensOutOfScope(scope: ClientScope, method: string, frame: Frame): ProxyError | undefined {
  const params = readBody(frame);
  if (!params.ok) return failure('AMBIGUOUS', [params.reason]);
  const { cwd, additionalDirectories, mcpServers, _meta } = fields(params.value);
  const more = additionalDirectories ?? [];
  const servers = mcpServers ?? [];
  const meta = _meta ?? {};
  if (!isObject(meta)) return failure('PARAMS', [method, '_meta must be an object']);
  const unknown =
    Object.keys(fields(params.value)).find((key) => !OPEN_KEYS.has(key)) ?? Object.keys(meta).find((key) => !META_KEYS.has(key));
  if (unknown !== undefined) return failure('PARAMS', [method, `network clients may not set "${unknown}"`]);
  if (!Array.isArray(more)) return failure('PARAMS', [method, 'additionalDirectories must be an array']);
  if (!Array.isArray(servers)) return failure('PARAMS', [method, 'mcpServers must be an array']);
  for (const one of [cwd, ...more]) {
    if (typeof one !== 'string' || !path.isAbsolute(one)) return failure('PARAMS', [method, 'directories must be absolute paths']);
    if (!scope.allowsDirectory(one)) return failure('CWD_NOT_ALLOWED', [method, one, scope.of], { method });
  }
  const program = servers.find((server) => !isRemote(server));
  if (program === undefined || scope.allowsStdioServers) return undefined;
  return failure('STDIO_SERVER_REFUSED', [method, String(fields(program).name ?? '')], { method });
}

/** Nothing in its description can name a program. */
function isRemote(server: unknown): boolean {
  return isObject(server) && REMOTE_TYPES.has(server.type) && Object.keys(server).every((key) => REMOTE_KEYS.has(key));
}
