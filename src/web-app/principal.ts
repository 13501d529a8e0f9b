// Everything that the pages of one principal share: agents, sessions, open permission requests and terminals.
import type { AgentSpec } from '../agents/defaults.ts';
import type { JsonObject } from '../json-object.ts';
import type { Secrets } from '../redaction/redact.ts';
import type { TerminalNews } from '../workspace/terminal.ts';
import { type AgentLink, linkAgent, type ProxyLink } from './agent-link.ts';
import { type AgentChoices, type Chosen, chooseAgent } from './choose-agent.ts';
import type { Broadcast, ResponseFrame } from './frames.ts';
import { createQuestions, type Questions } from './open-requests.ts';
import { refusals } from './refusal.ts';
import { createSessions, type Sessions, type StoredSession } from './sessions.ts';
import { createTerminalLog, type TerminalLog } from './terminals.ts';
import { toPageUpdate } from './updates.ts';

/** Files and terminals that a page uses itself, limited to the directories of its sessions. */
export type Host = {
  look(directories: readonly string[]): (sessionId: string) => void;
  serve(sessionId: string, method: string, params: unknown, evaluatedPath?: string): Promise<unknown>;
  /** `edit` gets the text, or undefined if there is no file, and returns the new text, or undefined to leave it. */
  edit(
    sessionId: string,
    file: string,
    edit: (text: string | undefined) => string | undefined,
    evaluatedPath?: string,
  ): Promise<{ readonly isWritten: boolean }>;
  endOf(sessionId: string): void;
  stop(): Promise<void>;
};

/** What the service needs for one principal. */
export type PrincipalDeps = {
  readonly choices: AgentChoices;
  readonly allowsTerminals: boolean;
  readonly allowsPrograms: boolean;
  /** The directory of sessions for which a page names none. */
  readonly cwd: string;
  /** Why sessions may not be opened in this directory. */
  readonly refusesDirectory: (directory: string) => string | undefined;
  readonly openProxy: (
    spec: AgentSpec,
    on: { onStderr(line: string): void; onTerminal(id: string, news: TerminalNews): void },
  ) => ProxyLink;
  readonly createHost: (heard: (terminalId: string, news: TerminalNews) => void) => Host;
  /** Newest last. */
  readonly stored: () => readonly StoredSession[];
  /** Writes what is still in memory, so that `stored` has it. */
  readonly settle: () => void;
  /** The updates of a session that is not open here; undefined if there is no transcript. */
  readonly transcript: (sessionId: string) => readonly JsonObject[] | undefined;
  readonly hasTranscripts: boolean;
  readonly secrets: Secrets;
  readonly version: string;
};

/** One WebSocket. */
export type Page = {
  send(message: Broadcast | ResponseFrame): void;
  /** The name of the agent that it connected last, and the directory of its new sessions. */
  agent: string | undefined;
  cwd: string | undefined;
};

export type WaitingPrompt = { readonly sessionId: string | undefined; isCancelled: boolean };

export type Principal = {
  readonly deps: PrincipalDeps;
  readonly sessions: Sessions;
  readonly questions: Questions;
  readonly terminals: TerminalLog;
  readonly host: Host;
  /** The session of each terminal that a page created. */
  readonly terminalSessions: Map<string, string>;
  /** Prompts whose session is being opened again. */
  readonly waitingPrompts: Set<WaitingPrompt>;
  readonly pages: ReadonlySet<Page>;
  /** Shows it the open permission requests. */
  add(page: Page): void;
  remove(page: Page): void;
  /** To all pages, or all but one. */
  broadcast(message: Broadcast, but?: Page): void;
  connect(page: Page, chosen: Chosen): Promise<AgentLink>;
  /** The agent of the page, else the one that a page connected last. */
  agentOf(page: Page): Promise<AgentLink>;
  /** Of the agent of the page, for an error that wants a login. */
  authMethodsFor(page: Page): Promise<readonly unknown[]>;
  /** The agent of that name, connected if it is not. */
  linkOf(agent: string, sessionId: string): Promise<AgentLink>;
  /** Stops all agents and terminals. */
  close(): Promise<void>;
};

const MOST_AGENTS = 16;

export function createPrincipal(deps: PrincipalDeps): Principal {
  const pages = new Set<Page>();
  const links = new Map<string, { readonly key: string; readonly link: Promise<AgentLink> }>();
  const stopping = new Set<Promise<void>>();
  /** The name of the agent that was connected last. */
  let latest: string | undefined;
  let isClosed = false;

  const broadcast = (message: Broadcast, but?: Page) => {
    for (const page of pages) if (page !== but) page.send(message);
  };
  const questions = createQuestions(broadcast);
  const terminals = createTerminalLog(broadcast, deps.secrets);
  const host = deps.createHost((terminalId, news) => terminals.heard('page', terminalId, news));
  const sessions = createSessions({ stored: deps.stored, linkOf, look: host.look, endOf: host.endOf });

  function updated(sessionId: string, update: JsonObject): void {
    const session = sessions.get(sessionId);
    session?.settings.update(update);
    session?.changes.note(update, async (file) => {
      let found: string | undefined;
      const look = (text: string | undefined) => {
        found = text;
        return undefined;
      };
      await host.edit(sessionId, file, look);
      return found;
    });
    if (sessions.isShown(sessionId)) broadcast({ type: 'session_update', sessionId, update: toPageUpdate(update) });
  }
  async function start({ spec }: Chosen): Promise<AgentLink> {
    const proxy = deps.openProxy(spec, {
      onStderr: (line) => broadcast({ type: 'agent_stderr', line, agent: spec.name }),
      onTerminal: (id, news) => terminals.heard('agent', id, news),
    });
    const clientInfo = { name: 'switchboard-web-app', version: deps.version };
    return linkAgent(spec.name, proxy, clientInfo, { permission: questions.ask, update: updated });
  }
  /** The same agent with other settings replaces the former one. */
  function linkTo(chosen: Chosen): Promise<AgentLink> {
    const { name } = chosen.spec;
    const known = links.get(name);
    if (known?.key === chosen.key) return known.link;
    if (isClosed) throw refusals.notConnected();
    if (!known && links.size >= MOST_AGENTS) throw refusals.tooManyAgents(MOST_AGENTS);
    if (known) stop(known.link);
    const link = start(chosen);
    const entry = { key: chosen.key, link };
    links.set(name, entry);
    const gone = () => void (links.get(name) === entry && links.delete(name));
    link.then(
      (one) =>
        void one.closed.then(() => {
          gone();
          sessions.lose(one);
        }),
      gone,
    );
    return link;
  }
  function stop(link: Promise<AgentLink>): void {
    const stopped = link
      .then(
        (one) => {
          sessions.lose(one);
          return one.close();
        },
        () => {},
      )
      .finally(() => stopping.delete(stopped));
    stopping.add(stopped);
  }
  const linkFor = (page: Page) => links.get(page.agent ?? latest ?? '')?.link;
  async function linkOf(agent: string, sessionId: string): Promise<AgentLink> {
    const known = links.get(agent);
    if (known) return known.link;
    const isConfigured = deps.choices.agents.some(({ name }) => name === agent);
    if (!isConfigured) throw refusals.orphanedSession(sessionId, agent);
    return linkTo(chooseAgent(deps.choices, { agentCmd: agent, env: {} }));
  }

  return {
    deps,
    sessions,
    questions,
    terminals,
    terminalSessions: new Map(),
    waitingPrompts: new Set(),
    host,
    pages,
    linkOf,
    broadcast,
    add(page) {
      pages.add(page);
      for (const message of questions.open()) page.send(message);
    },
    remove: (page) => void pages.delete(page),
    async connect(page, chosen) {
      const { name } = chosen.spec;
      const linking = linkTo(chosen);
      page.agent = name;
      latest = name;
      const link = await linking;
      // A page that uses another agent keeps that one's capabilities.
      const message: Broadcast = { type: 'agent_initialized', init: link.init, agent: name };
      for (const one of pages) if (one.agent === undefined || one.agent === name) one.send(message);
      return link;
    },
    async agentOf(page) {
      const link = linkFor(page);
      if (!link) throw refusals.notConnected();
      return link;
    },
    async authMethodsFor(page) {
      const link = await linkFor(page)?.catch(() => undefined);
      return link?.authMethods ?? [];
    },
    async close() {
      isClosed = true;
      questions.stop();
      for (const { link } of links.values()) stop(link);
      await Promise.all([...stopping, host.stop()]);
    },
  };
}
