// Composes the console: the server for pages, the state they show, and the ACP client behind their actions.
import type { Readable, Writable } from 'node:stream';
import { ClientError } from '../client/client-error.ts';
import { neutralise } from '../control-characters.ts';
import type { Secrets } from '../redaction/redact.ts';
import { chatActions } from './actions/chat.ts';
import { policyHandlers } from './actions/policy.ts';
import type { PolicyStore } from './actions/policy-store.ts';
import { queueHandlers } from './actions/queue.ts';
import { resendActions } from './actions/resend.ts';
import { ruleActions } from './actions/rules.ts';
import { holderOf, sessionActions } from './actions/sessions.ts';
import { type ConsoleClient, createConsoleClient } from './client/console-client.ts';
import type { OtherClients } from './client/other-clients.ts';
import type { PromptQueue } from './client/prompts.ts';
import type { ByUser, Host } from './client/workspace.ts';
import { apply } from './protocol/apply-event.ts';
import { type Conversation, createConversation } from './protocol/conversation.ts';
import type { Failure } from './protocol/messages.ts';
import type { Hit } from './protocol/sessions.ts';
import type { AgentRow, SessionRow } from './protocol/state.ts';
import { openPage, type Page } from './server/page-connection.ts';
import { type Handlers, joinHandlers } from './server/screens.ts';
import { type ListenAt, openServer, readPageFiles, type ServerDeps } from './server/server.ts';
import { adviceOn } from './state/advice.ts';
import { createFeed } from './state/feed.ts';
import type { Frames } from './state/frames.ts';
import type { PolicyResult } from './state/pending-requests.ts';
import { createState, type StateKeeper } from './state/state.ts';
import { eventsOfTranscript, type Transcript } from './state/transcript-events.ts';

export type Connected = {
  readonly input: Readable;
  readonly output: Writable;
  /** The policy's result for a request, by its id on this connection. */
  readonly evaluatedRequest: (id: string) => PolicyResult | undefined;
  readonly byUser: ByUser;
  readonly queue: PromptQueue;
  /** Other clients of the daemon, whose sessions can be joined. */
  readonly others?: OtherClients | undefined;
};

export type ConsoleDeps = {
  readonly port: number;
  /** Where to listen; default: loopback. */
  readonly at?: ListenAt | undefined;
  /** Other endpoints of the same listener, by path. */
  readonly endpoints?: ServerDeps['endpoints'];
  /** The directory of the built page. */
  readonly pageDir: string;
  readonly version: string;
  readonly cwd: string;
  readonly secrets: Secrets;
  readonly host: Host;
  /** Connects to the proxy: at start, or, when attached to an editor, when the first session is opened here. */
  readonly connect: () => Connected;
  readonly attached?: ((state: StateKeeper) => Attached) | undefined;
  /** A link was used; the caller may issue another. */
  readonly entered?: (() => void) | undefined;
  readonly frames: Frames;
  readonly stored: () => readonly SessionRow[];
  /** The additional directories a session was last opened with, in any process. */
  readonly directoriesOf: (sessionId: string) => readonly string[];
  /** Names of the configured MCP servers whose tools agents get. */
  readonly servers: readonly string[];
  readonly transcripts: Transcripts;
  /** The current state of the agents. */
  readonly agents: () => readonly AgentRow[];
  /** Stops an agent's process gracefully. Returns whether the agent exists. */
  readonly restart: (agent: string) => boolean;
  /** The policy of this process. */
  readonly policy: PolicyStore;
  /** Handlers of further screens. */
  readonly handlers?: readonly Handlers[];
};

/** Stored transcripts. */
export type Transcripts = {
  read(sessionId: string): Transcript | undefined;
  /** Sessions that contain every term, optionally of one agent, newest first. `isAll` when there are no more. */
  search(query: string, agent: string | undefined): Promise<{ readonly found: readonly Hit[]; readonly isAll: boolean }>;
  /** As the command line exports it. */
  text(sessionId: string, format: 'md' | 'json'): string | undefined;
  /** Deletes our records; throws when there are none. */
  remove(sessionId: string): void;
};

/** A client in this process, whose sessions are shown too. */
export type Attached = {
  holds(sessionId: string): boolean;
  cancel(sessionId: string): boolean;
  /** The editor's prompts that wait for the end of a turn. */
  queued(sessionId: string): readonly { readonly id: string; readonly text: string }[];
  changeQueued(sessionId: string, id: string, text: string | undefined): boolean;
  /** The first page opened, or the last one closed. */
  wake(): void;
  sleep(): void;
};

export type Console = {
  readonly port: number;
  link(): string;
  /** Refuses new connections; open ones go on. */
  stopAccepting(): void;
  readonly closed: Promise<void>;
  stop(): Promise<void>;
};

const LOOK_EVERY_MS = 1000;
const REFRESH_EVERY = 5;
const LEAVE_AFTER_MS = 3000;

/** Rejects when the port is not available. */
export async function openConsole(deps: ConsoleDeps): Promise<Console> {
  const { secrets, frames, version, cwd } = deps;
  const { redact } = secrets;
  const feed = createFeed();
  const { servers, stored } = deps;
  const state = createState({ feed, redact, now: Date.now, version, cwd, servers, stored });
  const attached = deps.attached?.(state);
  const pages = new Set<Page>();
  let looks = 0;

  let made: ConsoleClient | undefined;
  let isOver = () => {};
  const closed = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  function consoleClient(): ConsoleClient {
    if (made) return made;
    const { input, output, evaluatedRequest, byUser, queue, others } = deps.connect();
    const clientInfo = { name: 'switchboard-console', title: 'Switchboard console', version };
    made = createConsoleClient(input, output, {
      state,
      host: deps.host,
      redact,
      clientInfo,
      cwd,
      evaluatedRequest,
      byUser,
      queue,
      others,
      transcript: deps.transcripts.read,
      directoriesOf: deps.directoriesOf,
    });
    void made.closed.then(() => attached || isOver());
    return made;
  }
  /** The conversation of a session: live, or rebuilt from its transcript. */
  function conversationOf(sessionId: string): Conversation {
    const live = state.conversation(sessionId);
    if (live) return live;
    const kept = createConversation(sessionId);
    for (const event of eventsOfTranscript(deps.transcripts.read(sessionId) ?? [])) apply(kept, event);
    kept.isRunning = false;
    return kept;
  }

  /** Runs only while a page is open. */
  function look(): void {
    state.setAgents(deps.agents());
    joinSeen();
    if (looks++ % REFRESH_EVERY === 0) state.refresh();
  }
  /** A session of another client is joined only while a page shows it. */
  function joinSeen(): void {
    const seen = new Set([...pages].flatMap((page) => page.watched()));
    for (const sessionId of seen) if (made?.joined.canJoin(sessionId)) made.joined.join(sessionId).catch(() => {}); // the page keeps the transcript
    made?.joined.leave((sessionId) => seen.has(sessionId));
  }
  let timer: NodeJS.Timeout | undefined;
  function watchWhileOpen(): void {
    clearInterval(timer);
    if (pages.size === 0) {
      attached?.sleep();
      setTimeout(joinSeen, LEAVE_AFTER_MS).unref(); // the page may only be reloading
      return frames.rest();
    }
    frames.look();
    if (pages.size === 1) attached?.wake();
    timer = setInterval(look, LOOK_EVERY_MS);
  }

  const { transcripts, restart } = deps;
  const actions = sessionActions({ state, consoleClient, attached, transcripts, redact, restart, look, link: () => server.link() });
  const rules = ruleActions(state, deps.policy, redact, Date.now);
  const policy = policyHandlers(deps.policy, redact);
  const chat = chatActions({ state, consoleClient, attached });
  /** An attached editor's prompts wait in the editor's connection. */
  const queue = queueHandlers({
    queued: (sessionId) => (attached?.holds(sessionId) ? attached.queued(sessionId) : (made?.prompts.queued(sessionId) ?? [])),
    change: (sessionId, id, text) =>
      attached?.holds(sessionId) ? attached.changeQueued(sessionId, id, text) : made?.prompts.change(sessionId, id, text) === true,
    redact,
  });
  const resend = resendActions({ frames, holder: holderOf({ consoleClient, attached }), isLive: state.isLive, redact });
  const own = [{ actions }, { actions: chat }, frames.handlers, { actions: resend }, { actions: rules }, policy, queue];
  const handlers = joinHandlers([...own, ...(deps.handlers ?? [])]);
  function failure(error: unknown): Failure {
    const message = neutralise(redact(String((error as Error).message)));
    if (!(error instanceof ClientError)) return { message };
    return { message, code: error.code, ...adviceOn(error, state.agents()) };
  }

  const server = await openServer({
    port: deps.port,
    at: deps.at,
    endpoints: deps.endpoints,
    files: readPageFiles(deps.pageDir),
    now: Date.now,
    entered: deps.entered,
    welcome(socket, first) {
      look();
      openPage(socket, first, {
        feed,
        state: state.snapshot,
        conversation: conversationOf,
        handlers,
        failure,
        opened(page) {
          pages.add(page);
          watchWhileOpen();
        },
        closed(page) {
          pages.delete(page);
          watchWhileOpen();
        },
      });
    },
  });
  // Only after the server listens: do not start an agent in vain.
  if (!attached) void consoleClient().ready.then(look, () => {});

  return {
    port: server.port,
    link: server.link,
    stopAccepting: server.stopAccepting,
    closed,
    async stop() {
      clearInterval(timer);
      frames.rest();
      server.close();
      await made?.stop();
      isOver();
    },
  };
}
