// The SDK's own client on a built proxy: a peer that shares no code with us, and validates every frame with its schema.
import { Readable, Writable } from 'node:stream';
import {
  type ClientContext,
  type CreateElicitationRequest,
  client,
  type InitializeResponse,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { type Json, type Server, type Stage, type StartOptions, SWITCHBOARD } from './harness.ts';

export type SdkClient = {
  readonly agent: ClientContext;
  readonly initializeResponse: InitializeResponse;
  readonly updates: SessionNotification['update'][];
  readonly permissions: RequestPermissionRequest[];
  readonly forms: CreateElicitationRequest[];
  stderr(): string;
  /** The kind of option to choose from now on; `none` answers `cancelled`. */
  choose(kind: 'allow_once' | 'reject_once' | 'none'): void;
  /** The answer to forms. */
  fillIn(answer: Json): void;
  open(): Promise<Json>;
  prompt(sessionId: string, message: string): Promise<Json>;
  /** The error of a prompt. */
  refused(sessionId: string, message: string): Promise<Json>;
  /** Updates of a kind, from this index of `updates` on. */
  of(kind: string, from?: number): Json[];
  agentText(from?: number): string;
  thought(from?: number): string;
};

export async function withSdkClient(
  stage: Stage,
  agents: Readonly<Record<string, Server>>,
  work: (acpClient: SdkClient) => Promise<void>,
  { capabilities = {}, ...options }: StartOptions & { readonly capabilities?: Json } = {},
): Promise<void> {
  const args = [SWITCHBOARD, 'acp', '--config', stage.writeConfig(agents, options.config)];
  const child = stage.spawn(process.execPath, args, options.env);
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const updates: SessionNotification['update'][] = [];
  const permissions: RequestPermissionRequest[] = [];
  const forms: CreateElicitationRequest[] = [];
  let choice: string = 'allow_once';
  let filledIn: Json = { action: 'decline' };
  const texts = (kind: string, from: number) =>
    updates.slice(from).flatMap((update: Json) => (update.sessionUpdate === kind ? [update.content.text ?? ''] : []));
  await client({ name: 'sdk-editor' })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params);
      const option = params.options.find(({ kind }) => kind === choice);
      return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      forms.push(params);
      return filledIn;
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => ({ content: `content of ${params.path}` }))
    .connectWith(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
      const initializeResponse: Json = await agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false, ...capabilities },
      });
      const prompt = (sessionId: string, message: string): Promise<Json> =>
        agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: message }] });
      await work({
        agent,
        initializeResponse,
        updates,
        permissions,
        forms,
        stderr: () => stderr,
        choose: (kind) => {
          choice = kind;
        },
        fillIn: (answer) => {
          filledIn = answer;
        },
        open: () => agent.request(methods.agent.session.new, { cwd: stage.cwd, mcpServers: [] }),
        prompt,
        refused: (sessionId, message) =>
          prompt(sessionId, message).then(
            (result) => {
              throw new Error(`no error, but ${JSON.stringify(result)}`);
            },
            (error) => error,
          ),
        of: (kind, from = 0) => updates.slice(from).filter((update) => update.sessionUpdate === kind),
        agentText: (from = 0) => texts('agent_message_chunk', from).join(''),
        thought: (from = 0) => texts('agent_thought_chunk', from).join(''),
      });
    });
}
