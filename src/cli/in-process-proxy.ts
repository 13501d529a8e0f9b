// The proxy in this very process, for commands that are the editor themselves. Signals are theirs to deal with.
import { existsSync } from 'node:fs';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { assemble } from '../app/assemble.ts';
import type { Listener } from '../app/events.ts';
import type { EnforcedPolicy } from '../app/policy.ts';
import type { Onlooker } from '../app/records.ts';
import { type Config, managedPolicyFile, type PolicySource } from '../config/config.ts';
import type { Connection } from '../proxy/api.ts';
import type { Secrets } from '../redaction/redact.ts';
import type { TranscriptSource } from '../store/transcripts/transcript-source.ts';
import type { AcpOptions } from './acp.ts';
import { tellCrashes } from './failure.ts';
import { notice } from './output.ts';
import { resolveConfig } from './resolve-config.ts';

export type Inside = {
  readonly config: Config;
  /** Where it was read. */
  readonly files: readonly string[];
  readonly stateDir: string;
  /** For what is shown of what passes. */
  readonly secrets: Secrets;
  readonly connection: Connection;
  /** What agents may do; undefined when nobody has a policy. */
  readonly policy: EnforcedPolicy | undefined;
  /** What was said in sessions; undefined when nothing is written down. */
  readonly transcripts: TranscriptSource | undefined;
  readonly fromProxy: Readable;
  readonly toProxy: Writable;
  /** Ends every agent at once. */
  kill(): void;
  /** Ends them in good order; resolves when nothing of them is left. */
  close(): Promise<void>;
};

/** `policies` hold besides those of the configuration. */
export async function startInside(
  options: AcpOptions,
  more: {
    readonly policies?: readonly PolicySource[];
    /** Holds when nobody has a policy. */
    readonly policyIfNone?: PolicySource;
    readonly events?: Listener;
    /** Where words for people go; to stderr unless given. */
    readonly say?: (text: string) => void;
    /** The command was not told that agents may write: then the workspace of the configuration, which also writes and runs, is not for them. */
    readonly isReadOnly?: boolean;
    readonly onlooker?: (secrets: Secrets) => Onlooker;
  } = {},
): Promise<Inside> {
  const { config: found, files, stateDir } = await resolveConfig(options);
  const workspace = more.isReadOnly ? 'off' : found.workspace;
  const config = { ...found, workspace, policies: policiesOf([...found.policies, ...(more.policies ?? [])], options, more.policyIfNone) };
  const { logLevel, record } = options;
  const switchboard = await assemble({
    config,
    files,
    stateDir,
    say: more.say ?? notice,
    policy: options,
    logLevel,
    ...(more.events && { events: more.events }),
    onlooker: more.onlooker,
  });
  const [toProxy, fromProxy] = [new PassThrough(), new PassThrough()];
  const { connection, transcripts } = switchboard.connect({ input: toProxy, output: fromProxy }, record);
  const { secrets, policy, close } = switchboard;
  tellCrashes(() => secrets.redact);
  return { config, files, stateDir, secrets, connection, policy, transcripts, fromProxy, toProxy, kill: connection.kill, close };
}

function policiesOf(found: readonly PolicySource[], { policy }: AcpOptions, otherwise: PolicySource | undefined): readonly PolicySource[] {
  const isNone = found.length === 0 && policy === undefined && !existsSync(managedPolicyFile(process.platform, process.env));
  return isNone && otherwise ? [otherwise] : found;
}
