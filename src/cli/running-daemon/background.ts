// `switchboard serve --background`, `serve status` and `serve stop`: one daemon per user.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ownCommand } from '../../app/package-files.ts';
import { withoutControls } from '../../control-characters.ts';
import { makeDirectory } from '../../private-files.ts';
import { CommandFailure } from '../failure.ts';
import { printJson, printTable, shownCommands } from '../output.ts';
import { surroundings } from '../resolve-config.ts';
import { type RunningDaemon, runningDaemon } from './daemon-file.ts';
import { localToken } from './local-token.ts';

export type DaemonFlags = { readonly json?: true };

const LOOK_EVERY_MS = 50;
const START_MS = 30_000;
/** Longer than agents have to stop. */
const STOP_MS = 15_000;
const LOG_LINES = 5;

const logFile = (stateDir: string): string => path.join(stateDir, 'daemon.log');

/** The daemon that runs, or a new one: `args` follow `serve`. */
export async function ensureDaemon(
  stateDir: string,
  args: readonly string[],
): Promise<{ readonly daemon: RunningDaemon; readonly isNew: boolean }> {
  const running = runningDaemon(stateDir);
  if (running) return { daemon: running, isNew: false };
  makeDirectory(stateDir);
  const log = openSync(logFile(stateDir), 'a', 0o600);
  const own = ownCommand('serve', ...args, '--in-background');
  const child = spawn(own.command, own.args, {
    detached: true,
    stdio: ['ignore', 'ignore', log],
    windowsHide: true,
  });
  closeSync(log);
  child.unref();
  let ended: string | undefined;
  child.once('error', ({ message }) => {
    ended = message;
  });
  child.once('exit', (code, signal) => {
    ended = `it exited with ${code ?? signal}`;
  });
  for (const deadline = performance.now() + START_MS; performance.now() < deadline; await delay(LOOK_EVERY_MS)) {
    // Another process may have started one at the same time.
    const daemon = runningDaemon(stateDir);
    if (daemon) return { daemon, isNew: daemon.pid === child.pid };
    if (ended !== undefined) break;
  }
  const last = readFileSync(logFile(stateDir), 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
  throw new CommandFailure(
    1,
    `the daemon did not start: ${ended ?? `it does not answer within ${START_MS} ms`}\n${last}`,
    `see ${logFile(stateDir)}`,
  );
}

export async function serveInBackground({ json }: DaemonFlags): Promise<number> {
  const { stateDir } = surroundings({});
  const args = process.argv
    .slice(process.argv.indexOf('serve') + 1)
    .filter((arg) => arg !== '--background' && arg !== '--json' && arg !== '--open');
  const { daemon, isNew } = await ensureDaemon(stateDir, args);
  if (json) printJson({ ...daemon, listening: daemon.address, isNew });
  else
    process.stdout.write(`${isNew ? 'The daemon runs' : 'A daemon runs already'}: ${describe(daemon)}\n${shownCommands(HOW_TO_CONNECT)}`);
  return 0;
}

const HOW_TO_CONNECT = 'Editors start: switchboard acp --connect auto. To stop it, run: switchboard serve stop\n';

function describe({ pid, address, startedAt, consoleFile }: RunningDaemon): string {
  const page = consoleFile === undefined ? '' : `\nThe console: open ${pathToFileURL(consoleFile).href}`;
  return `process ${pid}, ${address}, since ${startedAt}${page}`;
}

type Status = {
  readonly clients: readonly { number: number; principal: string; role: string; program?: string; since: string; sessions: string[] }[];
  readonly sessions: readonly { sessionId: string; principal: string; clients: number; isRunning: boolean }[];
};

export async function daemonStatus({ json }: DaemonFlags): Promise<number> {
  const { stateDir } = surroundings({});
  const daemon = runningDaemon(stateDir);
  if (!daemon) {
    if (json) printJson({ running: false });
    else process.stdout.write(shownCommands('No daemon runs. To start one, run: switchboard serve --background\n'));
    return 4;
  }
  const status = await ask(daemon, stateDir);
  if (json) printJson({ running: true, ...daemon, ...status });
  else {
    process.stdout.write(`The daemon runs: ${describe(daemon)}\n`);
    if (!status) process.stdout.write('It does not answer.\n');
    else if (status.clients.length === 0) process.stdout.write(`No clients; ${status.sessions.length} live sessions.\n`);
    else
      printTable(
        ['CLIENT', 'TOKEN', 'ROLE', 'PROGRAM', 'SINCE', 'SESSIONS'],
        status.clients.map(({ number, principal, role, program, since, sessions }) =>
          [String(number), principal, role, program ?? '', since, sessions.join(' ')].map(withoutControls),
        ),
      );
  }
  return 0;
}

async function ask({ address }: RunningDaemon, stateDir: string): Promise<Status | undefined> {
  try {
    const answer = await fetch(`${address}/daemon`, {
      headers: { authorization: `Bearer ${localToken(stateDir)}` },
      signal: AbortSignal.timeout(5000),
    });
    return answer.ok ? ((await answer.json()) as Status) : undefined;
  } catch {
    return undefined; // it is starting, stopping or stuck, and the caller says that it does not answer
  }
}

export async function stopDaemon({ json }: DaemonFlags): Promise<number> {
  const { stateDir } = surroundings({});
  const daemon = runningDaemon(stateDir);
  if (!daemon) {
    if (json) printJson({ running: false });
    else process.stdout.write('No daemon runs.\n');
    return 4;
  }
  process.kill(daemon.pid, 'SIGTERM');
  for (const deadline = performance.now() + STOP_MS; runningDaemon(stateDir)?.pid === daemon.pid; await delay(LOOK_EVERY_MS))
    if (performance.now() > deadline)
      throw new CommandFailure(
        1,
        `the daemon (process ${daemon.pid}) does not stop within ${STOP_MS} ms`,
        `it may drain turns; to end it at once: kill ${daemon.pid}`,
      );
  if (json) printJson({ running: false, stopped: daemon.pid });
  else process.stdout.write(`The daemon (process ${daemon.pid}) has stopped.\n`);
  return 0;
}
