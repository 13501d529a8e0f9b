// A console over a proxy connection of this process, with everything it needs from this machine.
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';
import { inheritedEnvironment } from '../../agents/environment.ts';
import { packageFile, VERSION } from '../../app/package-files.ts';
import type { EnforcedPolicy } from '../../app/policy.ts';
import type { Config } from '../../config/config.ts';
import type { Console, ConsoleDeps } from '../../console/console.ts';
import type { SessionRow } from '../../console/protocol/state.ts';
import { usageOf } from '../../console/state/read-update.ts';
import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { RunningProxy } from '../../proxy/api.ts';
import type { Secrets } from '../../redaction/redact.ts';
import { shownLevel } from '../../sandbox/settings.ts';
import { createSessionStore, type SessionStore } from '../../store/sessions/session-store.ts';
import { readStats } from '../../store/transcripts/session-stats.ts';
import { transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { CommandFailure } from '../failure.ts';
import { waitingChanges } from '../records/waiting-changes.ts';
import type { ConfigFlags } from '../resolve-config.ts';
import { agentLoads, agentRows } from './agent-rows.ts';
import type { NetworkClients } from './network-clients.ts';
import { type DefaultPolicy, policyStore } from './policy-store.ts';
import { settingsHere } from './settings.ts';
import { transcriptsOf } from './transcripts.ts';
import { createHost } from './workspace.ts';

// Stored sessions of earlier and other processes, as rows.
export function storedSessions(stateDir: string, log: SessionStore): () => readonly SessionRow[] {
  const files = [path.join(stateDir, 'sessions.jsonl'), path.join(transcriptsDir(stateDir), 'index.jsonl')];
  let seen = '';
  let rows: readonly SessionRow[] = [];
  return () => {
    // Polled every few seconds but read only after a change: the files may be large, and the editor shares this event loop.
    const now = files.map(stamp).join();
    if (now === seen) return rows;
    seen = now;
    const stats = readStats(transcriptsDir(stateDir));
    rows = [...log.records().values()].map(({ sessionId, agent, cwd, at }) => {
      const its = stats.get(sessionId);
      const usage = usageOf(fields(its?.usage));
      return {
        ...{ sessionId, agent, cwd: cwd ?? '', state: 'stored' as const, turns: its?.turns ?? 0, stopReason: its?.stopReason },
        title: neutralise(its?.title ?? ''),
        ...(usage?.e === 'usage' && usage.usage),
        at: its?.t ?? Date.parse(at),
      };
    });
    return rows;
  };
}

function stamp(file: string): string {
  const about = statSync(file, { throwIfNoEntry: false });
  return about ? `${about.size}:${about.mtimeMs}` : '';
}

/** Sessions in the list on every page. Search covers all of them. */
const MOST_SHOWN = 1000;

export type Here = Pick<ConsoleDeps, 'port' | 'at' | 'endpoints' | 'frames' | 'connect' | 'attached' | 'entered'> & {
  readonly connection: RunningProxy;
  readonly config: Config;
  /** The files read at start, and the command line's overrides. */
  readonly files: readonly string[];
  readonly flags: ConfigFlags;
  readonly stateDir: string;
  readonly secrets: Secrets;
  /** Completes what the transcripts have. */
  readonly settle: () => void;
  readonly policy: EnforcedPolicy | undefined;
  /** Its history is on the Charts screen. */
  readonly telemetry: Telemetry | undefined;
  /** Clients over the network; undefined where none are served. */
  readonly clients?: Pick<NetworkClients, 'list' | 'disconnect' | 'served'>;
  /** The policy in force when none is configured. */
  readonly otherwise?: DefaultPolicy;
};

export async function openHere({
  connection,
  config,
  files,
  flags,
  stateDir,
  secrets,
  port,
  at,
  endpoints,
  frames,
  connect,
  attached,
  entered,
  settle,
  policy,
  clients,
  telemetry,
  otherwise,
}: Here): Promise<Console> {
  const { openConsole } = await import('../../console/console.ts');
  const { agentHandlers } = await import('../../console/actions/agents.ts');
  const { chartHandlers } = await import('../../console/actions/charts.ts');
  const { waitingChangeHandlers } = await import('../../console/actions/waiting-changes.ts');
  const { settingsHandlers } = await import('../../console/actions/settings.ts');
  const log = createSessionStore(stateDir, () => {}); // the writer reports problems with the directory
  const { createSandbox } = await import('../../app/sandbox.ts');
  const sandbox = createSandbox({ stateDir, ownFiles: () => [], policy: () => policy?.state().policy, report: () => {} });
  const levelOf = (name: string): string | undefined => {
    const spec = config.agents.find((agent) => agent.name === name);
    return spec && !spec.remote ? shownLevel(sandbox.containment(spec)) : undefined;
  };
  const stored = storedSessions(stateDir, log);
  const newest = () => {
    const live = new Map(
      clients?.served.sessions().map(({ sessionId, isRunning }) => [sessionId, isRunning ? 'running' : 'idle'] as const),
    );
    return stored()
      .slice(-MOST_SHOWN)
      .map((row) => ({ ...row, state: live.get(row.sessionId) ?? row.state }));
  };
  try {
    return await openConsole({
      port,
      at,
      endpoints,
      frames,
      connect,
      attached,
      entered,
      secrets,
      pageDir: packageFile('dist', 'console'),
      version: VERSION,
      cwd: process.cwd(),
      host: createHost(randomUUID(), () => inheritedEnvironment(process.env, 'all', config.secretVariables)),
      stored: newest,
      directoriesOf: (sessionId) => log.records().get(sessionId)?.additionalDirectories ?? [],
      servers: config.hostTools.enabled ? config.mcpServers.map(({ name }) => name) : [],
      transcripts: transcriptsOf(stateDir, stored, settle),
      agents: () => agentRows(connection, config, secrets.redact, levelOf),
      restart: connection.restart,
      policy: policyStore({ policy, otherwise, stateDir, stored }),
      handlers: [
        agentHandlers({
          stop: connection.stopAgent,
          loads: agentLoads(connection),
          hostTools: connection.hostToolsState,
          clients: () => clients?.list() ?? [],
          disconnect: (number) => clients?.disconnect(number) === true,
          redact: secrets.redact,
        }),
        chartHandlers(telemetry?.history),
        waitingChangeHandlers({ ...waitingChanges(stateDir, () => policy?.state().policy), redact: secrets.redact }),
        settingsHandlers({
          settings: settingsHere(flags, files, stateDir, attached !== undefined),
          doctor: async (start) => (await import('../doctor/doctor.ts')).findingsOf({ config: flags.config, start }),
          redact: secrets.redact,
        }),
      ],
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw cannotListen(at?.host ?? '127.0.0.1', port, code, message);
  }
}

export function cannotListen(host: string, port: number, code: string, message: string): CommandFailure {
  const why = code === 'EADDRINUSE' ? 'it is in use' : message;
  return new CommandFailure(1, `cannot listen on ${host}:${port}: ${why}`, 'choose another port, or omit it to use any free port');
}

export function portOf(given: string | undefined): number {
  const port = given === undefined ? 0 : Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && given !== '') return port;
  throw new CommandFailure(2, `invalid port "${given}"`, 'use a whole number from 0 to 65535; 0 or no number selects any free port');
}
