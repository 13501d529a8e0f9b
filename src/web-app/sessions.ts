// The sessions of a principal: those that are open with an agent, and those of the store, which are opened again when a page uses them.
import type { ParamsOf } from '../client/acp-methods.ts';
import { createSettings, type Setting, type Settings } from '../client/session-settings.ts';
import type { JsonObject } from '../json-object.ts';
import type { AgentLink } from './agent-link.ts';
import { refusals } from './refusal.ts';
import { createShownChanges, type ShownChanges } from './shown-changes.ts';

/** A session of this principal in the store. */
export type StoredSession = {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
  readonly title: string;
  readonly turns: number;
  /** Milliseconds since 1970. */
  readonly at: number;
};

export type OpenSession = {
  readonly sessionId: string;
  readonly cwd: string;
  readonly link: AgentLink;
  readonly settings: Settings;
  readonly changes: ShownChanges;
};

export type SessionsDeps = {
  /** Newest last. */
  readonly stored: () => readonly StoredSession[];
  /** The agent of that name, connected if it is not. Throws if it is not configured. */
  readonly linkOf: (agent: string, sessionId: string) => Promise<AgentLink>;
  /** Resolves directories before an agent knows of them. Returns a function that assigns them to a session. */
  readonly look: (directories: readonly string[]) => (sessionId: string) => void;
  readonly endOf: (sessionId: string) => void;
};

export type Sessions = {
  create(link: AgentLink, cwd: string, mcpServers: ParamsOf<'session/new'>['mcpServers']): Promise<JsonObject>;
  /** The session, open; the last one if no id is given. It is the last one from now on. */
  use(sessionId: string | undefined): Promise<OpenSession>;
  /** Undefined if the session is not open. */
  get(sessionId: string): OpenSession | undefined;
  find(sessionId: string): StoredSession | undefined;
  lastId(): string | undefined;
  /** Whether a page sees the updates of the session: not while it is opened again. */
  isShown(sessionId: string): boolean;
  forget(sessionId: string): void;
  /** The agent is gone; its sessions are opened again when they are used. */
  lose(link: AgentLink): void;
};

export function createSessions({ stored, linkOf, look, endOf }: SessionsDeps): Sessions {
  const open = new Map<string, OpenSession>();
  const reopening = new Map<string, Promise<OpenSession>>();
  let last: string | undefined;

  const find = (sessionId: string) => stored().find((one) => one.sessionId === sessionId);
  const lastId = () => last ?? stored().at(-1)?.sessionId;
  function add(sessionId: string, cwd: string, link: AgentLink, answer: unknown): OpenSession {
    const settings = createSettings();
    settings.read(answer);
    const session = { sessionId, cwd, link, settings, changes: createShownChanges(cwd) };
    open.set(sessionId, session);
    last = sessionId;
    return session;
  }
  async function reopen(sessionId: string): Promise<OpenSession> {
    const row = find(sessionId);
    if (!row) throw refusals.unknownSession(sessionId);
    const grant = look([row.cwd]);
    const link = await linkOf(row.agent, sessionId);
    const method = link.canResume ? 'session/resume' : 'session/load';
    const answer = await link.client.request(method, { sessionId, cwd: row.cwd, mcpServers: [] });
    grant(sessionId);
    return add(sessionId, row.cwd, link, answer);
  }
  return {
    async create(link, cwd, mcpServers) {
      const grant = look([cwd]);
      const answer = await link.client.request('session/new', { cwd, mcpServers });
      grant(answer.sessionId);
      const { settings } = add(answer.sessionId, cwd, link, answer);
      return { ...answer, modes: answer.modes ?? modesOf(settings) };
    },
    async use(given) {
      const sessionId = given ?? lastId();
      if (sessionId === undefined) throw refusals.noSession();
      const session = open.get(sessionId);
      if (session) {
        last = sessionId;
        return session;
      }
      const underway = reopening.get(sessionId) ?? reopen(sessionId).finally(() => reopening.delete(sessionId));
      reopening.set(sessionId, underway);
      return underway;
    },
    get: (sessionId) => open.get(sessionId),
    find,
    lastId,
    isShown: (sessionId) => !reopening.has(sessionId),
    forget(sessionId) {
      open.delete(sessionId);
      endOf(sessionId);
      if (last === sessionId) last = undefined;
    },
    lose(link) {
      for (const [sessionId, session] of open) if (session.link === link) open.delete(sessionId);
    },
  };
}

/** The setting of this kind, by whatever method the agent offers it. */
export const settingOf = (settings: readonly Setting[], kind: 'mode' | 'model'): Setting | undefined =>
  settings.find(({ category }) => category === kind);

/** Pages fill their list of modes from here, also where the agent offers modes as an option. */
export function modesOf(settings: Settings): JsonObject | undefined {
  const mode = settingOf(settings.list(), 'mode');
  return mode && { currentModeId: mode.value, availableModes: mode.choices.map(({ value, name }) => ({ id: value, name })) };
}
