// `switchboard serve`: the web console. To the proxy in this very process it is an editor like any other.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Console } from '../console/console.ts';
import { createFrames, type Frames } from '../console/frames.ts';
import { readTranscript, transcriptsDir } from '../store/transcript-files.ts';
import { VERSION } from '../switchboard/version.ts';
import type { AcpOptions } from './acp.ts';
import { CommandFailure } from './command-failure.ts';
import { type Inside, startInside } from './inside.ts';
import { notice } from './notice.ts';
import { surroundings } from './resolve-config.ts';
import { agentRows } from './serve/agent-rows.ts';
import { createHost } from './serve/host.ts';
import { openBrowser } from './serve/open-browser.ts';
import { storedSessions } from './serve/stored-sessions.ts';

export type ServeOptions = AcpOptions & { readonly port?: string; readonly open?: true };

/** Serves until it is told to end; returns the exit code. */
export async function serve(options: ServeOptions): Promise<number> {
  const port = portOf(options.port);
  const { stateDir } = surroundings(options);
  let frames: Frames | undefined;
  const inside = await startInside(options, {
    onlooker(secrets) {
      frames = createFrames(secrets, path.join(stateDir, 'frames'));
      return frames.tap;
    },
  });
  try {
    const opened = await open(inside, frames as Frames, port);
    const signalled = onSignals(inside.kill, () => void opened.stop());
    const tidyUp = announce(opened, options.open ? stateDir : undefined);
    await opened.closed;
    await opened.stop();
    tidyUp();
    await inside.close();
    return signalled() ?? 0;
  } finally {
    await inside.close();
  }
}

async function open({ connection, config, stateDir, secrets, fromProxy, toProxy }: Inside, frames: Frames, port: number): Promise<Console> {
  const { openConsole } = await import('../console/console.ts');
  const transcripts = transcriptsDir(stateDir);
  try {
    return await openConsole(fromProxy, toProxy, {
      port,
      pageDir: fileURLToPath(new URL('./console', import.meta.url)),
      version: VERSION,
      cwd: process.cwd(),
      secrets,
      host: createHost(randomUUID()),
      frames,
      stored: storedSessions(stateDir),
      transcript: (sessionId) => readTranscript(transcripts, sessionId),
      agents: () => agentRows(connection, config, secrets.redact),
      restart: connection.restart,
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const why = code === 'EADDRINUSE' ? 'it is in use' : message;
    throw new CommandFailure(
      1,
      `cannot listen on 127.0.0.1:${port}: ${why}`,
      'choose another --port, or leave it out for any that is free',
    );
  }
}

/** The link is for the user alone, so it is shown where the user is, and goes into no log. */
function announce(opened: Console, openFrom: string | undefined): () => void {
  const link = opened.link();
  const say = (text: string) => void process.stdout.write(text);
  say(`The console is at\n\n  ${link}\n\nThe link works once. Ctrl-C ends the console and its agents.\n`);
  const failed = () => notice('no browser could be started; open the link by hand');
  const tidyUp = openFrom === undefined ? () => {} : openBrowser(link, openFrom, failed);
  if (process.stdin.isTTY !== true) return tidyUp;
  say('Press Enter for another link.\n');
  const lines = createInterface({ input: process.stdin });
  lines.on('line', () => say(`  ${opened.link()}\n`));
  void opened.closed.then(() => lines.close());
  return tidyUp;
}

/** The first ends everything in good order, the second at once. What is returned says what code a signal stands for, if there was one. */
function onSignals(kill: () => void, end: () => void): () => number | undefined {
  let code: number | undefined;
  for (const [signal, number] of Object.entries({ SIGINT: 2, SIGTERM: 15 }))
    process.on(signal, () => {
      if (code !== undefined) {
        kill();
        process.exit(code);
      }
      code = 128 + number;
      end();
    });
  return () => code;
}

function portOf(given: string | undefined): number {
  const port = given === undefined ? 0 : Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && given !== '') return port;
  throw new CommandFailure(2, `"${given}" is not a port`, 'a whole number from 0 to 65535; 0, or none, is any that is free');
}
