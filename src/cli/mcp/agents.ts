// The agents as an MCP server sees them: sessions of the built-in client, permission requests as text, and transcripts of earlier sessions.
import type { Readable, Writable } from 'node:stream';
import { VERSION } from '../../app/package-files.ts';
import type { Capabilities, PromptBlocks } from '../../client/acp-methods.ts';
import { ClientError } from '../../client/client-error.ts';
import { permissionLines } from '../../client/describe-permission.ts';
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
  const stored = (sessionId: string, turn: number | undefined): string | undefined => {
    const records = mayRead(sessionId) ? readTranscript(dir, sessionId) : undefined;
    const wanted = records && turn !== undefined ? turnIn(records, turn) : records;
    return wanted && toWords(wanted);
  };
  return {
    ...agents,
    prompt: (sessionId, blocks, handlers) =>
      agents.prompt(sessionId, blocks as PromptBlocks, {
        ...handlers,
        permission: (request, signal) =>
          handlers.permission({ text: permissionLines(request).join('\n'), options: request.options }, signal),
      }),
    hasTranscript: (sessionId) => agents.session(sessionId) !== undefined || (mayRead(sessionId) && hasTranscript(dir, sessionId)),
    transcript: (sessionId, turn) => {
      const hasTurns = (agents.session(sessionId)?.turns ?? 0) > 0;
      return (hasTurns ? agents.transcript(sessionId, turn) : undefined) ?? stored(sessionId, turn);
    },
  };
}

/** The records of one turn, counted from 1; undefined if there is no such turn. */
function turnIn(records: readonly TranscriptRecord[], turn: number): readonly TranscriptRecord[] | undefined {
  const starts = records.flatMap(({ kind }, index) => (kind === 'prompt' ? [index] : []));
  const start = starts[turn - 1];
  return start === undefined ? undefined : records.slice(start, starts[turn]);
}
