// Opens, reopens and forks the console's sessions. Each is shown from its first update on.
import { statSync } from 'node:fs';
import path from 'node:path';
import { META_KEY } from '../../acp/shapes.ts';
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { Accepts } from '../protocol/conversation.ts';
import type { InSession, SessionActions } from '../protocol/sessions.ts';
import type { SessionRow } from '../protocol/state.ts';
import type { Fields } from '../state/read-update.ts';
import { agentIn } from '../state/session-options.ts';
import type { StateKeeper } from '../state/state.ts';
import { eventsOfTranscript, type Transcript } from '../state/transcript-events.ts';
import type { OtherClients } from './other-clients.ts';
import type { Host } from './workspace.ts';

type Deps = {
  readonly state: StateKeeper;
  readonly host: Host;
  readonly cwd: string;
  readonly transcript: (sessionId: string) => Transcript | undefined;
  /** The additional directories the session was last opened with, in any process. */
  readonly directoriesOf: (sessionId: string) => readonly string[];
  readonly others: OtherClients | undefined;
};
type Given = SessionActions['new']['params'];
/** What a session can be opened with besides its `cwd`. */
type With = Pick<Given, 'additionalDirectories' | 'mcpServers'>;
type Opened = InSession & { readonly answer: Fields };

export function openSessions(client: Client, { state, host, cwd: here, transcript, directoriesOf, others }: Deps) {
  /** Updates may arrive right after the response that opens the session, before its promise resolves. */
  const early = new Map<string, Fields[]>();
  let opening = 0;
  /** A reopened session gets the same directories and servers. Servers stay in memory only: they hold secrets. */
  const begunWith = new Map<string, With>();

  const capabilitiesOf = (agent: string): readonly string[] => state.agents().find(({ name }) => name === agent)?.capabilities ?? [];
  const isAgent = (name: string) => state.agents().some((agent) => agent.name === name);
  function rowOf(sessionId: string): SessionRow {
    const row = state.row(sessionId);
    if (!row) throw new ClientError(-32002, `there is no session "${neutralise(sessionId)}"`);
    return row;
  }
  async function opened<T>(action: () => Promise<T>): Promise<T> {
    opening++;
    try {
      return await action();
    } finally {
      if (--opening === 0) early.clear();
    }
  }
  /** Opens a session with access to its directories. `known` is its id, if it already has one. */
  async function openBy(method: string, params: Fields, cwd: string, more: With, known?: string): Promise<Opened> {
    const { additionalDirectories = [], mcpServers = [] } = more;
    for (const directory of [cwd, ...additionalDirectories]) checkDirectory(directory);
    const grant = host.look([cwd, ...additionalDirectories]);
    const also = additionalDirectories.length > 0 && { additionalDirectories };
    if (known !== undefined) grant(known); // its agent may read files before it responds
    try {
      const answer = fields(await client.request(method, { ...params, cwd, ...also, mcpServers }));
      const sessionId = known ?? String(answer.sessionId);
      if (known === undefined) grant(sessionId);
      begunWith.set(sessionId, more);
      return { answer, sessionId };
    } catch (error) {
      if (known !== undefined && !state.isLive(known)) host.endOf(known);
      throw error;
    }
  }
  /**
   * How the session was last opened, without directories that no longer exist. The user is warned about those, and the session continues.
   */
  function again(sessionId: string): { readonly more: With; readonly reportMissing: (opened: string) => void } {
    const { additionalDirectories = directoriesOf(sessionId), mcpServers } = begunWith.get(sessionId) ?? {};
    const there = additionalDirectories.filter(isDirectory);
    const missing = additionalDirectories.filter((one) => !there.includes(one));
    const title = missing.length === 1 ? 'A directory of this session no longer exists' : 'Directories of this session no longer exist';
    return {
      more: { additionalDirectories: there, mcpServers },
      reportMissing(opened) {
        if (missing.length > 0)
          state.update(opened, {
            sessionUpdate: 'notice',
            severity: 'warning',
            title,
            description: `${missing.join(', ')}; the session continues without`,
          });
      },
    };
  }
  /** `before` is the transcript, for agents that do not replay it. */
  function begin(sessionId: string, { cwd, agent }: Pick<SessionRow, 'cwd' | 'agent'>, answer: Fields, before: Transcript = []): void {
    state.opened(sessionId, { cwd, agent, accepts: self.acceptsOf(agent) }, answer);
    for (const event of eventsOfTranscript(before)) state.replay(sessionId, event);
    state.repeated(sessionId, early.get(sessionId) ?? []);
    early.delete(sessionId);
  }

  const self = {
    acceptsOf(agent: string): Accepts {
      const capabilities = capabilitiesOf(agent);
      const has = (kind: string) => capabilities.includes(`promptCapabilities.${kind}`);
      return { image: has('image'), audio: has('audio'), embeddedContext: has('embeddedContext') };
    },
    /** Holds an update of a session that is not open yet. Appends in place: a loaded session may replay thousands. */
    keepEarly(sessionId: string, update: Fields): void {
      if (opening === 0) return;
      const kept = early.get(sessionId);
      if (kept) kept.push(update);
      else early.set(sessionId, [update]);
    },
    async open({ agent, cwd = here, ...more }: Given): Promise<InSession> {
      if (agent !== undefined && !isAgent(agent)) throw new ClientError(-32602, `there is no agent "${agent}"`);
      const meta = agent === undefined ? {} : { _meta: { 'acp-switchboard': { agent } } };
      return opened(async () => {
        const { answer, sessionId } = await openBy('session/new', meta, cwd, more);
        begin(sessionId, { cwd, agent: agentIn(answer) ?? agent ?? state.agents()[0]?.name ?? '' }, answer);
        return { sessionId };
      });
    },
    /** Uses `session/load` if supported, so that the conversation is replayed: by the daemon if another client uses the session. */
    async takeUp(sessionId: string): Promise<void> {
      const row = rowOf(sessionId);
      const canLoad = others?.isLive(sessionId) === true || capabilitiesOf(row.agent).includes('loadSession');
      await opened(async () => {
        const method = canLoad ? 'session/load' : 'session/resume';
        const before = canLoad ? undefined : transcript(sessionId);
        const { more, reportMissing } = again(sessionId);
        const { answer } = await openBy(method, { sessionId }, row.cwd, more, sessionId);
        begin(sessionId, row, answer, before);
        if (fields(fields(answer._meta)[META_KEY]).turn === 'running') state.event(sessionId, { e: 'running', isRunning: true });
        reportMissing(sessionId);
      });
    },
    async fork(sessionId: string): Promise<InSession> {
      const row = rowOf(sessionId);
      return opened(async () => {
        const { more, reportMissing } = again(sessionId);
        const { answer, sessionId: forked } = await openBy('session/fork', { sessionId }, row.cwd, more);
        begin(forked, row, answer, transcript(sessionId));
        reportMissing(forked);
        state.setTitle(forked, row.title);
        return { sessionId: forked };
      });
    },
    /** Called when the session is deleted. */
    forget: (sessionId: string) => void begunWith.delete(sessionId),
  };
  return self;
}

function isDirectory(named: string): boolean {
  try {
    return path.isAbsolute(named) && statSync(named).isDirectory();
  } catch {
    return false; // missing or not accessible
  }
}

function checkDirectory(cwd: string): void {
  if (!isDirectory(cwd)) throw new ClientError(-32602, `${neutralise(cwd)} is not a directory; give the absolute path of one`);
}
