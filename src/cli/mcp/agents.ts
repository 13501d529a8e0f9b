// The agents as an MCP server sees them: sessions of the built-in client, permission requests as text, and transcripts of earlier sessions.
import type { Readable, Writable } from 'node:stream';
import { VERSION } from '../../app/package-files.ts';
import type { Capabilities, PromptBlocks } from '../../client/acp-methods.ts';
import { ClientError } from '../../client/client-error.ts';
import { permissionLines } from '../../client/describe-permission.ts';
import type { SessionShown } from '../../client/live-session.ts';
import { type AgentSessions, openAgentSessions, type ServedMethods } from '../../client/sessions.ts';
import type { Agents } from '../../mcp/agents-as-tools/agents.ts';
import { hasTranscript, readTranscript, transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import type { TranscriptRecord } from '../../store/transcripts/transcript-record.ts';
import { toWords } from '../records/render-transcript.ts';

/** Elicitations that the MCP client cannot show are declined with a reason. */
const CAPABILITIES: Capabilities = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} }, notices: {} },
};

export function openMcpSessions(
  { input, output }: { readonly input: Readable; readonly output: Writable },
  about: Pick<ServedMethods, 'onlyAgent' | 'policy' | 'isShared'>,
): AgentSessions {
  return openAgentSessions(
    input,
    output,
    { name: 'switchboard-mcp', version: VERSION },
    {
      ...about,
      capabilities: CAPABILITIES,
      async serve(_, method) {
        throw new ClientError(-32601, `Method not found: ${method}`);
      },
    },
  );
}

/** `mayRead`: whether the client may read the stored transcript of a session. */
export function mcpAgents(agents: AgentSessions, stateDir: string, mayRead: (sessionId: string) => boolean = () => true): Agents {
  const dir = transcriptsDir(stateDir);
  const recordsOf = (sessionId: string) => (mayRead(sessionId) ? readTranscript(dir, sessionId) : undefined);
  const stored = (sessionId: string, turn: number | undefined): string | undefined => {
    const records = recordsOf(sessionId);
    const wanted = records && turn !== undefined ? turnIn(records, turn) : records;
    return wanted && toWords(wanted);
  };
  /** How many turns a session had when it was reopened here: they are in its stored transcript. */
  const earlier = new Map<string, number>();
  const withEarlier = (session: SessionShown): SessionShown => ({
    ...session,
    turns: session.turns + (earlier.get(session.sessionId) ?? 0),
  });
  return {
    ...agents,
    session: (sessionId) => {
      const session = agents.session(sessionId);
      return session && withEarlier(session);
    },
    sessions: () => agents.sessions().map(withEarlier),
    async set(sessionId, id, value) {
      const session = await agents.set(sessionId, id, value);
      return session && withEarlier(session);
    },
    async reopen(sessionId, cwd, handlers) {
      const before = startsIn(recordsOf(sessionId) ?? []).length;
      const session = await agents.reopen(sessionId, cwd, handlers);
      // The last turn may not be stored yet.
      earlier.set(sessionId, Math.max(before, earlier.get(sessionId) ?? 0));
      return withEarlier(session);
    },
    async closeSession(sessionId) {
      const turns = (earlier.get(sessionId) ?? 0) + (agents.session(sessionId)?.turns ?? 0);
      await agents.closeSession(sessionId);
      earlier.set(sessionId, turns);
    },
    async deleteSession(sessionId) {
      await agents.deleteSession(sessionId);
      earlier.delete(sessionId);
    },
    prompt: (sessionId, blocks, handlers) =>
      agents.prompt(sessionId, blocks as PromptBlocks, {
        ...handlers,
        permission: (request, signal) =>
          handlers.permission({ text: permissionLines(request).join('\n'), options: request.options }, signal),
      }),
    hasTranscript: (sessionId) => agents.session(sessionId) !== undefined || (mayRead(sessionId) && hasTranscript(dir, sessionId)),
    transcript: (sessionId, turn) => {
      if ((agents.session(sessionId)?.turns ?? 0) === 0) return stored(sessionId, turn);
      const before = earlier.get(sessionId) ?? 0;
      if (turn !== undefined) return turn > before ? agents.transcript(sessionId, turn - before) : stored(sessionId, turn);
      const records = before > 0 ? (recordsOf(sessionId) ?? []) : [];
      const first = records.slice(0, startsIn(records)[before]);
      return [...(first.length > 0 ? [toWords(first)] : []), agents.transcript(sessionId)].join('\n');
    },
  };
}

/** Where turns begin. */
const startsIn = (records: readonly TranscriptRecord[]): readonly number[] =>
  records.flatMap(({ kind }, index) => (kind === 'prompt' ? [index] : []));

/** The records of one turn, counted from 1; undefined if there is no such turn. */
function turnIn(records: readonly TranscriptRecord[], turn: number): readonly TranscriptRecord[] | undefined {
  const starts = startsIn(records);
  const start = starts[turn - 1];
  return start === undefined ? undefined : records.slice(start, starts[turn]);
}
