// Learns secrets from messages: the settings of MCP servers, logins, and form fields for keys and passwords.

import { isObject } from '../json-object.ts';
import type { Frame } from '../wire/frame.ts';
import { type Observer, patchedId } from '../wire/observer.ts';
import { idTextOf } from '../wire/scanner/large-frame.ts';
import type { Secrets } from './redact.ts';
import { isSecretName } from './secret-names.ts';

/** Only these methods are worth a parse. */
const CARRIERS = new Set([
  'session/new',
  'session/load',
  'session/resume',
  'session/fork',
  'authenticate',
  'terminal/create',
  'providers/set',
]);

export const mayCarrySecrets = (method: string | undefined): boolean => method !== undefined && CARRIERS.has(method);

/** Records every secret in the message; from then on each is redacted everywhere. */
export function learnSecrets(secrets: Secrets, message: unknown): void {
  if (!isObject(message)) return;
  const { method, params, result } = message;
  if (isObject(params)) {
    if (Array.isArray(params.mcpServers)) for (const server of params.mcpServers) learnServer(secrets, server);
    learnTable(secrets, params.env);
    learnTable(secrets, params.headers);
    if (Array.isArray(params.args)) learnArgs(secrets, params.args);
    if (method === 'authenticate') learnLeaves(secrets, params, 'authenticate', 0);
  }
  if (isObject(result) && result.action === 'accept' && isObject(result.content))
    for (const [name, value] of Object.entries(result.content))
      if (isSecretName(name) && typeof value === 'string') secrets.add(name, value);
}

/** Learns from an MCP server's settings, as a client or a configuration writes them. */
export function learnServer(secrets: Secrets, server: unknown): void {
  if (!isObject(server)) return;
  if (Array.isArray(server.args)) learnArgs(secrets, server.args);
  learnTable(secrets, server.env);
  learnTable(secrets, server.headers);
}

const OPTION = /^--?([A-Za-z][\w-]*)(?:=(.+))?$/s;

/** Learns the argument after `--token`, or after its `=`. */
export function learnArgs(secrets: Secrets, args: readonly unknown[]): void {
  for (const [index, arg] of args.entries()) {
    const [, name, value = args[index + 1]] = typeof arg === 'string' ? (OPTION.exec(arg) ?? []) : [];
    if (name !== undefined && isSecretName(name) && typeof value === 'string' && !value.startsWith('-')) learn(secrets, name, value);
  }
}

/** `[{ name, value }]` as in the protocol, or an object. */
function learnTable(secrets: Secrets, table: unknown): void {
  if (Array.isArray(table)) {
    for (const entry of table)
      if (isObject(entry) && typeof entry.name === 'string' && typeof entry.value === 'string') learn(secrets, entry.name, entry.value);
  } else if (isObject(table)) for (const [name, value] of Object.entries(table)) if (typeof value === 'string') learn(secrets, name, value);
}

/** `Bearer X` is the whole header, but other texts contain only X. */
function learn(secrets: Secrets, name: string, value: string): void {
  secrets.add(name, value);
  const [, bare] = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value) ?? [];
  if (bare !== undefined) secrets.add(name, bare);
}

function learnLeaves(secrets: Secrets, value: unknown, name: string, depth: number): void {
  if (typeof value === 'string' && name !== 'methodId') learn(secrets, name, value);
  if (depth > 20 || typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) learnLeaves(secrets, member, Array.isArray(value) ? name : key, depth + 1);
}

// An observer that learns the secrets of each frame at once, before anything that follows is written.
const ELICITATION = 'elicitation/create';
/** A larger message hardly contains credentials, and parsing it takes time. */
const MAX_BYTES = 1 << 20;

export function createSecretObserver(secrets: Secrets): Observer {
  /** Requests to the peer whose answers may contain secrets. */
  const pending = new Set<string>();

  function learn(frame: Frame): void {
    const { start, end } = frame;
    if (end - start <= MAX_BYTES) learnSecrets(secrets, JSON.parse(frame.bytes.toString('utf8', start, end)));
  }
  return {
    skips: { receivedNotes: true, sentNotes: true },
    received(frame) {
      if (frame.kind === 'notification') return;
      if (frame.kind === 'request') {
        if (mayCarrySecrets(frame.method)) learn(frame);
      } else if (pending.size > 0 && frame.id !== undefined && pending.delete(idTextOf(frame))) learn(frame);
    },
    sent(frame, patches) {
      if (frame.method !== ELICITATION || pending.size > 1000) return;
      const id = patchedId(frame, patches);
      if (id !== undefined) pending.add(id);
    },
    refused: () => {},
    sentLine: () => {},
  };
}
