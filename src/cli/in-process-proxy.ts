// Runs the proxy in this process, for commands that are the client themselves. They handle signals.
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { type Assembled, assemble } from '../app/assemble.ts';
import type { Listener } from '../app/events.ts';
import type { EnforcedPolicy } from '../app/policy.ts';
import type { ExtraObserver } from '../app/records.ts';
import type { Bus } from '../bus/bus.ts';
import { type Config, managedPolicyFile, type PolicySource } from '../config/config.ts';
import type { RunningProxy } from '../proxy/api.ts';
import type { Secrets } from '../redaction/redact.ts';
import { inProcessPair } from '../transports/in-process.ts';
import type { AcpOptions } from './acp.ts';
import { busOf } from './bus/open-bus.ts';
import { reportCrashes } from './failure.ts';
import { notice } from './output.ts';
import { resolveConfig } from './resolve-config.ts';

/** Everything that the clients of this process share. */
export type InProcess = {
  readonly config: Config;
  /** The configuration files. */
  readonly files: readonly string[];
  readonly stateDir: string;
  /** Redacts everything that is shown. */
  readonly secrets: Secrets;
  /** The policy in effect, if any. */
  readonly policy: EnforcedPolicy | undefined;
  /** Undefined while it is off. */
  readonly telemetry: Assembled['telemetry'];
  /** Serves a client, with its own agents. */
  readonly connect: Assembled['connect'];
  readonly owns: Assembled['owns'];
  readonly isStored: Assembled['isStored'];
  readonly stored: Assembled['stored'];
  readonly adopt: Assembled['adopt'];
  readonly offers: Assembled['offers'];
  /** Stops all agents cleanly; resolves when they have exited. */
  close(): Promise<void>;
};

export type InProcessProxy = InProcess & {
  readonly connection: RunningProxy;
  readonly fromProxy: Readable;
  readonly toProxy: Writable;
  /** Kills all agents. */
  kill(): void;
};

type More = {
  /** These apply in addition to those of the configuration. */
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
  /** A daemon or a console: it shows the metrics. */
  readonly servesMetrics?: boolean;
  /** It runs its agents for others on this bus, and uses none of it. */
  readonly host?: { readonly bus: string | undefined };
  /** The bus in this process, for `local:`. */
  readonly localBus?: () => Bus;
};

/** With one client, which is the command itself. */
export async function startInProcessProxy(options: AcpOptions, more: More = {}): Promise<InProcessProxy> {
  const inside = await startInProcess(options, more);
  const { client, proxy } = inProcessPair();
  const { connection } = inside.connect(proxy, options.record);
  return { ...inside, connection, fromProxy: client.input, toProxy: client.output, kill: connection.kill };
}

/** Without a client yet. */
export async function startInProcess(options: AcpOptions, more: More = {}): Promise<InProcess> {
  const { config: configured, files, stateDir } = await resolveConfig(options);
  const own = more.host?.bus === undefined ? configured : { ...configured, bus: await busOf(more.host, configured.bus) };
  let changed = () => {};
  const isOnBus = !more.host && (options.bus !== undefined || own.bus !== undefined);
  const bus = isOnBus
    ? await (await import('./bus/bus-agents.ts')).onBus(options, own, more.notify ?? notice, () => changed(), more.localBus)
    : undefined;
  const found = bus?.config ?? own;
  const workspace = more.isReadOnly ? 'off' : found.workspace;
  const config = { ...found, workspace, policies: policiesOf([...found.policies, ...(more.policies ?? [])], options, more.policyIfNone) };
  const { logLevel } = options;
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
    connectOnBus: bus?.connectOnBus,
    isBundled: more.host !== undefined && own.bus?.policy !== undefined,
  });
  changed = () => void bus?.reconfiguring(switchboard).reconfigure({ ...config, ...agentsOf(own) });
  const { secrets, policy, telemetry, connect, owns, isStored, stored, adopt, offers } = switchboard;
  reportCrashes(() => secrets.redact);
  return {
    config,
    files,
    stateDir,
    secrets,
    policy,
    telemetry,
    connect,
    owns,
    isStored,
    stored,
    adopt,
    offers,
    async close() {
      await switchboard.close();
      await bus?.close();
    },
  };
}

const agentsOf = ({ agents, defaultAgent, explicitDefault, routes }: Config) => ({ agents, defaultAgent, explicitDefault, routes });

function policiesOf(found: readonly PolicySource[], { policy }: AcpOptions, otherwise: PolicySource | undefined): readonly PolicySource[] {
  const isNone = found.length === 0 && policy === undefined && !existsSync(managedPolicyFile(process.platform, process.env));
  return isNone && otherwise ? [otherwise] : found;
}
