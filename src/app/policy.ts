// The enforced policy: its merged layers, its records, and the reload when a file changes.
import os from 'node:os';
import { type Asking, knownAgent, startsAsking } from '../agents/asking.ts';
import type { Catalogue } from '../agents/catalogue.ts';
import type { AgentSpec } from '../agents/defaults.ts';
import { type Audit, createAudit, type Written } from '../audit/audit.ts';
import type { AuditEntry } from '../audit/audit-line.ts';
import { type Config, managedPolicyFile, policyHash } from '../config/config.ts';
import { trustedFile } from '../config/trust.ts';
import { type FileWatch, watchFiles } from '../config/watch-files.ts';
import { closePolicy } from '../policy/close.ts';
import { type Hits, hitKey, type Policy } from '../policy/policy.ts';
import { combine } from '../policy/rules/layers.ts';
import { rememberedLayer } from '../policy/rules/remembered.ts';
import type { Agent } from '../proxy/agents/agent.ts';
import { createEnforcement } from '../proxy/enforcement/create-enforcement.ts';
import type { CreateEnforcement } from '../proxy/enforcement/enforcement.ts';
import type { CurrentPolicy } from '../proxy/enforcement/evaluate.ts';
import type { Redactor } from '../redaction/redact.ts';
import { createSerialQueue } from '../serial-queue.ts';
import { createRemembered, hashKey, rememberedFile } from '../store/remembered-answers.ts';
import { canonicalPath } from '../workspace/canonical.ts';
import { findBelow } from '../workspace/find-below.ts';
import { type Notify, notifyOnce } from './events.ts';
import { bundledCatalogue } from './package-files.ts';
import { type LayerSources, type ReadLayer, readLayers, usable } from './policy-layers.ts';

export type PolicyFlags = {
  readonly policy?: string;
  readonly policyMode?: 'enforce' | 'observe';
  /** Whether a user can answer; default: true. */
  readonly isInteractive?: boolean;
};

export type Enforcing = {
  readonly config: Pick<Config, 'policies' | 'audit'>;
  readonly flags: PolicyFlags;
  readonly stateDir: string;
  /** Our own files: agents need permission to change them. */
  readonly ownFiles: readonly string[];
  readonly redact: Redactor;
  readonly report: Notify;
  /** It also obeys policy bundles: without one, everything is denied. */
  readonly isBundled?: boolean | undefined;
};

/** Policies that stand above all files. */
export type Bundle = {
  readonly version: number;
  /** `file` names a policy in messages and in the audit log. */
  readonly policies: readonly { readonly file: string; readonly text: string }[];
};

export type EnforcedPolicy = {
  /** One per connection: an answer for one session must not apply to another client's session with the same id. */
  enforcement(onDecision: (entry: AuditEntry) => void): CreateEnforcement;
  /** The settings an agent starts with, so that it asks. */
  prepared(spec: AgentSpec): AgentSpec;
  /** Changes to other files, or to another policy in the configuration. An invalid policy changes nothing. */
  use(policies: Config['policies']): Promise<void>;
  /** Reads the files again, without waiting for a change event. */
  reload(): Promise<void>;
  /** Throws a SetupFailure if a policy in the bundle is not usable; the result puts it in force, in the place of the last one. */
  prepareBundle(bundle: Bundle): () => void;
  /** Everything is denied while `reason` gives one. */
  closeWhile(reason: () => string | undefined): void;
  /** From now on, a decision counts as recorded if it is in this log, too. */
  alsoRecordIn(log: SecondLog): void;
  /** The current state. */
  state(): PolicyState;
  close(): void;
};

/** Each returns why decisions cannot be recorded. `entry` names its line in the log of the machine. */
export type SecondLog = { record(entry: AuditEntry): string | undefined; problem(): string | undefined };

export type PolicyState = {
  readonly layers: readonly ReadLayer[];
  readonly policy: Policy;
  readonly policies: Config['policies'];
  readonly isObserving: boolean;
  /** Why the current files are not in force. */
  readonly problem: string | undefined;
  /** Decisions since the start, by rule. */
  readonly hits: ReadonlyMap<string, Hits>;
  /** The same policy with another text for one of its files; throws if the text is invalid. */
  with(file: string, text: string): Policy;
};

/** Undefined without a policy: then the client gets every permission request as the agent sent it. */
export async function enforcePolicy({
  config: { policies, audit },
  flags: { policy: flag, policyMode = 'enforce', isInteractive = true },
  stateDir,
  ownFiles,
  redact,
  report,
  isBundled = false,
}: Enforcing): Promise<EnforcedPolicy | undefined> {
  const isRequired = audit?.isRequired === true;
  let sources = { policies, flag, managedFile: managedPolicyFile(process.platform, process.env), stateDir };
  const read = await readLayers(sources);
  for (const text of read.notices) report(text);
  if (read.layers.length === 0 && !isBundled) return undefined;
  let { layers: last, files: watched } = read;
  let bundle: { readonly version: number; readonly layers: readonly ReadLayer[] } | undefined;
  const combined = (layers = last) =>
    together([...(bundle?.layers ?? []), ...layers], [stateDir, ...ownFiles, ...watched].map(canonicalOr), stateDir, bundle?.version);
  let current = combined();
  let problem: string | undefined;
  const hits = new Map<string, Hits>();
  const readAgain = async (wanted: LayerSources): Promise<void> => {
    try {
      const { layers, files, notices } = await readLayers(wanted, last);
      for (const text of notices) report(text);
      if (layers.length === 0 && !isBundled) throw new Error('no policy is configured any more; restart switchboard to run without one');
      problem = undefined;
      const [isSame, isWatched] = [
        policyHash([...(bundle?.layers ?? []), ...layers]) === current.hash,
        files.join('\n') === watched.join('\n'),
      ];
      [sources, last, watched] = [wanted, layers, files];
      if (isSame && isWatched) return;
      current = combined();
      if (!isWatched) watchAgain();
      if (!isSame) report('the policy changed; the new version applies to all sessions from now on');
    } catch (error) {
      // A partial policy would be worse than the previous one.
      problem = (error as Error).message;
      report(`THE CHANGED POLICY IS INVALID; the previous version stays in force: ${(error as Error).message}`);
    }
  };
  // One at a time, so that an older read does not win.
  const reads = createSerialQueue();
  const reload = (change: Partial<LayerSources> = {}): Promise<void> => reads.run(() => readAgain({ ...sources, ...change }));
  const onWatchProblem = notifyOnce(report, (error) => `the policy files are polled every two seconds: ${(error as Error).message}`);
  let watch: FileWatch | undefined;
  function watchAgain(): void {
    if (isClosed) return;
    watch?.close();
    watch = watchFiles([...watched, trustedFile(stateDir)], () => void reload(), { onProblem: onWatchProblem });
    void watch.ready.then(() => reload()); // catches changes before the watch started
  }
  let isClosed = false;
  watchAgain();
  if (policyMode === 'observe')
    report('the policy is in observe mode: switchboard blocks nothing, and the audit log records what it would have blocked');
  const written = createAudit(stateDir, {
    redact,
    onProblem: (problem) =>
      report(
        `${problem}; until it can be written, switchboard ${isRequired ? 'denies everything' : 'asks for everything that a rule allows'}`,
      ),
  });
  let second: SecondLog | undefined;
  function recorded(entry: AuditEntry): Written {
    const outcome = written.record(entry);
    const problem = outcome.isWritten ? second?.record({ ...entry, line: outcome.seq }) : undefined;
    return problem === undefined ? outcome : { isWritten: false, problem };
  }
  const auditFor = (onDecision: (entry: AuditEntry) => void): Audit => ({
    ...written,
    record(entry) {
      const outcome = recorded(entry);
      const key = hitKey(entry.rule);
      hits.set(key, { count: (hits.get(key)?.count ?? 0) + 1, lastAt: Date.now() });
      onDecision({ ...entry, summary: redact(entry.summary), why: entry.why && redact(entry.why) });
      return outcome;
    },
  });
  const closed = closable();
  let reasonToClose: () => string | undefined = () => (isBundled ? 'there is no policy bundle yet' : undefined);
  const inForce = (): CurrentPolicy => {
    const reason = reasonToClose();
    if (reason !== undefined) return closed(current, 'no-bundle', reason);
    const unrecorded = isRequired ? (written.problem() ?? second?.problem()) : undefined;
    return unrecorded === undefined ? current : closed(current, 'audit-required', unrecorded);
  };
  const onProblem = notifyOnce(report, (error) => `cannot store "always" answers: ${(error as Error).message}`);
  const catalogue = bundledCatalogue();
  return {
    prepared: policyMode === 'observe' ? (spec) => spec : startsAsking(catalogue, report),
    enforcement: (onDecision) =>
      createEnforcement({
        current: inForce,
        isObserving: policyMode === 'observe',
        isInteractive,
        audit: auditFor(onDecision),
        remembered: createRemembered(stateDir, { redact, onProblem }),
        canonical: canonicalPath,
        findBelow,
        home: canonicalOr(os.homedir()),
        askingOf: askingIn(catalogue),
      }),
    use: (wanted) => reload({ policies: wanted }),
    reload: () => reload(),
    prepareBundle({ version, policies }) {
      const layers = policies.map(({ file, text }) => usable('bundle', file, text));
      return () => {
        bundle = { version, layers };
        current = combined();
      };
    },
    closeWhile(reason) {
      reasonToClose = reason;
    },
    alsoRecordIn(log) {
      second = log;
    },
    state: () => ({
      layers: [...(bundle?.layers ?? []), ...last],
      policy: current.policy,
      policies: sources.policies,
      isObserving: policyMode === 'observe',
      problem,
      hits,
      with: (file, text) =>
        combined(last.map((layer) => (layer.policy.file === file ? usable(layer.name, file, text, layer) : layer))).policy,
    }),
    close() {
      isClosed = true;
      watch?.close();
      written.close();
    },
  };
}

function together(layers: readonly ReadLayer[], protect: readonly string[], stateDir: string, bundle: number | undefined): CurrentPolicy {
  const made = new WeakMap<object, Policy>();
  const policy = combine(layers, { protect });
  return {
    policy,
    hash: policyHash(layers),
    bundle,
    withAnswers(answers) {
      if (answers.length === 0) return policy;
      const found = made.get(answers) ?? combine([...layers, rememberedLayer(answers, rememberedFile(stateDir), hashKey)], { protect });
      made.set(answers, found);
      return found;
    },
  };
}

/** The same object for the same cause: rules are indexed once. */
function closable(): (current: CurrentPolicy, id: string, why: string) => CurrentPolicy {
  let last: { readonly of: CurrentPolicy; readonly why: string; readonly closed: CurrentPolicy } | undefined;
  return (current, id, why) => {
    if (last?.of === current && last.why === why) return last.closed;
    const policy = closePolicy(current.policy, id, why);
    last = { of: current, why, closed: { ...current, policy, withAnswers: () => policy } };
    return last.closed;
  };
}

function canonicalOr(file: string): string {
  try {
    return canonicalPath(file);
  } catch {
    return file;
  }
}

/** Found by the agent's command and, once it has told its name, by that. */
function askingIn(catalogue: Catalogue): (agent: Pick<Agent, 'spec' | 'handshake'>) => Asking | undefined {
  const found = new WeakMap<object, { readonly name: string | undefined; readonly asks: Asking | undefined }>();
  return (agent) => {
    const name = agent.handshake?.result.agentInfo?.name;
    const known = found.get(agent);
    if (known && known.name === name) return known.asks;
    const asks = knownAgent(catalogue, agent.spec, name)?.asks;
    found.set(agent, { name, asks });
    return asks;
  };
}
