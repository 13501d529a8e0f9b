// `switchboard acp`: the proxy on stdio.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { AgentProcess } from '../agents/agent-process.ts';
import type { AgentSpec } from '../agents/defaults.ts';
import { endLeftovers, escapees } from '../agents/leftovers.ts';
import { depthOf, MAX_DEPTH } from '../agents/ourselves.ts';
import { createRunningRecord, type RunningRecordWriter } from '../agents/running-record.ts';
import type { Config } from '../config/config.ts';
import { managedPolicyFile } from '../config/managed-policy.ts';
import type { Level } from '../log/defaults.ts';
import { createDiagnostics, type Diagnostics } from '../log/diagnostics.ts';
import type { Redactor } from '../log/redact.ts';
import { systemClock } from '../proxy/clock.ts';
import { type Connection, connect } from '../proxy/connection.ts';
import type { Guard } from '../proxy/guard.ts';
import { createCapabilityCache } from '../store/capability-cache.ts';
import { createSessionLog } from '../store/session-log.ts';
import { createWorkspace, type Workspace } from '../workspace/workspace.ts';
import { CommandFailure } from './command-failure.ts';
import { launchAgent, secretsOf } from './launch.ts';
import { lendingOf } from './lending.ts';
import { notice, noticeOnce } from './notice.ts';
import type { PolicyFlags } from './policy/enforce.ts';
import { createRecords, type Records } from './records.ts';
import { type ConfigFlags, resolveConfig } from './resolve-config.ts';
import { VERSION } from './version.ts';
import { watchEventLoop } from './watch-event-loop.ts';

const LOOP_HINT = 'some agent in agent_servers starts the switchboard: switchboard agents list';

export type AcpOptions = ConfigFlags & PolicyFlags & { readonly logLevel?: Level; readonly record?: string };
export type EditorStreams = { readonly input: Readable; readonly output: Writable };

/** For whoever is the editor in this very process. */
export type Inside = {
  /** Signals are for that one to deal with. */
  readonly started: (running: { readonly connection: Connection; readonly config: Config }) => void;
};

/** Serves the editor until it goes; returns the exit code. */
export async function acp(
  options: AcpOptions,
  editor: EditorStreams = { input: process.stdin, output: process.stdout },
  inside?: Inside,
): Promise<number> {
  if (depthOf(process.env) >= MAX_DEPTH)
    throw new CommandFailure(1, 'this switchboard is an agent of a switchboard, and so on, without end', LOOP_HINT);
  const { config, files, stateDir } = await resolveConfig(options);
  const secrets = await secretsOf(config);
  const policy = await policyOf(config, options, stateDir, files, secrets.redact);
  const onProblem = noticeOnce(
    (error) => `the state directory ${stateDir} cannot be used, so nothing is remembered: ${(error as Error).message}`,
  );
  const mark = randomUUID();
  const { level, file } = config.logging;
  const diagnostics = createDiagnostics({
    level: options.logLevel ?? level,
    file: file && path.resolve(stateDir, file),
    redact: secrets.redact,
    words: notice,
  });
  toggleOnSignal(diagnostics);
  const records = createRecords(config, stateDir, secrets, options.record);
  const running = createRunningRecord(stateDir, mark, onProblem);
  const launch = (spec: AgentSpec) => {
    const child = launchAgent(spec, mark, secrets);
    diagnostics.say('debug', `agent "${spec.name}" is started`, { agent: spec.name, agentPid: child.pid });
    if (child.pid !== undefined) running.childStarted(child.pid);
    return child;
  };
  const workspace = config.workspace === 'off' ? undefined : createWorkspace({ mark, onChild: running.childStarted });
  const connection = serve(editor, config, stateDir, onProblem, {
    launch,
    workspace,
    guard: policy?.guard,
    watch: records.watch,
    notice: (text) => diagnostics.say('warn', text),
  });
  // Not before the first answer: the editor waits for that, and nobody waits for this.
  setImmediate(() => tidyUp(stateDir, onProblem));
  const stopPublishing = publishHealth(connection, secrets.redact, running);
  const stopWatching = watchEventLoop((ms) => {
    const { method, bytes } = connection.lastFrame();
    notice(`the event loop was blocked for ${ms} ms; the last frame was ${method ?? 'an answer'}, ${bytes} bytes`);
  });
  const stopReloading = reloadOnHangUp(options, connection);
  inside?.started({ connection, config });
  const ended = connection.ended.then(() => 0);
  const code = await (inside ? ended : Promise.race([ended, awaitSignals(connection).first]));
  await connection.stop();
  stopWatching();
  stopReloading();
  policy?.close();
  stopPublishing();
  running.clear();
  await records.close();
  await diagnostics.close();
  const escaped = escapees(mark);
  if (escaped.length > 0) notice(`agents left these processes running, in groups of their own: ${escaped.join(', ')}`);
  return code;
}

/** The engine is loaded only when somebody has a policy. */
async function policyOf(config: Config, flags: PolicyFlags, stateDir: string, files: readonly string[], redact: Redactor) {
  const isWanted = flags.policy !== undefined || config.policies.length > 0 || existsSync(managedPolicyFile(process.platform, process.env));
  return isWanted ? (await import('./policy/enforce.ts')).enforcePolicy(config, flags, stateDir, files, redact) : undefined;
}

function serve(
  { input, output }: EditorStreams,
  config: Config,
  stateDir: string,
  onProblem: (error: unknown) => void,
  parts: {
    readonly launch: (spec: AgentSpec) => AgentProcess;
    readonly workspace: Workspace | undefined;
    readonly guard: Guard | undefined;
    readonly watch: Records['watch'];
    readonly notice: (text: string) => void;
  },
): Connection {
  const cache = createCapabilityCache(stateDir, systemClock.now, onProblem);
  return connect(input, output, {
    ...config,
    ...parts,
    clock: systemClock,
    log: createSessionLog(stateDir, onProblem),
    cache,
    version: VERSION,
    lending: lendingOf(config, stateDir, cache, onProblem),
  });
}

const PUBLISH_EVERY_MS = 2000;
const STDERR_LINES = 10;

/** For `switchboard agents list`. Words of an agent's own may hold secrets, so they are cleaned of those before they are written anywhere. */
function publishHealth(connection: Connection, redact: Redactor, running: RunningRecordWriter): () => void {
  const words = (text: string | undefined) => (text === undefined ? undefined : redact(text));
  const timer = setInterval(() => {
    const health = Object.entries(connection.health()).map(([id, { stderrTail, lastError, unavailable, uptimeMs, ...kept }]) => {
      const since = uptimeMs === undefined ? undefined : Math.round((Date.now() - uptimeMs) / 1000) * 1000;
      const why = { lastError: lastError?.key, lastErrorText: words(lastError?.message), unavailable: words(unavailable?.message) };
      const tail = redact(stderrTail.slice(-STDERR_LINES).join('\n'))
        .split('\n')
        .filter((line) => line !== '');
      return [id, { ...kept, ...why, stderrTail: tail, since: since && new Date(since).toISOString() }];
    });
    running.healthIs(Object.fromEntries(health));
  }, PUBLISH_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function tidyUp(stateDir: string, onProblem: (error: unknown) => void): void {
  const { ended, escaped } = endLeftovers(stateDir, onProblem);
  if (ended > 0) notice(`ended ${ended} agent process(es) that an earlier switchboard left behind`);
  if (escaped.length > 0) notice(`these processes of earlier agents still run, in groups of their own: ${escaped.join(', ')}`);
}

/** SIGHUP means a new configuration; where a console is closed with it, it means the end. */
const ENDING_SIGNALS: readonly NodeJS.Signals[] = process.platform === 'win32' ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT'];

/** Agents, default and routes of the files as they are now, for new sessions. A file with a mistake in it changes nothing. */
function reloadOnHangUp(flags: AcpOptions, connection: Connection): () => void {
  if (ENDING_SIGNALS.includes('SIGHUP')) return () => {};
  const reload = async () => {
    try {
      const { config } = await resolveConfig(flags);
      const { isTaken, said } = connection.reconfigure(config);
      notice(isTaken ? `the configuration was read again and is for new sessions (${said})` : `the configuration was not changed: ${said}`);
    } catch (error) {
      notice(`the configuration was not changed, since it cannot be used as it is now: ${(error as Error).message}`);
    }
  };
  const onHangUp = () => void reload();
  process.on('SIGHUP', onHangUp);
  return () => process.off('SIGHUP', onHangUp);
}

/** SIGUSR2 switches between the level that was set and `debug`, while sessions go on. */
function toggleOnSignal(diagnostics: Diagnostics): void {
  const { level } = diagnostics;
  if (process.platform === 'win32') return;
  process.on('SIGUSR2', () => {
    diagnostics.setLevel(diagnostics.level === 'debug' ? level : 'debug');
    diagnostics.say('debug', 'SIGUSR2: everything is said until the next one');
  });
}

/** The first signal ends us in good order, the second at once. The code is 128 + the signal's number, as shells have it. */
function awaitSignals(connection: Connection): { readonly first: Promise<number> } {
  let resolve: (code: number) => void = () => {};
  const first = new Promise<number>((done) => {
    resolve = done;
  });
  let count = 0;
  for (const signal of ENDING_SIGNALS)
    process.on(signal, () => {
      const code = 128 + os.constants.signals[signal];
      if (count++ === 0) return resolve(code);
      connection.kill();
      process.exit(code);
    });
  return { first };
}
