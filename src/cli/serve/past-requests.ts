// Earlier requests to try a policy on: the last week's tool calls in transcripts, or requests in a recording.
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ClientError } from '../../client/client-error.ts';
import type { PastRequest } from '../../console/actions/policy-store.ts';
import type { SessionRow } from '../../console/protocol/state.ts';
import type { Place } from '../../policy/actions/action.ts';
import { permissionAction } from '../../policy/actions/permission.ts';
import { readTranscript, transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import type { ToolRecord } from '../../store/transcripts/transcript-record.ts';
import { BrokenLine, requestsIn } from '../policy/read-recording.ts';
import { readInput } from '../resolve-config.ts';

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_SESSIONS = 200;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
/** Of these the transcript says what they do. */
const KINDS = new Set(['read', 'edit', 'delete', 'move', 'search', 'execute', 'fetch']);

type PlaceFor = (agent: string, cwd: string) => Place;

/** Tool calls that their agent described, whether or not it asked first. Newest sessions first. */
export async function pastInTranscripts(
  stateDir: string,
  rows: readonly SessionRow[],
  placeFor: PlaceFor,
  now = Date.now(),
): Promise<PastRequest[]> {
  const found: PastRequest[] = [];
  const isRecent = ({ at }: { readonly at: number }) => at > now - WEEK_MS;
  for (const { sessionId, agent, cwd, title } of rows
    .filter(isRecent)
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MOST_SESSIONS)) {
    await nextTurn(); // yield between files
    const records = (readTranscript(transcriptsDir(stateDir), sessionId, MOST_BYTES) ?? []).filter(({ t }) => isRecent({ at: t }));
    const asked = new Set<string>();
    const calls = new Map(records.flatMap((record) => (record.kind === 'tool' ? [[record.toolCallId, record] as const] : [])));
    const add = (toolCall: object, answer: string | undefined) =>
      found.push({ where: title || sessionId, action: permissionAction(placeFor(agent, cwd), { toolCall }), answer });
    for (const record of records) {
      if (record.kind !== 'permission') continue;
      const call = calls.get(String(record.toolCallId));
      if (call) asked.add(call.toolCallId);
      const { name } = Object(record.option) as { name?: unknown };
      add(call ? asCall(call) : { title: record.title }, typeof name === 'string' ? name : record.outcome);
    }
    for (const call of calls.values()) if (!asked.has(call.toolCallId) && KINDS.has(String(call.toolKind))) add(asCall(call), undefined);
  }
  return found;
}

const asCall = ({ toolKind, ...call }: ToolRecord) => ({ ...call, kind: toolKind });

/** `cwd` applies to sessions that do not name one. */
export async function pastInRecording(file: string, cwd: string, placeFor: PlaceFor): Promise<PastRequest[]> {
  const text = await readInput('the recording', path.resolve(cwd, file));
  const { agent: fallbackAgent, ...place } = placeFor(path.basename(file).replace(/\..*$/, ''), cwd);
  try {
    return requestsIn(text, { ...place, agent: undefined, fallbackAgent }).map(({ line, action }) => ({
      where: `${file}:${line}`,
      action,
    }));
  } catch (error) {
    if (!(error instanceof BrokenLine)) throw error;
    throw new ClientError(-32602, `line ${error.line} of the recording is not JSON; make one with --record`);
  }
}
