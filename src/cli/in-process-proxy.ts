// Runs the proxy in this process, for commands that are the client themselves. They handle signals.
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { type Assembled, assemble } from '../app/assemble.ts';
import type { Listener } from '../app/events.ts';
import type { EnforcedPolicy } from '../app/policy.ts';
import type { ExtraObserver } from '../app/records.ts';
import { type Config, managedPolicyFile, type PolicySource } from '../config/config.ts';
import type { Connection } from '../proxy/api.ts';
import type { Secrets } from '../redaction/redact.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import { inProcessPair } from '../transports/in-process.ts';
import type { AcpOptions } from './acp.ts';
import { reportCrashes } from './failure.ts';
import { notice } from './output.ts';
import { resolveConfig } from './resolve-config.ts';

export type InProcessProxy = {
  readonly config: Config;
  /** The configuration files. */
  readonly files: readonly string[];
  readonly stateDir: string;
  /** Redacts everything that is shown. */
  readonly secrets: Secrets;
  readonly connection: Connection;
  /** The policy in effect, if any. */
  readonly policy: EnforcedPolicy | undefined;
  /** Undefined while it is off. */
  readonly telemetry: Assembled['telemetry'];
  /** Stored transcripts; undefined if they are off. */
  readonly transcripts: TranscriptSource | undefined;
  readonly fromProxy: Readable;
  readonly toProxy: Writable;
  /** Serves another client, with its own agents. */
  readonly connect: Assembled['connect'];
  readonly owns: Assembled['owns'];
  readonly isStored: Assembled['isStored'];
  /** Kills all agents. */
  kill(): void;
  /** Stops all agents cleanly; resolves when they have exited. */
  close(): Promise<void>;
};

/** `policies` apply in addition to those of the configuration. */
export async function startInProcessProxy(
  options: AcpOptions,
  more: {
    readonly policies?: readonly PolicySource[];
    /** Applies if no policy is configured. */
    readonly policyIfNone?: PolicySource;
    readonly events?: Listener;
    /** Receives messages for the user; default: stderr. */
    readonly notify?: (text: string) => void;
    /** Agents may not write, so the configured workspace, which can write and run commands, is off. */
    readonly isReadOnly?: boolean;
    readonly extraObserver?: (secrets: Secrets) => ExtraObserver;
    readonly queuesPrompts?: boolean;
    /** A daemon: it shows the metrics. */
    readonly servesMetrics?: boolean;
  } = {},
): Promise<InProcessProxy> {
  const { config: found, files, stateDir } = await resolveConfig(options);
  const workspace = more.isReadOnly ? 'off' : found.workspace;
  const config = { ...found, workspace, policies: policiesOf([...found.policies, ...(more.policies ?? [])], options, more.policyIfNone) };
  const { logLevel, record } = options;
  const switchboard = await assemble({
    config,
    files,
    stateDir,
    notify: more.notify ?? notice,
    policy: options,
    logLevel,
    ...(more.events && { events: more.events }),
    extraObserver: more.extraObserver,
    queuesPrompts: more.queuesPrompts,
    servesMetrics: more.servesMetrics,
  });
  const { client, proxy } = inProcessPair();
  const { connection, transcripts } = switchboard.connect(proxy, record);
  const { secrets, policy, telemetry, connect, owns, isStored, close } = switchboard;
  reportCrashes(() => secrets.redact);
  return {
    config,
    files,
    stateDir,
    secrets,
    connection,
    policy,
    telemetry,
    transcripts,
    fromProxy: client.input,
    toProxy: client.output,
    connect,
    owns,
    isStored,
    kill: connection.kill,
    close,
  };
}

function policiesOf(found: readonly PolicySource[], { policy }: AcpOptions, otherwise: PolicySource | undefined): readonly PolicySource[] {
  const isNone = found.length === 0 && policy === undefined && !existsSync(managedPolicyFile(process.platform, process.env));
  return isNone && otherwise ? [otherwise] : found;
}
