// A client for the demo agents: the SDK's own, over a real child process, with files and terminals in Maps.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  client,
  type InitializeResponse,
  type McpServer,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { demoAgentFile } from './bundle.ts';

const ALL_CAPABILITIES: ClientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

export type Client = {
  readonly agent: ClientContext;
  readonly initialized: InitializeResponse;
  /** All frames from the agent, in order. */
  readonly frames: readonly AnyMessage[];
  /** Absolute path to text. */
  readonly files: Map<string, string>;
  readonly permissionRequests: RequestPermissionRequest[];
  readonly terminals: Map<string, { readonly commandLine: string; released: boolean }>;
  /** The user's choice: an option id, or `never` to leave the request open. */
  choice: string;
  /** A terminal for the command `held` is created only after this. */
  letTerminalsGo(): void;
  newSession(mcpServers?: McpServer[], cwd?: string): Promise<string>;
  prompt(sessionId: string, text: string): Promise<{ stopReason: string; updates: SessionUpdate[]; text: string }>;
  updates(sessionId: string): SessionUpdate[];
  /** Resolves when such a frame has arrived, now or earlier. */
  seen(wanted: (frame: AnyMessage) => boolean): Promise<void>;
  /** Ends the agent by closing its stdin; resolves to its exit code. */
  end(): Promise<number | null>;
};

export async function startClient(name: string, { state = '', capabilities = ALL_CAPABILITIES } = {}): Promise<Client> {
  const child = spawn(process.execPath, [demoAgentFile, '--name', name, ...(state ? ['--state', state] : [])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const frames: AnyMessage[] = [];
  const waiting = new Set<() => void>();
  const observer = new TransformStream<AnyMessage, AnyMessage>({
    transform(frame, controller) {
      frames.push(frame);
      controller.enqueue(frame);
      for (const look of waiting) look();
    },
  });
  const wire = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));

  const files = new Map<string, string>();
  const terminals: Client['terminals'] = new Map();
  const permissionRequests: RequestPermissionRequest[] = [];
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const app = client({ name: 'test-editor' })
    .onNotification(methods.client.session.update, () => {})
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissionRequests.push(params);
      if (acpClient.choice === 'never') return new Promise<never>(() => {});
      if (acpClient.choice === 'cancelled') return { outcome: { outcome: 'cancelled' } };
      return { outcome: { outcome: 'selected', optionId: acpClient.choice } };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      const content = files.get(params.path);
      // As clients do that leave the system's error to the SDK.
      if (content === undefined && params.path.endsWith('.sdk')) throw RequestError.internalError({ details: `ENOENT: ${params.path}` });
      if (content === undefined && params.path.endsWith('.locked')) throw RequestError.internalError({ details: 'EACCES' });
      if (content === undefined) throw RequestError.resourceNotFound(params.path);
      return { content };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => void files.set(params.path, params.content))
    .onRequest(methods.client.terminal.create, async ({ params }) => {
      if (params.command === 'held') await held;
      const terminalId = `terminal-${terminals.size + 1}`;
      terminals.set(terminalId, { commandLine: [params.command, ...(params.args ?? [])].join(' '), released: false });
      return { terminalId };
    })
    .onRequest(methods.client.terminal.waitForExit, ({ params }) =>
      // The command `forever` never ends by itself.
      terminals.get(params.terminalId)?.commandLine === 'forever' ? new Promise<never>(() => {}) : { exitCode: 0 },
    )
    .onRequest(methods.client.terminal.output, ({ params }) => ({
      output: `ran ${terminals.get(params.terminalId)?.commandLine}`,
      truncated: false,
    }))
    .onRequest(methods.client.terminal.release, ({ params }) => {
      const terminal = terminals.get(params.terminalId);
      if (terminal) terminal.released = true;
    });

  const { agent } = app.connect({ writable: wire.writable, readable: wire.readable.pipeThrough(observer) });
  const initialized = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: capabilities,
  });

  const acpClient: Client = {
    agent,
    initialized,
    frames,
    files,
    permissionRequests,
    terminals,
    choice: 'allow-once',
    letTerminalsGo: () => letGo(),
    async newSession(mcpServers = [], cwd = '/project') {
      return (await agent.request(methods.agent.session.new, { cwd, mcpServers })).sessionId;
    },
    async prompt(sessionId, text) {
      const before = acpClient.updates(sessionId).length;
      const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
      const updates = acpClient.updates(sessionId).slice(before);
      return { stopReason, updates, text: spoken(updates) };
    },
    updates: (sessionId) => frames.filter(isUpdate).flatMap(({ params }) => (params.sessionId === sessionId ? [params.update] : [])),
    seen: (wanted) =>
      new Promise((resolve) => {
        const look = () => {
          if (!frames.some(wanted)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    end: () => end(child),
  };
  return acpClient;
}

export function isUpdate(frame: AnyMessage): frame is AnyMessage & { params: SessionNotification } {
  return 'method' in frame && frame.method === methods.client.session.update;
}

export function spoken(updates: readonly SessionUpdate[]): string {
  return updates
    .flatMap((update) => (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : []))
    .join('');
}

/** The updates of one kind, typed as that kind. */
export function only<Kind extends SessionUpdate['sessionUpdate']>(updates: readonly SessionUpdate[], kind: Kind) {
  return updates.filter((update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind);
}

async function end(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.stdin?.end();
  await exited;
  return child.exitCode;
}
