// The sandbox of this switchboard: which agents are contained, and how their programs start. Loaded only if something may be contained.
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { agentEnvironment } from '../agents/agent-process.ts';
import { agentBehind, type Catalogue, readCatalogue } from '../agents/catalogue.ts';
import { type AgentSpec, agentSpec, configKey } from '../agents/defaults.ts';
import type { Config } from '../config/config.ts';
import type { Policy } from '../policy/policy.ts';
import { sandboxOf } from '../policy/rules/settings.ts';
import type { ContainServed, ProcessContext } from '../proxy/agents/process-context.ts';
import { layersDirectory, partsOf } from '../review/layers.ts';
import { createReview, type Review } from '../review/review.ts';
import { isListed } from '../sandbox/network/addresses.ts';
import { compile, type KnownAgent } from '../sandbox/profile/compile.ts';
import { CREDENTIALS, TEMPORARY } from '../sandbox/profile/defaults.ts';
import { isWithin, type Profile, type Uncompilable } from '../sandbox/profile/profile.ts';
import { refusalOf } from '../sandbox/profile/refusal.ts';
import { availableSandbox, findProgram } from '../sandbox/run/available.ts';
import { type Contained, type ContainOptions, contain, type Program } from '../sandbox/run/contain.ts';
import { watchCovers } from '../sandbox/run/cover-watch.ts';
import { realDisk } from '../sandbox/run/disk.ts';
import { type Containment, containmentOf, NO_SETTINGS, type SandboxSettings } from '../sandbox/settings.ts';
import type { Unstartable } from '../transports/start-error.ts';
import type { Notify } from './events.ts';
import { bridgeScript, isSingleExecutable, packageFile } from './package-files.ts';

export type SandboxDeps = {
  readonly stateDir: string;
  /** Our configuration and policy files. */
  readonly ownFiles: () => readonly string[];
  /** Files with our own secrets. */
  readonly ownSecrets?: readonly string[];
  readonly policy: () => Policy | undefined;
  readonly report: Notify;
};

export type Sandbox = {
  /** What the configuration and the policy say. */
  containment(spec: AgentSpec): Containment;
  /** Whether its program starts in a sandbox, or not at all. Reports, once, a sandbox that is wanted and not available. */
  isContained(spec: AgentSpec): boolean;
  profile(spec: AgentSpec, directories: readonly string[]): Profile | Uncompilable;
  /** The start of an agent's program; undefined if it is not contained. */
  start(spec: AgentSpec, process: ProcessContext): ((program: Program) => Contained | Unstartable) | undefined;
  /** The start of a command that switchboard runs for an agent, in the agent's sandbox. */
  readonly startCommand: ContainServed;
  /** Whether it works on a layer over the project. */
  isReviewed(spec: AgentSpec): boolean;
  readonly review: Review;
};

export function createSandbox({ stateDir, ownFiles, ownSecrets = [], policy, report }: SandboxDeps): Sandbox {
  const catalogue = readCatalogue(packageFile('config', 'agent-catalog.json'));
  const reported = new Set<string>();
  const reportOnce = (text: string): void => {
    if (reported.has(text)) return;
    reported.add(text);
    report(text);
  };
  const containment = (spec: AgentSpec): Containment => {
    const current = policy();
    return containmentOf(settingsOf(spec), current && sandboxOf(current, spec.name));
  };
  const review = createReview(stateDir, () => new Date().toISOString());
  const sandbox: Sandbox = {
    containment,
    review,
    isReviewed: (spec) => containment(spec).level === 'review' && sandbox.isContained(spec),
    isContained(spec) {
      if (spec.remote) return false; // it runs on another machine
      const { level, unavailable } = containment(spec);
      if (level === 'off') return false;
      const found = availableSandbox();
      if (!('problem' in found) || unavailable === 'fail') return true;
      reportOnce(`agents run without a sandbox: ${found.problem}. ${found.next}`);
      return false;
    },
    profile(spec, directories) {
      const home = homeOf(spec);
      const known = knownAgent(spec, catalogue, home);
      for (const directory of [...(known?.state ?? []), ...settingsOf(spec).state]) if (directory.endsWith('/')) makeState(directory, home);
      return compile(
        {
          agent: spec.name,
          containment: containment(spec),
          settings: settingsOf(spec),
          policy: policy(),
          known,
          otherState: [
            ...catalogue.flatMap(({ sandbox: other }) => other?.state ?? []).map((one) => filled(one, {})),
            ...(home === os.homedir() ? [] : CREDENTIALS.map((name) => path.join(os.homedir(), name))),
          ],
          roots: [...new Set(directories.flatMap((one) => realDisk.real(one) ?? []))],
          home,
          cwd: process.cwd(),
          stateDir,
          ownFiles: ownFiles(),
          ownSecrets,
          program: programFiles([spec.command, ...spec.args]),
        },
        realDisk,
      );
    },
    startCommand(spec, process) {
      const start = sandbox.start(spec, process);
      if (!start) return undefined;
      return ([command = '', ...args], env, cwd) => {
        const missing = whyNotFound(command, env.PATH ?? '', process.directories);
        if (missing !== undefined) return { why: missing };
        const given = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
        const contained = start({ command, args, env: given, cwd });
        if ('why' in contained) return contained;
        return { argv: [contained.command, ...contained.args], env: { ...contained.env }, sandbox: contained };
      };
    },
    start(spec, process) {
      if (!sandbox.isContained(spec)) return undefined;
      const onLayer = (profile: Profile, options: Omit<ContainOptions, 'enter'>) => {
        const { layer } = process;
        const roots = profile.roots.filter((root) => !profile.roots.some((other) => other !== root && isWithin(other, root)));
        if (options.available.kind !== 'bubblewrap' || layer === undefined)
          return { problem: 'the level "review" needs Linux, and a session', next: 'Use the level "workspace" or "read-only"' };
        const below = roots.map((_, index) => partsOf({ directory: path.join(layersDirectory(stateDir), layer) }, index).lower);
        const places = [...profile.places, ...below.map((one) => ({ kind: 'read' as const, path: one, isDirectory: true, why: '' }))];
        return review.start(layer, { roots, agent: spec.name }, (program, enter) =>
          contain({ ...profile, network: 'open', places }, program, { ...options, enter }),
        );
      };
      return (program) => {
        const found = availableSandbox();
        if ('problem' in found)
          return {
            why: `it must run in a sandbox, and ${found.problem}`,
            next: `${found.next}. To run it without one, set "unavailable": "warn" in ${configKey(spec.name)}.sandbox`,
          };
        const compiled = sandbox.profile(spec, process.directories);
        const profile = process.isLogin && !('problem' in compiled) ? { ...compiled, network: 'open' as const } : compiled;
        if ('problem' in profile) return { why: `it must run in a sandbox, and ${profile.problem}`, next: profile.next };
        const options = {
          available: found,
          bridge: bridgeScript(),
          decide: (host: string, port: number, signal: AbortSignal) =>
            process.decideHost(host, port, isListed(host, profile.hosts.allow), signal),
        };
        const enter = profile.level === 'review' && profile.roots.length > 0 ? onLayer(profile, options) : undefined;
        if (enter && 'problem' in enter) return { why: enter.problem, next: enter.next };
        const contained = contain(profile, program, { ...options, enter });
        const again = () => {
          const now = sandbox.profile(spec, process.directories);
          return 'problem' in now ? undefined : now;
        };
        return { ...contained, uncovered: watchCovers(profile, again), refusal: (path, isWrite) => refusalOf(profile, path, isWrite) };
      };
    },
  };
  return sandbox;
}

/** In the sandbox, a missing command would be a message of the sandbox. One inside the project may exist only in the agent's view of it. */
function whyNotFound(command: string, searchPath: string, directories: readonly string[]): string | undefined {
  if (command.includes('/')) return undefined;
  const isInProject = searchPath.split(path.delimiter).some((one) => directories.some((directory) => isWithin(directory, one)));
  if (isInProject || findProgram(command, searchPath) !== undefined) return undefined;
  return `the command "${command}" was not found. There is no shell here: the program belongs in command, its arguments in args`;
}

/** MCP servers that switchboard starts, under the `sandbox` key for all. A policy's levels are for agents. */
export function containServers(
  { sandbox }: Pick<Config, 'sandbox'>,
  deps: Omit<SandboxDeps, 'policy'>,
): ((program: Program) => Contained | Unstartable | undefined) | undefined {
  if (sandbox === undefined || containmentOf(sandbox).level === 'off') return undefined;
  const own = createSandbox({ ...deps, policy: () => undefined });
  return (program) => {
    const { command, args, env, cwd } = program;
    // Nobody reviews what a server writes.
    const level = sandbox.level === 'review' ? 'read-only' : sandbox.level;
    const spec = { ...agentSpec('mcp_servers', { command, args: [...args] }), sandbox: { ...sandbox, level } };
    const decideHost = async (_host: string, _port: number, isListed: boolean) =>
      isListed ? undefined : 'the host is not in the list of this sandbox (sandbox.hosts)';
    const start = own.start(spec, { directories: cwd === undefined ? [] : [cwd], layer: undefined, decideHost });
    return start?.({ command, args, env });
  };
}

/** The files that a command line names, the packages of its scripts, and our own package, which has the shim of the host tools. */
function programFiles(words: readonly string[]): readonly string[] {
  const named = words.filter((word) => path.isAbsolute(word)).flatMap((word) => realDisk.real(word) ?? []);
  const packages = named.filter((file) => /\.[cm]?[jt]s$/.test(file)).flatMap((file) => packageOf(path.dirname(file)) ?? []);
  return [...named, ...packages, ...ourFiles()];
}

const ourFiles = (): readonly string[] => (isSingleExecutable() ? [process.execPath] : (packageOf(packageFile('dist')) ?? []));

/** The nearest directory with a package.json, at most ten levels up. */
function packageOf(from: string): string[] | undefined {
  let directory = realDisk.real(from) ?? from;
  for (let level = 0; level < 10; level++) {
    if (TEMPORARY.includes(directory) || path.dirname(directory) === directory) return undefined;
    if (existsSync(path.join(directory, 'package.json'))) return [directory];
    directory = path.dirname(directory);
  }
  return undefined;
}

const settingsOf = ({ sandbox = NO_SETTINGS, env }: AgentSpec): SandboxSettings => ({
  ...sandbox,
  // A model at an address that the user configured for this agent.
  hosts: [...sandbox.hosts, ...Object.values(env).flatMap(hostIn)],
});

function hostIn(value: string): readonly string[] {
  const [, host] = /^https?:\/\/([^/?#@\s]+)/i.exec(value) ?? [];
  if (host === undefined) return [];
  return /^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(host) ? [host.includes(':') ? host : `${host}:80`] : [host.replace(/:\d+$/, '')];
}

function homeOf(spec: AgentSpec): string | undefined {
  const { HOME } = agentEnvironment(spec);
  try {
    return realpathSync.native(HOME ?? os.homedir());
  } catch {
    return undefined;
  }
}

/** What the catalogue knows of the agent, with the variables of its environment filled in. */
function knownAgent(spec: AgentSpec, catalogue: Catalogue, home: string | undefined): KnownAgent | undefined {
  const words = [spec.command, ...spec.args];
  const entry = agentBehind([...words, ...words.flatMap((word) => (path.isAbsolute(word) ? (realDisk.real(word) ?? []) : []))], catalogue);
  const isNpx = /(?:^|\/)(?:npx|npm|pnpx|bunx)$/.test(spec.command);
  const env: Readonly<Record<string, string>> = { ...agentEnvironment(spec), ...(home !== undefined && { HOME: home }) };
  if (!entry?.sandbox && !isNpx) return undefined;
  return {
    state: [...(entry?.sandbox?.state ?? []).map((one) => filled(one, env)), ...(isNpx ? ['~/.npm/'] : [])],
    protect: (entry?.sandbox?.protect ?? []).map((one) => filled(one, env)),
    hosts: [...(entry?.sandbox?.hosts ?? []), ...(isNpx ? hostIn(env.npm_config_registry ?? '') : [])],
  };
}

/** `${CODEX_HOME:-~/.codex}/` */
const filled = (text: string, env: Readonly<Record<string, string>>): string =>
  text.replace(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, otherwise: string) => env[name] || otherwise);

/** The agent would make it itself, outside a sandbox. */
function makeState(directory: string, home: string | undefined): void {
  try {
    mkdirSync(directory.replace(/^~(?=\/)/, home ?? '/nowhere'), { recursive: true, mode: 0o700 });
  } catch {
    // The compiler reports that it does not exist.
  }
}
