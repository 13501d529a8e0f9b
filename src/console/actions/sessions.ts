// Actions on sessions and agents. Agents are named as in the configuration.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { ConsoleClient } from '../client/console-client.ts';
import type { Attached, Transcripts } from '../console.ts';
import type { McpServer, PromptBlock, SessionActions } from '../protocol/sessions.ts';
import type { ActionsOf } from '../server/screens.ts';
import type { StateKeeper } from '../state/state.ts';

export type SessionDeps = {
  readonly state: StateKeeper;
  readonly consoleClient: () => ConsoleClient;
  readonly attached: Attached | undefined;
  readonly transcripts: Transcripts;
  readonly redact: Redactor;
  readonly restart: (agent: string) => boolean;
  /** Publishes a change of the agents. */
  readonly look: () => void;
  readonly link: () => string;
};

const id = z.string().min(1).max(2000);
const inSession = z.strictObject({ sessionId: id });
const longText = z.string().max(16 * 1024 * 1024);
const uri = z.string().max(4000);
const mimeType = z.string().max(200).optional();
const promptBlock: z.ZodType<PromptBlock> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: longText }),
  z.strictObject({ type: z.enum(['image', 'audio']), data: longText, mimeType: z.string().regex(/^(?:image|audio)\/[\w.+-]{1,80}$/) }),
  z.strictObject({ type: z.literal('resource_link'), uri, name: z.string().max(400) }),
  z.strictObject({
    type: z.literal('resource'),
    resource: z.union([z.strictObject({ uri, mimeType, text: longText }), z.strictObject({ uri, mimeType, blob: longText })]),
  }),
]);

/** Not `stdio`: that would let a page run a command. */
const mcpServer: z.ZodType<McpServer> = z.strictObject({
  type: z.enum(['http', 'sse']),
  name: z.string().min(1).max(200),
  url: z.url({ protocol: /^https?$/ }).max(4000),
  headers: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,200}$/),
        value: z
          .string()
          .max(8000)
          .regex(/^[^\r\n\0]*$/),
      }),
    )
    .max(50),
});

/** For actions that only the session's owner can perform. */
export function holderOf({
  consoleClient,
  attached,
}: Pick<SessionDeps, 'consoleClient' | 'attached'>): (sessionId: string) => ConsoleClient {
  return (sessionId) => {
    if (attached?.holds(sessionId)) throw new ClientError(-32600, 'the editor owns this session; continue there');
    return consoleClient();
  };
}

export function sessionActions({
  state,
  consoleClient,
  attached,
  transcripts,
  redact,
  restart,
  look,
  link,
}: SessionDeps): ActionsOf<SessionActions> {
  const mine = holderOf({ consoleClient, attached });
  return {
    watch: {
      params: inSession,
      perform({ sessionId }, page) {
        page.watch(sessionId);
        // If it ends meanwhile, or its directory is gone, the page keeps the transcript.
        if (!attached)
          consoleClient()
            .show(sessionId)
            .catch(() => {});
      },
    },
    unwatch: { params: inSession, perform: ({ sessionId }, page) => page.unwatch(sessionId) },
    new: {
      params: z.strictObject({
        agent: z.string().max(200).optional(),
        cwd: z.string().max(4000).optional(),
        additionalDirectories: z.array(z.string().max(4000)).max(50).optional(),
        mcpServers: z.array(mcpServer).max(50).optional(),
      }),
      perform: (given) => consoleClient().open(given),
    },
    prompt: {
      params: z.strictObject({
        sessionId: id,
        blocks: z.array(promptBlock).min(1).max(100),
        whileRunning: z.enum(['queue', 'steer']).optional(),
      }),
      perform: (given) => mine(given.sessionId).prompt(given),
    },
    cancel: {
      params: inSession,
      perform: ({ sessionId }, page) =>
        attached?.holds(sessionId) ? { isDone: attached.cancel(sessionId) } : consoleClient().cancel(sessionId, page.id),
    },
    close: { params: inSession, perform: ({ sessionId }) => mine(sessionId).close(sessionId) },
    option: {
      params: z.strictObject({ sessionId: id, option: z.string().max(400), value: z.union([z.string().max(4000), z.boolean()]) }),
      perform: (given) => mine(given.sessionId).option(given),
    },
    answer: {
      params: z.strictObject({ requestId: z.uuid(), option: z.int().nonnegative().nullable() }),
      perform: ({ requestId, option }, page) => ({ isFirst: state.answer(requestId, option ?? undefined, page.id) }),
    },
    authenticate: {
      params: z.strictObject({ methodId: z.string().max(400) }),
      perform: ({ methodId }) => consoleClient().authenticate(methodId),
    },
    restart: {
      params: z.strictObject({ agent: z.string().max(200) }),
      perform({ agent }) {
        if (!restart(agent)) throw new ClientError(-32602, `there is no agent "${neutralise(agent)}"`);
        look();
      },
    },
    search: {
      params: z.strictObject({ query: z.string().max(400), agent: z.string().max(200).optional() }),
      async perform({ query: wanted, agent }) {
        const { found, isAll } = await transcripts.search(wanted, agent);
        const clean = (line: string) => neutralise(redact(line));
        return { found: found.map(({ row, lines }) => ({ row: state.row(row.sessionId) ?? row, lines: lines.map(clean) })), isAll };
      },
    },
    export: {
      params: z.strictObject({ sessionId: id, format: z.enum(['md', 'json']) }),
      perform({ sessionId, format }) {
        const text = transcripts.text(sessionId, format);
        if (text === undefined) throw new ClientError(-32002, 'this session has no transcript');
        return { text };
      },
    },
    forget: {
      params: inSession,
      perform({ sessionId }) {
        if (state.isLive(sessionId)) throw new ClientError(-32600, 'the session is open; close it first');
        transcripts.remove(sessionId);
        state.deleted(sessionId);
      },
    },
    link: { params: z.strictObject({}), perform: () => ({ link: link() }) },
  };
}
