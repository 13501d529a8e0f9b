// One client, from its first byte to the end of the last process that was started for it.

import { describeDaemons, findDaemons, rememberDaemons } from '../agents/daemons.ts';
import type { AgentSpec } from '../agents/defaults.ts';
import { createRunningRecord, newMark } from '../agents/running-record.ts';
import type { Config } from '../config/config.ts';
import type { Connection } from '../proxy/api.ts';
import { countsMessage, systemClock } from '../proxy/context.ts';
import type { CreateEnforcement } from '../proxy/enforcement/enforcement.ts';
import { connect } from '../proxy/proxy.ts';
import type { HostToolsOptions } from '../proxy/tools/host-tools.ts';
import type { Secrets } from '../redaction/redact.ts';
import type { CapabilityCache } from '../store/capability-cache.ts';
import type { SessionLog } from '../store/sessions/session-store.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { Sink, Source } from '../wire/byte-stream.ts';
import type { Scanner } from '../wire/scanner/scanner.ts';
import { createWorkspace } from '../workspace/workspace.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { Listener, Say } from './events.ts';
import { publishHealth } from './health.ts';
import { shimOf } from './host-tools.ts';
import { launchAgent } from './launch.ts';
import { VERSION } from './package-files.ts';
import { createRecords, type Onlooker } from './records.ts';

export type ClientStreams = { readonly input: Source; readonly output: Sink };

/** What all clients of one switchboard have in common. */
export type Shared = {
  readonly config: Config;
  readonly stateDir: string;
  readonly secrets: Secrets;
  readonly diagnostics: Diagnostics;
  readonly say: Say;
  readonly onProblem: (error: unknown) => void;
  readonly events: Listener;
  readonly enforcement: () => CreateEnforcement | undefined;
  readonly log: SessionLog;
  readonly cache: CapabilityCache;
  readonly scanner: Scanner;
  readonly toolAttachments: HostToolsOptions | undefined;
  readonly onlooker: Onlooker | undefined;
};

export type Served = {
  readonly connection: Connection;
  /** What was said in sessions; undefined when nothing is written down. */
  readonly transcripts: TranscriptSource | undefined;
  /** Ends its agents and resolves when nothing of them is left; once, however often it is asked. */
  close(): Promise<void>;
  /** That has happened. */
  readonly closed: Promise<void>;
};

/** `number` tells it from the other clients of this process. */
export function serveClient(shared: Shared, { input, output }: ClientStreams, number: number, recordTo?: string): Served {
  const { config, stateDir, secrets, diagnostics, say, onProblem, events, enforcement, log, cache, scanner, toolAttachments, onlooker } =
    shared;
  const mark = newMark();
  const name = number === 0 ? String(process.pid) : `${process.pid}-${number}`;
  const records = createRecords({ config, stateDir, secrets, say, name, recordTo, onlooker });
  const running = createRunningRecord(stateDir, mark, onProblem);
  const health = publishHealth(() => connection.health(), secrets.redact, running);
  const launch = (spec: AgentSpec) => {
    const child = launchAgent(spec, mark, secrets);
    diagnostics.say('debug', `agent "${spec.name}" is started`, { agent: spec.name, agentPid: child.pid });
    if (child.pid !== undefined) running.childStarted(child.pid);
    health.soon();
    events.onAgent(spec.name, child);
    return child;
  };
  const connection = connect(input, output, {
    ...config,
    launch,
    // Lent tools have it too, where the editor has nothing; agents are told of it only where that is set.
    workspace: config.workspace === 'off' && !toolAttachments ? undefined : createWorkspace({ mark, onChild: running.childStarted }),
    servesMissing: config.workspace !== 'off',
    enforcement: enforcement(),
    watch: records.watch,
    transcripts: records.transcripts,
    report: (text) => diagnostics.say('warn', text),
    clock: systemClock,
    log,
    cache,
    scanner,
    version: VERSION,
    toolAttachments,
    shim: shimOf(),
    children: { mark, started: running.childStarted },
    onStateChange: health.soon,
  });
  let isOver = () => {};
  const closed = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  /** Only to tell of them: that nobody can look, or remember, must not spoil the end. */
  function tellDaemons(): void {
    try {
      const daemons = findDaemons(mark);
      if (daemons.length === 0) return;
      const { names, end } = describeDaemons(daemons);
      say(`agents left these processes running, in groups of their own: ${names}. They are not ended; to end them: ${end}`);
      rememberDaemons(stateDir, mark, daemons);
    } catch (error) {
      diagnostics.say('debug', `what agents left running is not known: ${(error as Error).message}`);
    }
  }
  async function end(): Promise<void> {
    await connection.stop();
    const notPassedOn = countsMessage(connection.counters);
    if (notPassedOn !== undefined) diagnostics.say('debug', notPassedOn, connection.counters);
    health.stop();
    running.clear();
    await records.close();
    tellDaemons();
    isOver();
  }
  let ending: Promise<void> | undefined;
  return {
    connection,
    transcripts: records.transcripts,
    closed,
    close() {
      ending ??= end();
      return ending;
    },
  };
}
