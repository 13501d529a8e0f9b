// The console's ACP client: turns page actions into requests and answers agent requests. To the proxy it is a client like any other, so
// policy, tools and records apply.
import type { Readable, Writable } from 'node:stream';
import { META_KEY } from '../../acp/shapes.ts';
import { type Client, createClient } from '../../client/client.ts';
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { createChanges } from '../actions/changes.ts';
import type { InSession, SessionActions } from '../protocol/sessions.ts';
import type { PolicyResult } from '../state/pending-requests.ts';
import { type Fields, MODE_OPTION, MODEL_OPTION, text } from '../state/read-update.ts';
import type { StateKeeper } from '../state/state.ts';
import { createTerminalWatch } from '../state/terminal-watch.ts';
import type { Transcript } from '../state/transcript-events.ts';
import { answerAgents } from './answer-agent.ts';
import { openSessions } from './open-sessions.ts';
import { joinSessions, type OtherClients } from './other-clients.ts';
import { createPrompts, type PromptQueue } from './prompts.ts';
import type { ByUser, Host } from './workspace.ts';

export type ConsoleClientDeps = {
  readonly state: StateKeeper;
  readonly host: Host;
  readonly redact: Redactor;
  readonly byUser: ByUser;
  readonly clientInfo: { readonly name: string; readonly title: string; readonly version: string };
  readonly cwd: string;
  /** The policy's result for a request, by its id on the connection. */
  readonly evaluatedRequest: (id: string) => PolicyResult | undefined;
  readonly queue: PromptQueue;
  readonly others: OtherClients | undefined;
  readonly transcript: (sessionId: string) => Transcript | undefined;
  readonly directoriesOf: (sessionId: string) => readonly string[];
};

type Given<Name extends keyof SessionActions> = SessionActions[Name]['params'];
export type ConsoleClient = ReturnType<typeof createConsoleClient>;

/** What the page can render. */
const CAPABILITIES = {
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  plan: {},
  elicitation: { form: {}, url: {} },
  auth: { terminal: true },
};

export function createConsoleClient(input: Readable, output: Writable, deps: ConsoleClientDeps) {
  const { state, host, redact } = deps;
  const terminals = createTerminalWatch(state, host, redact);
  const { request, arrived, answeredElsewhere } = answerAgents({ state, host, terminals, evaluatedRequest: deps.evaluatedRequest });
  const client: Client = createClient(input, output, { request, notification });
  const sessions = openSessions(client, deps);
  const prompts = createPrompts({
    ...{ state, redact, queue: deps.queue },
    send: (sessionId, blocks, whileRunning) =>
      client.request('session/prompt', {
        ...{ sessionId, prompt: [...blocks] },
        ...(whileRunning && { _meta: { [META_KEY]: { whileRunning } } }),
      }),
  });
  const joined = joinSessions({ state, host, others: deps.others, sessions, prompts, answeredElsewhere });
  const ready = client.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { ...host.capabilities, ...CAPABILITIES },
    clientInfo: deps.clientInfo,
  });
  ready.catch(() => {}); // the first action reports the failure

  function notification(method: string, params: unknown): void {
    const { sessionId, update, elicitationId } = fields(params);
    if (method === 'elicitation/complete') return arrived(String(elicitationId));
    if (method !== 'session/update' || typeof sessionId !== 'string') return;
    if (state.isLive(sessionId)) updated(sessionId, fields(update));
    else sessions.keepEarly(sessionId, fields(update));
  }
  /** The accepted content types depend on the agent, which an update can change. */
  function updated(sessionId: string, update: Fields): void {
    if (joined.isNews(sessionId, update)) return;
    const before = state.row(sessionId)?.agent;
    state.update(sessionId, update);
    const agent = state.row(sessionId)?.agent;
    if (agent !== undefined && agent !== before) state.accepts(sessionId, sessions.acceptsOf(agent));
  }
  async function wake(sessionId: string): Promise<void> {
    if (state.isLive(sessionId)) return;
    await (joined.isLive(sessionId) ? joined.join(sessionId) : sessions.takeUp(sessionId));
  }
  async function prompt({ sessionId, blocks, whileRunning }: Given<'prompt'>): Promise<unknown> {
    await ready;
    await wake(sessionId);
    prompts.prompt(sessionId, blocks, whileRunning);
    return {};
  }
  async function option({ sessionId, option: id, value }: Given<'option'>): Promise<unknown> {
    await wake(sessionId);
    if (id === MODE_OPTION || id === MODEL_OPTION) {
      if (id === MODE_OPTION) await client.request('session/set_mode', { sessionId, modeId: String(value) });
      else await client.request('session/set_model', { sessionId, modelId: String(value) });
      state.event(sessionId, { e: 'option', id, value });
      return {};
    }
    const given = { sessionId, configId: id };
    const answer = fields(
      await client.request(
        'session/set_config_option',
        typeof value === 'boolean' ? { ...given, type: 'boolean', value } : { ...given, value },
      ),
    );
    if (Array.isArray(answer.configOptions)) state.options(sessionId, answer);
    state.accepts(sessionId, sessions.acceptsOf(state.row(sessionId)?.agent ?? ''));
    return {};
  }

  return {
    ready,
    changes: createChanges(deps),
    prompts,
    joined,
    /** A page shows a session. Another client may use it now; else the page has its transcript. */
    async show(sessionId: string): Promise<void> {
      if (!state.isLive(sessionId) && joined.isLive(sessionId)) await joined.join(sessionId);
    },
    closed: client.closed,
    async open(given: Given<'new'>): Promise<InSession> {
      await ready;
      return sessions.open(given);
    },
    prompt,
    option,
    /** Any other request, as it is. */
    resend: (method: string, params: Fields): Promise<unknown> => client.request(method, params),
    async cancel(sessionId: string, by: string): Promise<unknown> {
      client.notify('session/cancel', { sessionId });
      state.cancelRequests(sessionId, by);
      return {};
    },
    async close(sessionId: string): Promise<unknown> {
      if (!state.isLive(sessionId)) return {};
      await client.request('session/close', { sessionId });
      host.endOf(sessionId);
      state.closed(sessionId);
      return {};
    },
    async kill(sessionId: string, terminalId: string): Promise<unknown> {
      return host.serve(sessionId, 'terminal/kill', { sessionId, terminalId });
    },
    async rename(sessionId: string, title: string): Promise<unknown> {
      await wake(sessionId);
      const answer = fields(await client.request('session/set_title', { sessionId, title }));
      state.setTitle(sessionId, text(answer.title) ?? title);
      return {};
    },
    async remove(sessionId: string): Promise<unknown> {
      await ready;
      await client.request('session/delete', { sessionId });
      host.endOf(sessionId);
      sessions.forget(sessionId);
      state.deleted(sessionId);
      return {};
    },
    async fork(sessionId: string): Promise<InSession> {
      await wake(sessionId);
      return sessions.fork(sessionId);
    },
    async authenticate(methodId: string): Promise<unknown> {
      await ready;
      await client.request('authenticate', { methodId });
      return {};
    },
    async stop(): Promise<void> {
      terminals.stop();
      state.stop();
      client.close();
      await host.stop();
    },
  };
}
