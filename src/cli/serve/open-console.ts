// A console over a connection of this process, with everything of this machine that it needs.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { EnforcedPolicy } from '../../app/policy.ts';
import { VERSION } from '../../app/version.ts';
import type { Config } from '../../config/config.ts';
import type { Console, ConsoleDeps } from '../../console/console.ts';
import type { Connection } from '../../proxy/proxy.ts';
import type { Secrets } from '../../redaction/redact.ts';
import { createSessionLog } from '../../store/sessions/session-store.ts';
import type { TranscriptSource } from '../../store/transcripts/transcript-source.ts';
import { CommandFailure } from '../failure.ts';
import type { ConfigFlags } from '../resolve-config.ts';
import { agentLoads } from './agent-load.ts';
import { agentRows } from './agent-rows.ts';
import type { DefaultPolicy } from './default-policy.ts';
import { policyHouse } from './policy-store.ts';
import { settingsHere } from './settings.ts';
import { storedSessions } from './stored-sessions.ts';
import { transcriptsOf } from './transcripts.ts';
import { createHost } from './workspace.ts';

/** Sessions in the list of every page; all of them are searched. */
const MOST_SHOWN = 300;

export type Here = Pick<ConsoleDeps, 'port' | 'frames' | 'connect' | 'beside' | 'entered'> & {
  readonly connection: Connection;
  readonly config: Config;
  /** Where it was read, and what the command line said of that. */
  readonly files: readonly string[];
  readonly flags: ConfigFlags;
  readonly stateDir: string;
  readonly secrets: Secrets;
  readonly transcripts: TranscriptSource | undefined;
  readonly policy: EnforcedPolicy | undefined;
  /** The policy that holds when nobody has one. */
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
  frames,
  connect,
  beside,
  entered,
  transcripts,
  policy,
  otherwise,
}: Here): Promise<Console> {
  const { openConsole } = await import('../../console/console.ts');
  const { agentPart } = await import('../../console/actions/agents.ts');
  const { settingsPart } = await import('../../console/actions/settings.ts');
  const log = createSessionLog(stateDir, () => {}); // problems with the directory are said by whoever writes there
  const stored = storedSessions(stateDir, log);
  const newest = () => stored().slice(-MOST_SHOWN);
  try {
    return await openConsole({
      port,
      frames,
      connect,
      beside,
      entered,
      secrets,
      pageDir: fileURLToPath(new URL('./console', import.meta.url)),
      version: VERSION,
      cwd: process.cwd(),
      host: createHost(randomUUID()),
      stored: newest,
      directoriesOf: (sessionId) => log.records().get(sessionId)?.additionalDirectories ?? [],
      servers: config.hostTools.enabled ? config.mcpServers.map(({ name }) => name) : [],
      transcripts: transcriptsOf(stateDir, stored, () => void transcripts?.stats()),
      agents: () => agentRows(connection, config, secrets.redact),
      restart: connection.restart,
      policy: policyHouse({ policy, otherwise, stateDir, stored }),
      parts: [
        agentPart({ stop: connection.stopAgent, loads: agentLoads(connection), lent: connection.lent, redact: secrets.redact }),
        settingsPart({
          settings: settingsHere(flags, files, stateDir, beside !== undefined),
          doctor: async (start) => (await import('../doctor/doctor.ts')).findingsOf({ config: flags.config, start }),
          redact: secrets.redact,
        }),
      ],
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const why = code === 'EADDRINUSE' ? 'it is in use' : message;
    throw new CommandFailure(1, `cannot listen on 127.0.0.1:${port}: ${why}`, 'choose another port, or leave it out for any that is free');
  }
}

export function portOf(given: string | undefined): number {
  const port = given === undefined ? 0 : Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && given !== '') return port;
  throw new CommandFailure(2, `"${given}" is not a port`, 'a whole number from 0 to 65535; 0, or none, is any that is free');
}
