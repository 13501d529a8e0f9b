// The console put together: a server for pages, the board they show, the desk that does what they ask for.
import type { Readable, Writable } from 'node:stream';
import { ClientError } from '../client/client.ts';
import type { Secrets } from '../log/redact.ts';
import type { Asked } from './acts.ts';
import { type BoardKeeper, createBoard } from './board.ts';
import { apply, type Conversation, createConversation } from './conversation.ts';
import { createDesk, type Host } from './desk.ts';
import { createFeed } from './feed.ts';
import type { Frames } from './frames.ts';
import { neutralise } from './neutralise.ts';
import { readPageFiles } from './page-files.ts';
import { openPage, type Page } from './page-socket.ts';
import { fields, list } from './read-update.ts';
import { openServer } from './server.ts';
import { eventsOfTranscript, type Transcript } from './transcript-events.ts';
import type { AgentRow, Failure, SessionRow } from './wire.ts';

export type ConsoleDeps = {
  readonly port: number;
  /** Where the page's files are. */
  readonly pageDir: string;
  readonly version: string;
  readonly cwd: string;
  readonly secrets: Secrets;
  readonly host: Host;
  /** A connection to the proxy: at once, or beside an editor when the first session is opened here. */
  readonly connect: () => { readonly input: Readable; readonly output: Writable };
  readonly beside?: ((board: BoardKeeper) => Beside) | undefined;
  /** A link was used, and another one may be wanted. */
  readonly entered?: (() => void) | undefined;
  readonly frames: Frames;
  readonly stored: () => readonly SessionRow[];
  readonly transcripts: Transcripts;
  /** How the agents are now. */
  readonly agents: () => readonly AgentRow[];
  /** Ends an agent's process in good order; whether there is such an agent. */
  readonly restart: (agent: string) => boolean;
};

/** Sessions as they were written down. */
export type Transcripts = {
  read(sessionId: string): Transcript | undefined;
  /** Those in which every word occurs, the newest first. */
  search(words: string): Promise<readonly { readonly sessionId: string; readonly line: string }[]>;
  markdown(sessionId: string): string | undefined;
};

/** An editor in this process, whose sessions are shown too. */
export type Beside = {
  holds(sessionId: string): boolean;
  cancel(sessionId: string): boolean;
  /** A page is there, or none is left. */
  wake(): void;
  sleep(): void;
};

export type Console = {
  readonly port: number;
  link(): string;
  readonly closed: Promise<void>;
  stop(): Promise<void>;
};

const LOOK_EVERY_MS = 1000;
const REFRESH_EVERY = 5;

/** Rejects when the port cannot be had. */
export async function openConsole(deps: ConsoleDeps): Promise<Console> {
  const { secrets, frames, version, cwd } = deps;
  const { redact } = secrets;
  const feed = createFeed();
  const board = createBoard({ feed, redact, now: Date.now, version, cwd, isBeside: deps.beside !== undefined, stored: deps.stored });
  const beside = deps.beside?.(board);
  const pages = new Set<Page>();
  let looks = 0;

  let made: ReturnType<typeof createDesk> | undefined;
  let isOver = () => {};
  const closed = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  function desk(): ReturnType<typeof createDesk> {
    if (made) return made;
    const { input, output } = deps.connect();
    const clientInfo = { name: 'switchboard-console', title: 'Switchboard console', version };
    made = createDesk(input, output, { board, host: deps.host, redact, clientInfo, cwd, transcript: deps.transcripts.read });
    void made.closed.then(() => beside || isOver());
    return made;
  }
  /** For what only whoever holds a session can do with it. */
  function mine(sessionId: string): ReturnType<typeof createDesk> {
    if (beside?.holds(sessionId)) throw new ClientError(-32600, 'the editor has this session; go on with it there');
    return desk();
  }
  /** What is known of a session: told live, else as it was written down. */
  function conversationOf(sessionId: string): Conversation {
    const live = board.conversation(sessionId);
    if (live) return live;
    const kept = createConversation(sessionId);
    for (const event of eventsOfTranscript(deps.transcripts.read(sessionId) ?? [])) apply(kept, event);
    kept.isRunning = false;
    return kept;
  }

  /** Only while somebody looks on. */
  function look(): void {
    board.agentsAre(deps.agents());
    if (looks++ % REFRESH_EVERY === 0) board.refresh();
  }
  let timer: NodeJS.Timeout | undefined;
  function watchWhileOpen(): void {
    clearInterval(timer);
    if (pages.size === 0) {
      beside?.sleep();
      return frames.rest();
    }
    frames.look();
    if (pages.size === 1) beside?.wake();
    timer = setInterval(look, LOOK_EVERY_MS);
  }

  function perform(asked: Asked, page: Page): Promise<unknown> | unknown {
    switch (asked.act) {
      case 'watch':
        return page.watch(asked.sessionId);
      case 'unwatch':
        return page.unwatch(asked.sessionId);
      case 'new':
        return desk().open(asked);
      case 'prompt':
        return mine(asked.sessionId).prompt(asked);
      case 'cancel':
        return beside?.holds(asked.sessionId) ? { isDone: beside.cancel(asked.sessionId) } : desk().cancel(asked, page.id);
      case 'close':
        return mine(asked.sessionId).close(asked);
      case 'option':
        return mine(asked.sessionId).option(asked);
      case 'authenticate':
        return desk().authenticate(asked);
      case 'answer':
        return { isFirst: board.answer(asked.questionId, asked.option ?? undefined, page.id) };
      case 'restart':
        if (!deps.restart(asked.agent)) throw new ClientError(-32602, `there is no agent "${neutralise(asked.agent)}"`);
        return look();
      case 'frames': {
        const wrong = frames.watch(page, asked.filter);
        if (wrong !== undefined) throw new ClientError(-32602, `"${neutralise(wrong)}" is no term of a filter`);
        return undefined;
      }
      case 'noframes':
        return frames.unwatch(page);
      case 'frame':
        return { body: frames.body(asked.n) };
      case 'search':
        return deps.transcripts.search(asked.words).then((found) => ({ found: found.map(shownHit) }));
      case 'export': {
        const markdown = deps.transcripts.markdown(asked.sessionId);
        if (markdown === undefined) throw new ClientError(-32002, 'nothing of this session was written down');
        return { markdown };
      }
      case 'link':
        return { link: server.link() };
    }
  }
  function shownHit({ sessionId, line }: { readonly sessionId: string; readonly line: string }) {
    return { sessionId, line: neutralise(redact(line)) };
  }
  function failure(error: unknown): Failure {
    const message = neutralise(redact(String((error as Error).message)));
    if (!(error instanceof ClientError)) return { message };
    const methods = list(fields(error.data).authMethods).map((one) => (typeof one === 'string' ? one : String(fields(one).id)));
    return { message, code: error.code, ...(methods.length > 0 && { authMethods: methods }) };
  }

  const server = await openServer({
    port: deps.port,
    files: readPageFiles(deps.pageDir),
    now: Date.now,
    entered: deps.entered,
    welcome(socket, first) {
      look();
      openPage(socket, first, {
        feed,
        board: board.snapshot,
        conversation: conversationOf,
        perform: async (asked, page) => perform(asked, page),
        failure,
        opened(page) {
          pages.add(page);
          watchWhileOpen();
        },
        closed(page) {
          pages.delete(page);
          frames.unwatch(page);
          watchWhileOpen();
        },
      });
    },
  });
  // Not before there is a way in for pages: no agent is started for nothing.
  if (!beside) void desk().ready.then(look, () => {});

  return {
    port: server.port,
    link: server.link,
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
