// Transcripts as MCP resources: `session://ID` is a session, `session://ID/turn/N` one of its turns.
import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import type { Agents } from './agents.ts';

const SCHEME = 'session://';
/** Its name before templates were added. */
const OLD_SCHEME = 'switchboard://transcripts/';
const MIME_TYPE = 'text/plain';

export const sessionUri = (sessionId: string): string => `${SCHEME}${encodeURIComponent(sessionId)}`;
export const turnUri = (sessionId: string, turn: number): string => `${sessionUri(sessionId)}/turn/${turn}`;

export const TEMPLATES: ListResourceTemplatesResult['resourceTemplates'] = [
  {
    uriTemplate: `${SCHEME}{session_id}`,
    name: 'session',
    title: 'Transcript of a session',
    description: 'What was said and done in a session, including an earlier one.',
    mimeType: MIME_TYPE,
  },
  {
    uriTemplate: `${SCHEME}{session_id}/turn/{turn}`,
    name: 'turn',
    title: 'One turn of a session',
    description: 'A prompt and its answer; turns count from 1.',
    mimeType: MIME_TYPE,
  },
];

export async function listTranscripts(agents: Agents, cursor: string | undefined): Promise<ListResourcesResult> {
  const { sessions, nextCursor } = await agents.list({ cursor });
  return {
    resources: sessions
      .filter(({ sessionId }) => agents.hasTranscript(sessionId))
      .map(({ sessionId, title, agent, updatedAt }) => ({
        uri: sessionUri(sessionId),
        name: sessionId,
        title: title ?? `Transcript of ${sessionId}`,
        ...(agent !== undefined && { description: `A session of ${agent}` }),
        mimeType: MIME_TYPE,
        ...(updatedAt !== undefined && { annotations: { lastModified: updatedAt } }),
      })),
    ...(nextCursor !== undefined && { nextCursor }),
  };
}

export function readTranscript(agents: Agents, uri: string): ReadResourceResult {
  const place = placeOf(uri);
  const transcript = place && agents.transcript(place.sessionId, place.turn);
  if (transcript === undefined) throw new ResourceNotFoundError(uri, `There is no resource ${uri}`);
  return { contents: [{ uri, mimeType: MIME_TYPE, text: transcript }] };
}

/** Undefined for a URI of another form. */
export function placeOf(uri: string): { readonly sessionId: string; readonly turn: number | undefined } | undefined {
  const scheme = [SCHEME, OLD_SCHEME].find((one) => uri.startsWith(one));
  if (scheme === undefined) return undefined;
  const [id = '', word, number, ...rest] = uri.slice(scheme.length).split('/');
  if (id === '' || rest.length > 0 || (word !== undefined && (word !== 'turn' || !/^[1-9]\d{0,8}$/.test(number ?? '')))) return undefined;
  try {
    return { sessionId: decodeURIComponent(id), turn: number === undefined ? undefined : Number(number) };
  } catch {
    return undefined; // broken percent-encoding
  }
}
