// Installs an agent for a command: into the store, with progress, and with a line in the audit log before and after.
import path from 'node:path';
import spawn from 'cross-spawn';
import { programOf } from '../../../agents/catalogue.ts';
import { inheritedEnvironment } from '../../../agents/environment.ts';
import { createAudit } from '../../../audit/audit.ts';
import { variablesIn } from '../../../config/references.ts';
import { createRedactor } from '../../../redaction/redact.ts';
import { describePlan } from '../../../registry/describe.ts';
import { install, refuseEarly } from '../../../registry/install.ts';
import type { Plan, Source } from '../../../registry/plan.ts';
import type { Installed } from '../../../registry/records.ts';
import { createStore } from '../../../registry/store.ts';
import { isNodeScript } from '../../../setup/find-program.ts';
import { CommandFailure } from '../../failure.ts';
import { startUnderSignals } from '../../interrupts.ts';
import { notice } from '../../output.ts';
import { nodeProgram } from '../catalogue-entry.ts';
import { knownFor } from './open-registry.ts';
import { showProgress } from './progress.ts';

export type InstallFlags = { readonly allowScripts?: boolean; readonly allowUnverified?: boolean; readonly json?: boolean };

export type InstallSetup = {
  /** The agent's name in the configuration. */
  readonly name: string;
  readonly stateDir: string;
  /** The index comes from this machine. */
  readonly isLocal: boolean;
  readonly present?: Installed | undefined;
  /** The configuration, whose variables package managers do not see. */
  readonly configText: string;
};

/** Refuses what needs a flag before the user is asked. */
export function refuseBeforeAsking(plan: Plan, { allowUnverified = false }: InstallFlags): void {
  refuseEarly(plan, { allowUnverified });
}

export async function installAgent(
  plan: Plan,
  setup: InstallSetup,
  flags: InstallFlags,
): Promise<{ readonly installed: Installed; readonly warnings: readonly string[] }> {
  const { name, stateDir, isLocal } = setup;
  const { allowScripts = false, allowUnverified = false } = flags;
  const known = knownFor(plan);
  const how = [...(allowScripts ? ['its install scripts may run'] : []), ...(isUnverified(plan.source) ? ['without a checksum'] : [])];
  recordInAudit(
    stateDir,
    name,
    'agents/install',
    `install ${plan.id} ${plan.version} (${sourceText(plan.source)})${how.map((one) => `; ${one}`).join('')}`,
    describePlan(plan),
  );
  const store = createStore(stateDir);
  const env = inheritedEnvironment(process.env, 'all', variablesIn(setup.configText));
  const progress = plan.source.kind === 'binary' ? showProgress(plan.source.url, flags.json) : undefined;
  if (!progress) notice(`installing ${sourceText(plan.source)}`);
  const { program, skippedScripts, ...found } = await install(plan, {
    ...{ store, isLocal, allowScripts, allowUnverified, platform: process.platform, present: setup.present },
    ...{ program: known && programOf(known), onProgress: progress?.onProgress },
    run(command, args, cwd) {
      // Their output goes to stderr: a program may read stdout.
      const { child, check, stop } = startUnderSignals(() =>
        spawn(command, args as string[], { stdio: ['ignore', process.stderr, process.stderr], cwd, env }),
      );
      return {
        child,
        end() {
          stop();
          check();
        },
      };
    },
  });
  progress?.end();
  const file = path.join(store.folder(found.folder), program);
  const isScript = plan.source.kind === 'npx' && isNodeScript(file);
  const installed: Installed = {
    plan,
    ...found,
    command: isScript ? nodeProgram() : file,
    prefix: isScript ? [file] : [],
    at: new Date().toISOString(),
  };
  recordInAudit(
    stateDir,
    name,
    'agents/installed',
    `installed ${plan.id} ${found.version} (${sourceText(plan.source)}), ${found.checksum ?? 'no checksum'}, as ${found.folder}`,
    JSON.stringify(installed),
  );
  const scripts =
    skippedScripts.length === 0
      ? []
      : [`install scripts did not run: ${skippedScripts.join(', ')}. If the agent does not start, install it with --allow-scripts`];
  const seen = found.verifiedBy === 'seen' ? [`nobody vouches for this archive; its checksum is now pinned: sha256 ${found.checksum}`] : [];
  return { installed, warnings: [...scripts, ...seen] };
}

const isUnverified = (source: Source): boolean => source.kind === 'binary' && source.sha256 === undefined;

export const sourceText = (source: Source): string =>
  source.kind === 'binary'
    ? source.url
    : `${source.package}${source.wanted === undefined ? '' : `@${source.wanted}`}, by ${source.kind === 'npx' ? 'npm' : 'uv'}`;

/** Nothing is installed, switched or removed without its line. */
export function recordInAudit(stateDir: string, agent: string, method: string, summary: string, request: string): void {
  const audit = createAudit(stateDir, { redact: createRedactor({}, process.env) });
  const written = audit.record({
    ...{ agent, method, request, summary, evidence: 'raw', verdict: 'ask', answeredBy: 'user', outcome: 'allowed' },
    ...{ answer: 'allow_once', latencyMs: 0, policyHash: '' },
  });
  audit.close();
  if (!written.isWritten)
    throw new CommandFailure(1, `the audit log cannot be written, so nothing was changed: ${written.problem}`, 'switchboard doctor');
}
