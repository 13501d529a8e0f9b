// The console put together: a server for pages, the board they show, the desk that does what they ask for.
import type { Readable, Writable } from 'node:stream';
import { ClientError } from '../client/client.ts';
import type { Secrets } from '../log/redact.ts';
import type { Asked } from './acts.ts';
import { createBoard } from './board.ts';
import { createDesk, type Host } from './desk.ts';
import { createFeed } from './feed.ts';
import type { Frames } from './frames.ts';
import { neutralise } from './neutralise.ts';
import { readPageFiles } from './page-files.ts';
import { openPage, type Page } from './page-socket.ts';
import { fields, list } from './read-update.ts';
import { openServer } from './server.ts';
import type { Transcript } from './transcript-events.ts';
import type { AgentRow, Failure, SessionRow } from './wire.ts';

export type ConsoleDeps = {
  readonly port: number;
  /** Where the page's files are. */
  readonly pageDir: string;
  readonly version: string;
  readonly cwd: string;
  readonly secrets: Secrets;
  readonly host: Host;
  readonly frames: Frames;
  readonly stored: () => readonly SessionRow[];
  readonly transcript: (sessionId: string) => Transcript | undefined;
  /** How the agents are now. */
  readonly agents: () => readonly AgentRow[];
  /** Ends an agent's process in good order; whether there is such an agent. */
  readonly restart: (agent: string) => boolean;
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
export async function openConsole(input: Readable, output: Writable, deps: ConsoleDeps): Promise<Console> {
  const { secrets, frames, version, cwd } = deps;
  const { redact } = secrets;
  const feed = createFeed();
  const board = createBoard({ feed, redact, now: Date.now, version, cwd, stored: deps.stored });
  const pages = new Set<Page>();
  let looks = 0;

  /** Only while somebody looks on. */
  function look(): void {
    board.agentsAre(deps.agents());
    if (looks++ % REFRESH_EVERY === 0) board.refresh();
  }
  let timer: NodeJS.Timeout | undefined;
  function watchWhileOpen(): void {
    clearInterval(timer);
    if (pages.size === 0) return frames.rest();
    frames.look();
    timer = setInterval(look, LOOK_EVERY_MS);
  }

  function perform(asked: Asked, page: Page): Promise<unknown> | unknown {
    switch (asked.act) {
      case 'watch':
        return page.watch(asked.sessionId);
      case 'unwatch':
        return page.unwatch(asked.sessionId);
      case 'new':
        return desk.open(asked);
      case 'prompt':
        return desk.prompt(asked);
      case 'cancel':
        return desk.cancel(asked, page.id);
      case 'close':
        return desk.close(asked);
      case 'option':
        return desk.option(asked);
      case 'authenticate':
        return desk.authenticate(asked);
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
      case 'link':
        return { link: server.link() };
    }
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
    welcome(socket, first) {
      look();
      openPage(socket, first, {
        feed,
        board: board.snapshot,
        conversation: (sessionId) => desk.conversation(sessionId),
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
  const clientInfo = { name: 'switchboard-console', title: 'Switchboard console', version };
  const desk = createDesk(input, output, { board, host: deps.host, redact, clientInfo, cwd, transcript: deps.transcript });
  // The agents are known from here on, also to a page that opens a session at once.
  void desk.ready.then(look, () => {});

  return {
    port: server.port,
    link: server.link,
    closed: desk.closed,
    async stop() {
      clearInterval(timer);
      frames.rest();
      server.close();
      await desk.stop();
    },
  };
}
