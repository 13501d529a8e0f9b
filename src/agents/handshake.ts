// Reads an agent's answer to initialize.

import type { AuthMethod, InitializeResult } from '../acp/shapes.ts';
import { failure, type ProxyError } from '../errors.ts';
import { isObject, textOf } from '../json-object.ts';
import type { Frame } from '../wire/frame.ts';
import { readBody } from '../wire/scanner/strict-parse.ts';

export type Handshake = {
  readonly result: InitializeResult;
  /** The original text, for a client that must not see a difference. */
  readonly text: string;
};

export function readHandshake(agent: string, answer: Frame): Handshake | ProxyError {
  const body = readBody(answer);
  if (answer.outcome === 'unclear')
    return failure('AGENT_REFUSED', [agent, 'initialize', 'its answer needs exactly one of result and error'], { agent });
  if (!body.ok) return failure('AGENT_REFUSED', [agent, 'initialize', `its answer is not usable: ${body.reason}`], { agent });
  if (answer.outcome === 'error') {
    const message = (body.value as { message?: unknown } | null)?.message;
    return failure('AGENT_REFUSED', [agent, 'initialize', typeof message === 'string' ? message : 'no reason given'], {
      agent,
      error: body.value,
    });
  }
  const span = answer.body as { start: number; end: number };
  const text = answer.bytes.toString('utf8', span.start, span.end);
  const handshake = parseHandshake(text);
  if (handshake) return handshake;
  const version = (body.value as { protocolVersion?: unknown } | null)?.protocolVersion;
  return failure('AGENT_VERSION', [agent, JSON.stringify(version) ?? 'unknown'], { agent, protocolVersion: version, supported: [1] });
}

/** A checked `initialize` result; undefined unless it is protocol version 1. */
export function parseHandshake(text: string): Handshake | undefined {
  const value: unknown = JSON.parse(text);
  if (!isObject(value) || value.protocolVersion !== 1) return undefined;
  const { agentCapabilities, agentInfo, authMethods } = value;
  const result: InitializeResult = {
    ...value,
    protocolVersion: 1,
    agentCapabilities: isObject(agentCapabilities) ? agentCapabilities : {},
    agentInfo: isObject(agentInfo)
      ? { name: textOf(agentInfo.name) ?? '', title: textOf(agentInfo.title), version: textOf(agentInfo.version) }
      : null,
    authMethods: Array.isArray(authMethods) ? authMethods.filter(isAuthMethod) : [],
  };
  return { result, text };
}

function isAuthMethod(value: unknown): value is AuthMethod {
  if (!isObject(value) || typeof value.id !== 'string' || typeof value.name !== 'string') return false;
  return value.args === undefined || (Array.isArray(value.args) && value.args.every((arg) => typeof arg === 'string'));
}
