// The composition root, for the command and for programs that embed the switchboard: one configuration and any number of clients, each with its
// own agents and records. Nothing here ends the process, listens for signals or writes to stdout.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { depthOf, MAX_DEPTH } from '../agents/recursion.ts';
import { type Config, managedPolicyFile } from '../config/config.ts';
import type { HostTool } from '../mcp/server/tool.ts';
import { systemClock } from '../proxy/context.ts';
import { learnServer } from '../redaction/learn-secrets.ts';
import type { Redactor, Secrets } from '../redaction/redact.ts';
import { isSecretName } from '../redaction/secret-names.ts';
import { createCapabilityCache } from '../store/capability-cache.ts';
import type { Level } from '../store/defaults.ts';
import { createSessionStore, type SessionRecord } from '../store/sessions/session-store.ts';
import { mayExport } from '../telemetry/config.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { Scanner } from '../wire/scanner/scanner.ts';
import { SetupFailure } from './api.ts';
import { toolAttachmentsOf } from './configured-tools.ts';
import { createDiagnostics, type Diagnostics } from './diagnostics.ts';
import { type Listener, NO_LISTENER, type Notify, notifyOnce } from './events.ts';
import { type ConnectOnBus, learnConfigured, secretsOf, unlessOnBus } from './launch.ts';
import { VERSION } from './package-files.ts';
import type { EnforcedPolicy, PolicyFlags } from './policy.ts';
import { changedForLater, type Reconfigured, reconfigureAll } from './reconfigure.ts';
import type { ExtraObserver } from './records.ts';
import { type ClientStreams, type Guest, type Served, type Shared, serveClient } from './serve-client.ts';
import { cleanUp } from './startup-cleanup.ts';

/** By then the first client has its answer to `initialize`. `setImmediate` would be too early: the loop reads the client's request in its next turn. */
const AFTER_ANSWER_MS = 100;

export type Assembly = {
  readonly config: Config;
  /** The files of the configuration: agents need permission to change them. */
  readonly files: readonly string[];
  readonly stateDir: string;
  readonly notify: Notify;
  readonly policy?: PolicyFlags;
  /** Overrides the configuration. */
  readonly logLevel?: Level | undefined;
  /** Host tools for every agent, besides those of the configuration. */
  readonly tools?: readonly HostTool[];
  readonly events?: Listener;
  /** A host that owns its process may bring one that frees memory after large frames. */
  readonly scanner?: Scanner;
  /** Observes every connection of every client. */
  readonly extraObserver?: ((secrets: Secrets) => ExtraObserver) | undefined;
  /** A daemon: prompts that arrive during a turn wait, also for a single agent. */
  readonly queuesPrompts?: boolean | undefined;
  /** A daemon or a console: it shows the metrics. */
  readonly servesMetrics?: boolean | undefined;
  /** For agents that hosts offer on the bus. */
  readonly connectOnBus?: ConnectOnBus | undefined;
  /** A host that obeys policy bundles. */
  readonly isBundled?: boolean | undefined;
};

export type Assembled = {
  readonly diagnostics: Diagnostics;
  /** The secrets known to this switchboard. */
  readonly secrets: Secrets;
  /** Undefined if there is no policy. */
  readonly policy: EnforcedPolicy | undefined;
  /** Undefined while it is off. */
  readonly telemetry: Telemetry | undefined;
  /** `recordTo` names a file that records every message. */
  connect(client: ClientStreams, recordTo?: string, guest?: Guest): Served;
  /** Whether a session belongs to a principal. */
  owns(principal: string, sessionId: string): boolean;
  /** Whether the store knows a session. */
  isStored(sessionId: string): boolean;
  stored(sessionId: string): SessionRecord | undefined;
  /** Records a session that another host began, so that it can be loaded here. */
  adopt(record: Omit<SessionRecord, 'at'>): void;
  /** What of the files and terminals of this machine agents are offered through the client's methods, where the client itself has none. */
  offers(agent: string): { readonly fs: boolean; readonly terminal: boolean };
  /** Applies another configuration: its agents to new sessions, its policy and log level to everything from now on. */
  reconfigure(next: Config): Reconfigured;
  /** Closes every connection, then the parts they share. */
  close(): Promise<void>;
};

/** Throws a SetupFailure that names the part that cannot be used. */
export async function assemble(assembly: Assembly): Promise<Assembled> {
  const { config, stateDir } = assembly;
  if (depthOf(process.env) >= MAX_DEPTH) throw new SetupFailure('LOOP', LOOP, LOOP_HINT);
  const secrets = await secretsOf(config);
  const notify: Notify = (text, level) => assembly.notify(secrets.redact(text), level);
  const telemetry = await telemetryOf({ ...assembly, notify }, secrets);
  const { events = NO_LISTENER } = assembly;
  const policy = await policyOf({ ...assembly, notify }, secrets.redact);
  const onProblem = notifyOnce(
    notify,
    (error) => `the state directory ${stateDir} cannot be used, so sessions and answers are not stored: ${(error as Error).message}`,
  );
  const { level, file } = config.logging;
  const diagnostics = createDiagnostics({
    level: assembly.logLevel ?? level,
    file: file && path.resolve(stateDir, file),
    redact: secrets.redact,
    notify,
  });
  const tools = await toolsOf(assembly);
  const cache = createCapabilityCache(stateDir, systemClock.now, onProblem);
  let shared: Shared = {
    config,
    stateDir,
    secrets,
    diagnostics,
    notify,
    onProblem,
    events,
    enforcement: (onDecision) => policy?.enforcement(onDecision),
    prepared: (spec) => policy?.prepared(spec) ?? spec,
    log: createSessionStore(stateDir, onProblem),
    cache,
    scanner: assembly.scanner ?? new Scanner(),
    toolAttachments: toolAttachmentsOf(config, stateDir, cache, onProblem, notify, {
      tools,
      onEvent: events.onTool,
      clean: secrets.redact,
      onSecret: (value) => secrets.add('mcp-login', value, true),
    }),
    extraObserver: assembly.extraObserver?.(secrets),
    telemetry,
    queuesPrompts: assembly.queuesPrompts === true,
    connectOnBus: assembly.connectOnBus ?? unlessOnBus,
    ...(await sandboxOf({ ...assembly, notify }, policy)),
  };
  const open = new Set<Served>();
  let count = 0;
  let isClosed = false;
  let cleanupTimer: NodeJS.Timeout | undefined;
  function cleanUpOnce(): void {
    clearTimeout(cleanupTimer);
    cleanupTimer = undefined;
    cleanUp(stateDir, onProblem, notify);
  }
  return {
    diagnostics,
    secrets,
    policy,
    telemetry,
    isStored: (sessionId) => shared.log.records().has(sessionId),
    stored: (sessionId) => shared.log.records().get(sessionId),
    adopt: (record) => shared.log.append({ ...record, at: systemClock.now() }),
    owns: (principal, sessionId) => shared.log.records().get(sessionId)?.principal === principal,
    offers(agent) {
      const isOn = shared.config.workspace !== 'off';
      const spec = shared.config.agents.find(({ name }) => name === agent);
      // On a layer, an agent has files of its own.
      return { fs: isOn && !(spec && shared.sandbox?.isReviewed(spec)), terminal: isOn };
    },
    connect(client, recordTo, guest) {
      if (isClosed) throw new Error('this switchboard is closed; create another one');
      const served = serveClient(shared, client, count++, recordTo, guest);
      // After the first answer: the client waits for that, and nobody waits for the cleanup.
      if (count === 1) cleanupTimer = setTimeout(cleanUpOnce, AFTER_ANSWER_MS).unref();
      open.add(served);
      void served.closed.then(() => open.delete(served));
      return served;
    },
    reconfigure(next) {
      learnConfigured(secrets, next); // before any agent starts with it
      const before = shared.config;
      const { agents, defaultAgent, explicitDefault, routes, policies } = next;
      const isOtherPolicy = JSON.stringify(before.policies) !== JSON.stringify(policies);
      // Even if the agents cannot change: what the policy forbids is forbidden from now on.
      if (isOtherPolicy && policy) void policy.use(policies);
      const { level: wanted } = next.logging;
      // Only if it changed: a level set by SIGUSR2 survives a change of something else.
      if (wanted !== before.logging.level) diagnostics.setLevel(assembly.logLevel ?? wanted);
      shared = { ...shared, config: { ...before, policies, logging: { ...before.logging, level: wanted } } };
      const { isTaken, message } = reconfigureAll(
        [...open].filter(({ isPinned }) => !isPinned),
        next,
      );
      if (isTaken) shared = { ...shared, config: { ...shared.config, agents, defaultAgent, explicitDefault, routes } };
      return { isTaken, message, later: [...(isOtherPolicy && !policy ? ['policy'] : []), ...changedForLater(before, next)] };
    },
    async close() {
      isClosed = true;
      if (cleanupTimer !== undefined) cleanUpOnce(); // also if the client leaves at once
      await Promise.all([...open].map((served) => served.close()));
      await shared.sandbox?.review.close();
      policy?.close();
      await telemetry?.close();
      await diagnostics.close();
    },
  };
}

const LOOP = 'recursive configuration: switchboard would start itself';
const LOOP_HINT = 'find the agent in agent_servers that starts switchboard: switchboard agents list';

/** Loads it only if a daemon shows the metrics, or something is sent to a collector. */
async function telemetryOf({ config, servesMetrics = false, notify }: Assembly, secrets: Secrets): Promise<Telemetry | undefined> {
  const { telemetry } = config;
  const isServed = servesMetrics && telemetry.metrics;
  if (!isServed && !mayExport(telemetry, process.env)) return undefined;
  const { telemetrySettings } = await import('../telemetry/settings.ts');
  const settings = telemetrySettings(telemetry, process.env, VERSION);
  for (const target of [settings.traces, settings.metrics]) if (target) learnServer(secrets, target);
  // Only these: the name of a service, team or environment is a plain word in other texts.
  for (const [name, value] of Object.entries(settings.resource)) if (isSecretName(name)) secrets.add(name, value);
  for (const text of settings.notices) notify(text);
  if (!isServed && !settings.traces && !settings.metrics) return undefined;
  const { createTelemetry } = await import('../telemetry/telemetry.ts');
  const report = (text: string) => notify(text);
  const { redact, redactions } = secrets;
  return createTelemetry({ version: VERSION, keepsHistory: isServed, redactions, redact, settings, report });
}

/** The host's own tools, and those of the modules in the configuration. */
async function toolsOf({ config: { hostTools }, tools = [] }: Assembly): Promise<readonly HostTool[]> {
  if (!hostTools.enabled || hostTools.modules.length === 0) return tools;
  const { toolsOfModules } = await import('./tool-modules.ts');
  return [...tools, ...(await toolsOfModules(hostTools.modules, [...hostTools.commands, ...tools]))];
}

/** Loads the sandbox only if the configuration or a policy may ask for one. */
async function sandboxOf(
  { config, stateDir, files, notify }: Assembly,
  policy: EnforcedPolicy | undefined,
): Promise<Pick<Shared, 'sandbox' | 'containServer'>> {
  const isWanted =
    policy !== undefined || config.sandbox !== undefined || config.agents.some(({ sandbox }) => sandbox?.level !== undefined);
  if (!isWanted) return { sandbox: undefined, containServer: undefined };
  const { containServers, createSandbox } = await import('./sandbox.ts');
  const ownFiles = () => [...files, ...(policy?.state().layers ?? []).map((layer) => layer.policy.file)];
  // Who has the key of a host can write to the bus as this host.
  const { credentials, tokenFile, tls } = config.bus ?? {};
  const ownSecrets = [credentials, tokenFile, tls?.key].filter((one) => one !== undefined);
  const deps = { stateDir, ownFiles, ownSecrets, report: notify };
  return { sandbox: createSandbox({ ...deps, policy: () => policy?.state().policy }), containServer: containServers(config, deps) };
}

/** Loads the policy engine only if there is a policy. */
async function policyOf(
  { config, policy: flags = {}, stateDir, files, notify, isBundled }: Assembly,
  redact: Redactor,
): Promise<EnforcedPolicy | undefined> {
  const isWanted =
    isBundled || flags.policy !== undefined || config.policies.length > 0 || existsSync(managedPolicyFile(process.platform, process.env));
  if (!isWanted) return undefined;
  const { enforcePolicy } = await import('./policy.ts');
  return enforcePolicy({ config, flags, stateDir, ownFiles: files, redact, report: notify, isBundled });
}
