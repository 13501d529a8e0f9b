// Where a page's wishes become requests of an ACP client, and what agents ask of that client is answered. The console is an editor like any
// other to the proxy beneath it, so policy, tools and records apply.
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Client, ClientError, createClient } from '../client/client.ts';
import type { Redactor } from '../log/redact.ts';
import type { BoardKeeper } from './board.ts';
import type { Accepts, Block } from './conversation.ts';
import { neutralise } from './neutralise.ts';
import type { Judged } from './questions.ts';
import { type Fields, fields, list, MODE_OPTION, text } from './read-update.ts';
import { createTerminalWatch } from './terminal-watch.ts';
import { eventsOfTranscript, type Transcript } from './transcript-events.ts';
import type { PromptBlock, SessionActs } from './wire/sessions.ts';

/** Files and terminals of the machine the console runs on, kept inside the session's directory. */
export type Host = {
  readonly capabilities: Fields;
  serve(sessionId: string, cwd: string, method: string, params: unknown): Promise<unknown>;
  endOf(sessionId: string): void;
  stop(): Promise<void>;
};

export type DeskDeps = {
  readonly board: BoardKeeper;
  readonly host: Host;
  readonly redact: Redactor;
  readonly clientInfo: { readonly name: string; readonly title: string; readonly version: string };
  readonly cwd: string;
  /** What the policy has said of a question, by its id on the connection. */
  readonly judged: (id: string) => Judged | undefined;
  readonly transcript: (sessionId: string) => Transcript | undefined;
};

type Given<Act extends keyof SessionActs> = SessionActs[Act]['give'];
export type Desk = ReturnType<typeof createDesk>;

const CANCELLED = { outcome: { outcome: 'cancelled' } };

export function createDesk(input: Readable, output: Writable, deps: DeskDeps) {
  const { board, host, redact } = deps;
  /** Updates of a session may stand right behind the answer that opens it, before whoever waits for that answer has it. */
  const early = new Map<string, Fields[]>();
  let opening = 0;
  const client: Client = createClient(input, output, { request, notification });
  const terminals = createTerminalWatch(board, host, redact);
  const ready = client.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { ...host.capabilities, session: { configOptions: { boolean: {} }, notices: {} } },
    clientInfo: deps.clientInfo,
  });
  ready.catch(() => {}); // whoever asks for something first hears of it

  function notification(method: string, params: unknown): void {
    const { sessionId, update } = fields(params);
    if (method !== 'session/update' || typeof sessionId !== 'string') return;
    if (board.isLive(sessionId)) board.update(sessionId, fields(update));
    else if (opening > 0) early.set(sessionId, [...(early.get(sessionId) ?? []), fields(update)]);
  }
  async function request(method: string, value: unknown, signal: AbortSignal, id: string): Promise<unknown> {
    const params = fields(value);
    const sessionId = String(params.sessionId);
    if (method === 'session/request_permission') {
      const { option } = await board.ask(sessionId, params, signal, { judged: deps.judged(id) });
      const chosen = option === undefined ? undefined : fields(list(params.options)[option]).optionId;
      return chosen === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: chosen } };
    }
    if (!method.startsWith('fs/') && !method.startsWith('terminal/')) throw new ClientError(-32601, `Method not found: ${method}`);
    const row = board.row(sessionId);
    if (!row) throw new ClientError(-32602, `There is no session "${sessionId}"`);
    if (method === 'terminal/release') await terminals.last(sessionId, row.cwd, params.terminalId);
    const result = await host.serve(sessionId, row.cwd, method, params);
    if (method === 'terminal/create') terminals.begin(sessionId, row.cwd, String(fields(result).terminalId));
    return result;
  }

  function acceptsOf(agent: string): Accepts {
    const capabilities = board.agents().find(({ name }) => name === agent)?.capabilities ?? [];
    const has = (kind: string) => capabilities.includes(`promptCapabilities.${kind}`);
    return { image: has('image'), audio: has('audio'), embeddedContext: has('embeddedContext') };
  }
  async function opened<T>(act: () => Promise<T>): Promise<T> {
    opening++;
    try {
      return await act();
    } finally {
      if (--opening === 0) early.clear();
    }
  }
  function begin(sessionId: string, cwd: string, agent: string, answer: Fields): void {
    board.opened(sessionId, { cwd, agent, accepts: acceptsOf(agent) }, answer);
    for (const update of early.get(sessionId) ?? []) board.update(sessionId, update);
    early.delete(sessionId);
  }
  const isAgent = (name: string) => board.agents().some((agent) => agent.name === name);

  async function open({ agent, cwd = deps.cwd }: Given<'new'>): Promise<{ readonly sessionId: string }> {
    await ready;
    if (agent !== undefined && !isAgent(agent)) throw new ClientError(-32602, `there is no agent "${agent}"`);
    checkDirectory(cwd);
    const meta = agent === undefined ? {} : { _meta: { 'acp-switchboard': { agent } } };
    return opened(async () => {
      const answer = fields(await client.request('session/new', { cwd, mcpServers: [], ...meta }));
      const sessionId = String(answer.sessionId);
      const option = list(answer.configOptions)
        .map(fields)
        .find(({ category }) => category === '_agent');
      begin(sessionId, cwd, text(option?.currentValue) ?? agent ?? board.agents()[0]?.name ?? '', answer);
      return { sessionId };
    });
  }
  /** By load where that is possible: then the agent itself tells what was said. */
  async function takeUp(sessionId: string): Promise<void> {
    const row = board.row(sessionId);
    if (!row) throw new ClientError(-32002, `there is no session "${sessionId}"`);
    checkDirectory(row.cwd);
    const canLoad =
      board
        .agents()
        .find(({ name }) => name === row.agent)
        ?.capabilities.includes('loadSession') === true;
    await opened(async () => {
      const method = canLoad ? 'session/load' : 'session/resume';
      const before = canLoad ? undefined : deps.transcript(sessionId);
      const answer = fields(await client.request(method, { sessionId, cwd: row.cwd, mcpServers: [] }));
      const told = early.get(sessionId) ?? [];
      early.delete(sessionId);
      board.opened(sessionId, { cwd: row.cwd, agent: row.agent, accepts: acceptsOf(row.agent) }, answer);
      for (const event of before ? eventsOfTranscript(before) : []) board.replay(sessionId, event);
      for (const update of told) board.update(sessionId, update);
    });
  }
  async function prompt({ sessionId, blocks }: Given<'prompt'>): Promise<unknown> {
    await ready;
    if (!board.isLive(sessionId)) await takeUp(sessionId);
    if (board.conversation(sessionId)?.isRunning)
      throw new ClientError(-32600, 'the session is still busy with another prompt; wait for it, or cancel it');
    const words = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    const others = blocks.flatMap((block) => (block.type === 'text' ? [] : [shownBlock(block)]));
    board.event(sessionId, { e: 'prompt', text: neutralise(redact(words)), blocks: others });
    const over = client.request('session/prompt', { sessionId, prompt: blocks });
    over.then(
      (answer) => board.event(sessionId, { e: 'end', stopReason: String(fields(answer).stopReason) }),
      (error: Error) => board.event(sessionId, { e: 'end', error: neutralise(redact(wordsOf(error))) }),
    );
    return {};
  }
  async function option({ sessionId, option: id, value }: Given<'option'>): Promise<unknown> {
    if (!board.isLive(sessionId)) await takeUp(sessionId);
    if (id === MODE_OPTION) {
      await client.request('session/set_mode', { sessionId, modeId: value });
      board.event(sessionId, { e: 'option', id, value });
      return {};
    }
    const answer = fields(await client.request('session/set_config_option', { sessionId, configId: id, value }));
    if (Array.isArray(answer.configOptions)) board.options(sessionId, answer);
    board.accepts(sessionId, acceptsOf(board.row(sessionId)?.agent ?? ''));
    return {};
  }

  return {
    ready,
    closed: client.closed,
    open,
    prompt,
    option,
    async cancel(sessionId: string, by: string): Promise<unknown> {
      client.notify('session/cancel', { sessionId });
      board.cancelQuestions(sessionId, by);
      return {};
    },
    async close(sessionId: string): Promise<unknown> {
      if (!board.isLive(sessionId)) return {};
      await client.request('session/close', { sessionId });
      host.endOf(sessionId);
      board.closed(sessionId);
      return {};
    },
    async authenticate(methodId: string): Promise<unknown> {
      await ready;
      await client.request('authenticate', { methodId });
      return {};
    },
    async stop(): Promise<void> {
      terminals.stop();
      board.stop();
      client.close();
      await host.stop();
    },
  };
}

function checkDirectory(cwd: string): void {
  const isDirectory = path.isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isDirectory) throw new ClientError(-32602, `${neutralise(cwd)} is not a directory; give the absolute path of one`);
}

function shownBlock(block: Exclude<PromptBlock, { type: 'text' }>): Block {
  if (block.type !== 'resource') return block;
  const { uri, mimeType } = block.resource;
  return { type: 'resource', uri, mimeType, text: 'text' in block.resource ? block.resource.text : undefined };
}

function wordsOf(error: Error): string {
  const { stderr } = fields(error instanceof ClientError ? error.data : undefined);
  return [error.message, ...list(stderr).map((line) => `  ${String(line)}`)].join('\n');
}
