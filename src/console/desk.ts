// Where a page's wishes become requests of an ACP client, and what agents ask of that client is answered. The console is an editor like any
// other to the proxy beneath it, so policy, tools and records apply.
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Client, ClientError, createClient } from '../client/client.ts';
import type { Redactor } from '../log/redact.ts';
import { adviceOn } from './advice.ts';
import type { BoardKeeper } from './board.ts';
import { createChanges } from './changes.ts';
import type { Accepts, Block } from './conversation.ts';
import { neutralise } from './neutralise.ts';
import type { Judged } from './questions.ts';
import { agentIn, type Fields, fields, list, MODE_OPTION, text } from './read-update.ts';
import { createTerminalWatch } from './terminal-watch.ts';
import { eventsOfTranscript, type Transcript } from './transcript-events.ts';
import type { SessionRow } from './wire/board.ts';
import type { PromptBlock, SessionActs } from './wire/sessions.ts';

/** Files and terminals of the machine the console runs on, kept inside the session's directories. */
export type Host = {
  readonly capabilities: Fields;
  /** Where these directories lead now, before an agent hears of them and can put something in their place. Returns what gives them to a session. */
  look(directories: readonly string[]): (sessionId: string) => void;
  /** `judged` is where the path of a file led when a policy judged it. */
  serve(sessionId: string, method: string, params: unknown, judged?: string): Promise<unknown>;
  /** Changes a file: `edit` gets its text, or undefined where there is none, and returns the new one, or undefined to leave it. */
  edit(
    sessionId: string,
    file: string,
    edit: (text: string | undefined) => string | undefined,
    judged?: string,
  ): Promise<{ readonly isWritten: boolean }>;
  endOf(sessionId: string): void;
  stop(): Promise<void>;
};

/** Whether the user may read or change a file of a session from a page, as a policy has it. */
export type ByHand = (
  sessionId: string,
  act: 'read' | 'edit',
  file: string,
) => { readonly allow: true; readonly judged?: string } | { readonly allow: false; readonly reason: string };

export type DeskDeps = {
  readonly board: BoardKeeper;
  readonly host: Host;
  readonly redact: Redactor;
  readonly byHand: ByHand;
  readonly clientInfo: { readonly name: string; readonly title: string; readonly version: string };
  readonly cwd: string;
  /** What the policy has said of a question, by its id on the connection. */
  readonly judged: (id: string) => Judged | undefined;
  readonly transcript: (sessionId: string) => Transcript | undefined;
};

type OpenedBy = { readonly answer: Fields; readonly sessionId: string };
/** What a session can be opened with besides its `cwd`. */
type With = Pick<Given<'new'>, 'additionalDirectories' | 'mcpServers'>;
type Given<Act extends keyof SessionActs> = SessionActs[Act]['give'];
export type Desk = ReturnType<typeof createDesk>;

/** What a page can show. */
const CAPABILITIES = {
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  plan: {},
  elicitation: { form: {}, url: {} },
  auth: { terminal: true },
};
const MOST_SENT = 100;
const CANCELLED = { outcome: { outcome: 'cancelled' } };

export function createDesk(input: Readable, output: Writable, deps: DeskDeps) {
  const { board, host, redact } = deps;
  /** Updates of a session may stand right behind the answer that opens it, before whoever waits for that answer has it. */
  const early = new Map<string, Fields[]>();
  let opening = 0;
  /** Sessions from which somebody was sent to a page. */
  const sent = new Map<string, string>();
  /** What sessions were begun with besides a directory: whoever takes one up again has it too. */
  const begunWith = new Map<string, With>();
  const client: Client = createClient(input, output, { request, notification });
  const terminals = createTerminalWatch(board, host, redact);
  const ready = client.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { ...host.capabilities, ...CAPABILITIES },
    clientInfo: deps.clientInfo,
  });
  ready.catch(() => {}); // whoever asks for something first hears of it

  function notification(method: string, params: unknown): void {
    const { sessionId, update, elicitationId } = fields(params);
    if (method === 'elicitation/complete') return arrived(String(elicitationId));
    if (method !== 'session/update' || typeof sessionId !== 'string') return;
    if (board.isLive(sessionId)) updated(sessionId, fields(update));
    else if (opening > 0) keepEarly(sessionId, fields(update));
  }
  /** Into the list that is there: a session that is loaded may have many thousands to tell. */
  function keepEarly(sessionId: string, update: Fields): void {
    const kept = early.get(sessionId);
    if (kept) kept.push(update);
    else early.set(sessionId, [update]);
  }
  /** What may be attached goes by the agent, which an update can change. */
  function updated(sessionId: string, update: Fields): void {
    const before = board.row(sessionId)?.agent;
    board.update(sessionId, update);
    const agent = board.row(sessionId)?.agent;
    if (agent !== undefined && agent !== before) board.accepts(sessionId, acceptsOf(agent));
  }
  function awaitArrival(elicitationId: string, sessionId: string): void {
    sent.set(elicitationId, sessionId);
    // Agents need not say when it is done.
    if (sent.size > MOST_SENT) for (const oldest of [...sent.keys()].slice(0, 1)) sent.delete(oldest);
  }
  /** What somebody was sent to a page for is done there. */
  function arrived(elicitationId: string): void {
    const sessionId = sent.get(elicitationId);
    sent.delete(elicitationId);
    if (sessionId !== undefined) board.event(sessionId, { e: 'note', text: 'What the page was opened for is done.' });
  }
  async function request(method: string, value: unknown, signal: AbortSignal, id: string): Promise<unknown> {
    const params = fields(value);
    const sessionId = String(params.sessionId);
    if (method === 'session/request_permission') {
      const { option } = await board.ask(sessionId, params, signal, { judged: deps.judged(id) });
      const chosen = option === undefined ? undefined : fields(list(params.options)[option]).optionId;
      return chosen === undefined ? CANCELLED : { outcome: { outcome: 'selected', optionId: chosen } };
    }
    if (method === 'elicitation/create') {
      const { reply = { action: 'cancel' } } = await board.elicit(text(params.sessionId), params, signal);
      if (reply.action === 'accept' && typeof params.elicitationId === 'string') awaitArrival(params.elicitationId, sessionId);
      return reply;
    }
    if (!method.startsWith('fs/') && !method.startsWith('terminal/')) throw new ClientError(-32601, `Method not found: ${method}`);
    const row = board.row(sessionId);
    if (!row) throw new ClientError(-32602, `There is no session "${sessionId}"`);
    if (method === 'terminal/release') await terminals.last(sessionId, params.terminalId);
    const result = await host.serve(sessionId, method, params);
    if (method === 'terminal/create') terminals.begin(sessionId, String(fields(result).terminalId));
    return result;
  }

  function rowOf(sessionId: string): SessionRow {
    const row = board.row(sessionId);
    if (!row) throw new ClientError(-32002, `there is no session "${neutralise(sessionId)}"`);
    return row;
  }
  const capabilitiesOf = (agent: string): readonly string[] => board.agents().find(({ name }) => name === agent)?.capabilities ?? [];
  function acceptsOf(agent: string): Accepts {
    const capabilities = capabilitiesOf(agent);
    const has = (kind: string) => capabilities.includes(`promptCapabilities.${kind}`);
    return { image: has('image'), audio: has('audio'), embeddedContext: has('embeddedContext') };
  }
  /** Asks for a session in its directories. `known` is its id, where it has one already. */
  async function openBy(method: string, params: Fields, cwd: string, more: With, known?: string): Promise<OpenedBy> {
    const { additionalDirectories = [], mcpServers = [] } = more;
    for (const directory of [cwd, ...additionalDirectories]) checkDirectory(directory);
    const lend = host.look([cwd, ...additionalDirectories]);
    const also = additionalDirectories.length > 0 && { additionalDirectories };
    if (known !== undefined) lend(known); // its agent may want files before it has answered
    try {
      const answer = fields(await client.request(method, { ...params, cwd, ...also, mcpServers }));
      const sessionId = known ?? String(answer.sessionId);
      if (known === undefined) lend(sessionId);
      begunWith.set(sessionId, more);
      return { answer, sessionId };
    } catch (error) {
      if (known !== undefined) host.endOf(known);
      throw error;
    }
  }
  async function opened<T>(act: () => Promise<T>): Promise<T> {
    opening++;
    try {
      return await act();
    } finally {
      if (--opening === 0) early.clear();
    }
  }
  /** `before` is what was said in it, where the agent itself does not tell. */
  function begin(sessionId: string, { cwd, agent }: Pick<SessionRow, 'cwd' | 'agent'>, answer: Fields, before: Transcript = []): void {
    board.opened(sessionId, { cwd, agent, accepts: acceptsOf(agent) }, answer);
    for (const event of eventsOfTranscript(before)) board.replay(sessionId, event);
    for (const update of early.get(sessionId) ?? []) board.update(sessionId, update);
    early.delete(sessionId);
  }
  const isAgent = (name: string) => board.agents().some((agent) => agent.name === name);

  async function open({ agent, cwd = deps.cwd, ...more }: Given<'new'>): Promise<{ readonly sessionId: string }> {
    await ready;
    if (agent !== undefined && !isAgent(agent)) throw new ClientError(-32602, `there is no agent "${agent}"`);
    const meta = agent === undefined ? {} : { _meta: { 'acp-switchboard': { agent } } };
    return opened(async () => {
      const { answer, sessionId } = await openBy('session/new', meta, cwd, more);
      begin(sessionId, { cwd, agent: agentIn(answer) ?? agent ?? board.agents()[0]?.name ?? '' }, answer);
      return { sessionId };
    });
  }
  /** By load where that is possible: then the agent itself tells what was said. */
  async function takeUp(sessionId: string): Promise<void> {
    const row = rowOf(sessionId);
    const canLoad = capabilitiesOf(row.agent).includes('loadSession');
    await opened(async () => {
      const method = canLoad ? 'session/load' : 'session/resume';
      const before = canLoad ? undefined : deps.transcript(sessionId);
      const { answer } = await openBy(method, { sessionId }, row.cwd, begunWith.get(sessionId) ?? {}, sessionId);
      begin(sessionId, row, answer, before);
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
      (error: Error) =>
        board.event(sessionId, { e: 'end', error: neutralise(redact(wordsOf(error))), ...adviceOn(error, board.agents(), true) }),
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
    changes: createChanges(deps),
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
    async kill(sessionId: string, terminalId: string): Promise<unknown> {
      return host.serve(sessionId, 'terminal/kill', { sessionId, terminalId });
    },
    async rename(sessionId: string, title: string): Promise<unknown> {
      if (!board.isLive(sessionId)) await takeUp(sessionId);
      const answer = fields(await client.request('session/set_title', { sessionId, title }));
      board.titled(sessionId, text(answer.title) ?? title);
      return {};
    },
    async remove(sessionId: string): Promise<unknown> {
      await ready;
      await client.request('session/delete', { sessionId });
      host.endOf(sessionId);
      begunWith.delete(sessionId);
      board.gone(sessionId);
      return {};
    },
    async fork(sessionId: string): Promise<{ readonly sessionId: string }> {
      if (!board.isLive(sessionId)) await takeUp(sessionId);
      const row = rowOf(sessionId);
      return opened(async () => {
        const { answer, sessionId: forked } = await openBy('session/fork', { sessionId }, row.cwd, begunWith.get(sessionId) ?? {});
        begin(forked, row, answer, deps.transcript(sessionId));
        board.titled(forked, row.title);
        return { sessionId: forked };
      });
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
