// `switchboard acp`: the proxy on stdio.
import os from 'node:os';
import { assemble } from '../app/assemble.ts';
import type { Diagnostics } from '../app/diagnostics.ts';
import type { PolicyFlags } from '../app/policy.ts';
import type { ClientStreams } from '../app/serve-client.ts';
import { here } from '../platform/platform.ts';
import type { RunningProxy } from '../proxy/api.ts';
import { systemClock } from '../proxy/context.ts';
import type { Level } from '../store/defaults.ts';
import { bodiesFromLines, linesFromBodies } from '../wire/framing/content-length.ts';
import { Scanner } from '../wire/scanner/scanner.ts';
import { createBufferCollector } from './collect-buffers.ts';
import { reportCrashes } from './failure.ts';
import { notice, noticeAtTerminal } from './output.ts';
import { reloadOnChange } from './reload.ts';
import { type ConfigFlags, resolveConfig } from './resolve-config.ts';

// Nothing on the frame path may block, so report when the event loop was blocked.
const EVERY_MS = 500;
const BLOCKED_MS = 1000;

/** Calls `onBlocked` when the event loop was blocked for more than a second; returns a stop function. */
export function watchEventLoop(onBlocked: (ms: number) => void): () => void {
  let last = systemClock.monotonicMs();
  const timer = setInterval(() => {
    const now = systemClock.monotonicMs();
    const blockedMs = now - last - EVERY_MS;
    last = now;
    if (blockedMs > BLOCKED_MS) onBlocked(Math.round(blockedMs));
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

export type AcpOptions = ConfigFlags &
  PolicyFlags & {
    readonly logLevel?: Level;
    readonly record?: string;
    /** Also opens the web console, on this port. */
    readonly console?: string | true;
    /** The message framing of the client. */
    readonly framing?: 'ndjson' | 'content-length';
  };

/** What a command that is the client itself needs to know. */
export type Served = { readonly connection: RunningProxy; readonly agents: readonly { readonly name: string }[] };

/** Serves the client until it disconnects; returns the exit code. */
export async function acp(
  options: AcpOptions,
  editor: ClientStreams = { input: process.stdin, output: process.stdout },
  onServed: (served: Served) => void = () => {},
): Promise<number> {
  const { config: own, files, stateDir } = await resolveConfig(options);
  let changed = () => {};
  const isOnBus = options.bus !== undefined || own.bus !== undefined;
  const bus = isOnBus ? await (await import('./bus/bus-agents.ts')).onBus(options, own, notice, () => changed()) : undefined;
  const config = bus?.config ?? own;
  if (editor.input === process.stdin) noticeAtTerminal('an editor');
  const attachment =
    options.console === undefined ? undefined : (await import('./serve/attach.ts')).attachConsole(options.console, stateDir);
  const switchboard = await assemble({
    config,
    files,
    stateDir,
    notify: notice,
    policy: options,
    logLevel: options.logLevel,
    extraObserver: attachment?.extraObserver,
    servesMetrics: attachment !== undefined,
    scanner: new Scanner(createBufferCollector()),
    connectOnBus: bus?.connectOnBus,
  });
  reportCrashes(() => switchboard.secrets.redact);
  toggleOnSignal(switchboard.diagnostics);
  const served = switchboard.connect(inLines(editor, options), options.record);
  const { connection } = served;
  onServed({ connection, agents: config.agents });
  const detach = attachment?.open(served, { config, files, flags: options, ...switchboard });
  const stopWatching = watchEventLoop((ms) => {
    const { method, bytes } = connection.lastFrame();
    notice(`the event loop was blocked for ${ms} ms; last frame: ${method ?? 'a response'}, ${bytes} bytes`);
  });
  const current = bus ? bus.reconfiguring(switchboard) : switchboard;
  changed = () => void current.reconfigure(own);
  const stopReloading = reloadOnChange(options, { config: own, files }, current, !here.endingSignals.includes('SIGHUP'));
  const signals = awaitSignals(connection);
  const ended = connection.ended.then(() => {
    signals.editorGone();
    return 0;
  });
  const code = await Promise.race([ended, signals.first]);
  stopWatching();
  stopReloading();
  await (await detach)?.();
  await switchboard.close();
  await bus?.close();
  return code;
}

function inLines({ input, output }: ClientStreams, { framing }: AcpOptions): ClientStreams {
  return framing === 'content-length' ? { input: linesFromBodies(input), output: bodiesFromLines(output) } : { input, output };
}

/** SIGUSR2 toggles between the configured log level and `debug`. */
function toggleOnSignal(diagnostics: Diagnostics): void {
  let before = diagnostics.level;
  if (!here.hasUserSignals) return;
  process.on('SIGUSR2', () => {
    const { level } = diagnostics;
    if (level !== 'debug') before = level;
    diagnostics.setLevel(level === 'debug' ? before : 'debug');
    diagnostics.log('debug', 'SIGUSR2: debug logging is on until the next SIGUSR2');
  });
}

/** A signal this soon after the client closed its stream is part of the same shutdown; a later one means to end at once. */
const SAME_GOODBYE_MS = 1000;

/**
 * The first signal shuts down cleanly; the second ends at once, and so does the first if the client disconnected a while ago.
 * The exit code is 128 + the signal number.
 */
function awaitSignals(connection: RunningProxy): { readonly first: Promise<number>; editorGone(): void } {
  let resolve: (code: number) => void = () => {};
  const first = new Promise<number>((done) => {
    resolve = done;
  });
  let count = 0;
  let goneMs = Number.POSITIVE_INFINITY;
  for (const signal of here.endingSignals)
    process.on(signal, () => {
      const code = 128 + os.constants.signals[signal];
      if (count++ === 0 && performance.now() - goneMs <= SAME_GOODBYE_MS) return resolve(code);
      connection.kill();
      process.exit(code);
    });
  return {
    first,
    editorGone() {
      goneMs = performance.now();
    },
  };
}
