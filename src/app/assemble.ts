// Where the parts are put together, for the command and for whoever embeds the switchboard: one configuration, and any number of clients,
// each with agents and records of its own. Nothing in here ends the process, listens for signals or writes to stdout.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { depthOf, MAX_DEPTH } from '../agents/recursion.ts';
import { type Config, managedPolicyFile } from '../config/config.ts';
import type { HostTool } from '../mcp/server/tool.ts';
import { systemClock } from '../proxy/context.ts';
import type { Redactor, Secrets } from '../redaction/redact.ts';
import { createCapabilityCache } from '../store/capability-cache.ts';
import type { Level } from '../store/defaults.ts';
import { createSessionLog } from '../store/sessions/session-store.ts';
import { Scanner } from '../wire/scanner/scanner.ts';
import { createDiagnostics, type Diagnostics } from './diagnostics.ts';
import { type Listener, type Say, sayOnce, UNHEARD } from './events.ts';
import { toolAttachmentsOf } from './host-tools.ts';
import { learnConfigured, secretsOf } from './launch.ts';
import type { EnforcedPolicy, PolicyFlags } from './policy.ts';
import { changedForLater, type Reconfigured, reconfigureAll } from './reconfigure.ts';
import type { Onlooker } from './records.ts';
import { type ClientStreams, type Served, type Shared, serveClient } from './serve-client.ts';
import { SetupFailure } from './setup-failure.ts';
import { tidyUp } from './startup-cleanup.ts';

/** By then the first client has its answer to initialize. With `setImmediate` this would come first: what it has sent is read in the next turn of the loop. */
const AFTER_ANSWER_MS = 100;

export type Assembly = {
  readonly config: Config;
  /** The files it comes from: agents may not change them without being asked. */
  readonly files: readonly string[];
  readonly stateDir: string;
  /** Words for people. */
  readonly say: Say;
  readonly policy?: PolicyFlags;
  /** Instead of the configuration's. */
  readonly logLevel?: Level | undefined;
  /** Lent to every agent besides those of the configuration. */
  readonly tools?: readonly HostTool[];
  readonly events?: Listener;
  /** A host that owns its process may bring one that frees memory after large frames. */
  readonly scanner?: Scanner;
  /** Looks on at every leg of every client. */
  readonly onlooker?: ((secrets: Secrets) => Onlooker) | undefined;
};

export type Assembled = {
  readonly diagnostics: Diagnostics;
  /** What is known to be secret here. */
  readonly secrets: Secrets;
  /** What agents may do; undefined when nobody has a policy. */
  readonly policy: EnforcedPolicy | undefined;
  /** `recordTo` is a file to record everything to. */
  connect(client: ClientStreams, recordTo?: string): Served;
  /** Another configuration: its agents are for sessions to come, its policy for all, its level for whatever is said from now on. */
  reconfigure(next: Config): Reconfigured;
  /** Ends every connection, and then what they share. */
  close(): Promise<void>;
};

/** Throws a SetupFailure that says what cannot be used as it is. */
export async function assemble(assembly: Assembly): Promise<Assembled> {
  const { config, stateDir, events = UNHEARD } = assembly;
  if (depthOf(process.env) >= MAX_DEPTH) throw new SetupFailure('LOOP', LOOP, LOOP_HINT);
  const secrets = await secretsOf(config);
  const say: Say = (text) => assembly.say(secrets.redact(text));
  const policy = await policyOf({ ...assembly, say }, secrets.redact);
  const onProblem = sayOnce(
    say,
    (error) => `the state directory ${stateDir} cannot be used, so nothing is remembered: ${(error as Error).message}`,
  );
  const { level, file } = config.logging;
  const diagnostics = createDiagnostics({
    level: assembly.logLevel ?? level,
    file: file && path.resolve(stateDir, file),
    redact: secrets.redact,
    words: say,
  });
  const tools = await toolsOf(assembly);
  const cache = createCapabilityCache(stateDir, systemClock.now, onProblem);
  let shared: Shared = {
    config,
    stateDir,
    secrets,
    diagnostics,
    say,
    onProblem,
    events,
    enforcement: () => policy?.enforcement(),
    log: createSessionLog(stateDir, onProblem),
    cache,
    scanner: assembly.scanner ?? new Scanner(),
    toolAttachments: toolAttachmentsOf(config, stateDir, cache, onProblem, say, {
      tools,
      onEvent: events.onTool,
      clean: secrets.redact,
    }),
    onlooker: assembly.onlooker?.(secrets),
  };
  const open = new Set<Served>();
  let count = 0;
  let isClosed = false;
  let tidyTimer: NodeJS.Timeout | undefined;
  function tidyOnce(): void {
    clearTimeout(tidyTimer);
    tidyTimer = undefined;
    tidyUp(stateDir, onProblem, say);
  }
  return {
    diagnostics,
    secrets,
    policy,
    connect(client, recordTo) {
      if (isClosed) throw new Error('this switchboard is closed; make another one');
      const served = serveClient(shared, client, count++, recordTo);
      // Not before the first answer: the client waits for that, and nobody waits for this.
      if (count === 1) tidyTimer = setTimeout(tidyOnce, AFTER_ANSWER_MS).unref();
      open.add(served);
      void served.closed.then(() => open.delete(served));
      return served;
    },
    reconfigure(next) {
      learnConfigured(secrets, next); // before anything is started with it
      const before = shared.config;
      const { agents, defaultAgent, explicitDefault, routes, policies } = next;
      const isOtherPolicy = JSON.stringify(before.policies) !== JSON.stringify(policies);
      // Whatever becomes of the agents: what it forbids is forbidden from now on.
      if (isOtherPolicy && policy) void policy.use(policies);
      const { level: wanted } = next.logging;
      // Only if it is another one: what was set by a signal meanwhile is not undone by a change of something else.
      if (wanted !== before.logging.level) diagnostics.setLevel(assembly.logLevel ?? wanted);
      shared = { ...shared, config: { ...before, policies, logging: { ...before.logging, level: wanted } } };
      const { isTaken, said } = reconfigureAll([...open], next);
      if (isTaken) shared = { ...shared, config: { ...shared.config, agents, defaultAgent, explicitDefault, routes } };
      return { isTaken, said, later: [...(isOtherPolicy && !policy ? ['policy'] : []), ...changedForLater(before, next)] };
    },
    async close() {
      isClosed = true;
      if (tidyTimer !== undefined) tidyOnce(); // a client that leaves at once must not keep old records alive
      await Promise.all([...open].map((served) => served.close()));
      policy?.close();
      await diagnostics.close();
    },
  };
}

const LOOP = 'this switchboard is an agent of a switchboard, and so on, without end';
const LOOP_HINT = 'some agent in agent_servers starts the switchboard: switchboard agents list';

/** What the host hands in, and what modules of the configuration have. */
async function toolsOf({ config: { hostTools }, tools = [] }: Assembly): Promise<readonly HostTool[]> {
  if (!hostTools.enabled || hostTools.modules.length === 0) return tools;
  const { toolsOfModules } = await import('./tool-modules.ts');
  return [...tools, ...(await toolsOfModules(hostTools.modules, [...hostTools.commands, ...tools]))];
}

/** The engine is loaded only when somebody has a policy. */
async function policyOf(
  { config, policy: flags = {}, stateDir, files, say, events = UNHEARD }: Assembly,
  redact: Redactor,
): Promise<EnforcedPolicy | undefined> {
  const isWanted = flags.policy !== undefined || config.policies.length > 0 || existsSync(managedPolicyFile(process.platform, process.env));
  if (!isWanted) return undefined;
  const { enforcePolicy } = await import('./policy.ts');
  return enforcePolicy({ config, flags, stateDir, ownFiles: files, redact, report: say, onDecision: events.onDecision });
}
