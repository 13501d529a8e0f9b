// Requests to a bridge over HTTP that open no connection. The 2026 era has no handshake, and a server behind a bridge may not know it; whoever opens
// with it is told so in its own words, and those that know both eras go on with the handshake.
import { isLegacyRequest } from '@modelcontextprotocol/server';
import type { HttpHandler } from '../http-door.ts';
import { refusal } from '../http-sessions.ts';

const UNSUPPORTED_VERSION = -32022;
const HANDSHAKE_FIRST = -32000;
const SUPPORTED = ['2025-11-25', '2025-06-18', '2025-03-26'];

export const onlyHandshake: HttpHandler = async (request, parsedBody) => {
  if (request.method !== 'POST') return refusal(405, HANDSHAKE_FIRST, 'Method not allowed before initialize', parsedBody);
  if (await isLegacyRequest(request, parsedBody)) return refusal(400, HANDSHAKE_FIRST, 'The first request is initialize', parsedBody);
  const data = { supported: SUPPORTED, requested: '2026-07-28' };
  return refusal(400, UNSUPPORTED_VERSION, 'This server is bridged, and speaks the handshake eras of MCP', parsedBody, data);
};
