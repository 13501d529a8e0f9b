// `switchboard serve`: the web console. It is an ordinary client of the proxy in this process.

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Console } from '../console/console.ts';
import { createFrames, type Frames } from '../console/state/frames.ts';
import { makeDirectory } from '../private-files.ts';
import type { AcpOptions } from './acp.ts';
import { startInProcessProxy } from './in-process-proxy.ts';
import { notice } from './output.ts';
import { surroundings } from './resolve-config.ts';
import { writeLinkFile } from './serve/link-file.ts';
import { openHere, portOf } from './serve/open-console.ts';
import { defaultPolicy } from './serve/policy-store.ts';

// Opens a link in the user's browser, without a shell.
const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', win32: 'explorer.exe' };

/** The link is in a file in `dir`; returns a function that removes the file. */
export function openBrowser(link: string, dir: string, failed: () => void): () => void {
  const file = path.join(dir, `open-console-${process.pid}.html`);
  try {
    makeDirectory(dir);
    writeLinkFile(file, link);
    const child = spawn(PROGRAMS[process.platform] ?? 'xdg-open', [pathToFileURL(file).href], { stdio: 'ignore', detached: true });
    child.once('error', failed);
    child.unref();
  } catch {
    failed();
  }
  return () => rmSync(file, { force: true });
}

export type ServeOptions = AcpOptions & { readonly port?: string; readonly open?: true };

/** Serves until a signal or the page ends it; returns the exit code. */
export async function serve(options: ServeOptions): Promise<number> {
  const port = portOf(options.port);
  const { stateDir } = surroundings(options);
  let frames: Frames | undefined;
  const otherwise = defaultPolicy(options);
  const inside = await startInProcessProxy(options, {
    policyIfNone: otherwise.source(),
    extraObserver(secrets) {
      frames = createFrames(secrets, path.join(stateDir, 'frames'));
      return frames.observer;
    },
  });
  try {
    const { fromProxy: input, toProxy: output, connection } = inside;
    const opened = await openHere({
      ...inside,
      flags: options,
      otherwise,
      frames: frames as Frames,
      port,
      connect: () => ({ input, output, evaluatedRequest: connection.evaluatedRequest, byUser: connection.byUser }),
    });
    const signalled = onSignals(inside.kill, () => void opened.stop());
    const isAsking =
      options.policyMode !== 'observe' &&
      inside.config.policies.some(({ policy }) => policy === otherwise.shipped || policy === otherwise.own);
    const tidyUp = announce(opened, options.open ? stateDir : undefined, isAsking);
    await opened.closed;
    await opened.stop();
    tidyUp();
    await inside.close();
    return signalled() ?? 0;
  } finally {
    await inside.close();
  }
}

/** The link is a credential, so it is shown to the user and never logged. */
function announce(opened: Console, openFrom: string | undefined, isAsking: boolean): () => void {
  const link = opened.link();
  const say = (text: string) => void process.stdout.write(text);
  say(`The console is at\n\n  ${link}\n\nThe link works once. Press Ctrl-C to stop the console and its agents.\n`);
  if (isAsking) say('No policy is configured, so the console asks before an agent changes or runs anything.\n');
  const failed = () => notice('could not start a browser; open the link yourself');
  const tidyUp = openFrom === undefined ? () => {} : openBrowser(link, openFrom, failed);
  if (process.stdin.isTTY !== true) return tidyUp;
  say('Press Enter for a new link.\n');
  const lines = createInterface({ input: process.stdin });
  lines.on('line', () => say(`  ${opened.link()}\n`));
  void opened.closed.then(() => lines.close());
  return tidyUp;
}

/** The first signal shuts down cleanly, the second at once. The returned function gives the exit code of the signal, if there was one. */
function onSignals(kill: () => void, end: () => void): () => number | undefined {
  let code: number | undefined;
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }))
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
