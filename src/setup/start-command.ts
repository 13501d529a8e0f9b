// The start command of a catalogue agent: the installed program, or else the runner that fetches it.
import { type CatalogueAgent, packageName, programOf, suitsNode } from '../agents/catalogue.ts';
import { type Around, findProgram, isNodeScript, packageOf } from './find-program.ts';

export type Start = { readonly command: string; readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>> };

export type Resolution = Start & {
  /** `direct`: the installed program. `runner`: npx or uvx with a pinned version. */
  readonly how: 'direct' | 'runner';
  /** Warnings for the user. */
  readonly warnings: readonly string[];
};

export type Here = Around & {
  /** The Node that runs scripts. */
  readonly node: { readonly path: string; readonly version: string };
  /** The agents that switchboard has installed, by their ids. */
  readonly installed?: ReadonlyMap<string, Start>;
};

export function resolveStart(agent: CatalogueAgent, here: Here): Resolution {
  const { npx, uvx } = agent.distribution;
  const distribution = npx ?? uvx;
  const env = distribution?.env;
  const args = distribution?.args ?? [];
  const extra = env === undefined ? {} : { env };
  const installed = here.installed?.get(agent.id);
  if (installed) return { ...installed, how: 'direct', warnings: [] };
  const program = onPath(agent, here);
  if (program !== undefined) {
    const needsNode = isNodeScript(program);
    const start = needsNode ? { command: here.node.path, args: [program, ...args] } : { command: program, args };
    return { ...start, ...extra, how: 'direct', warnings: [...oldNode(agent, here, needsNode), ...otherVersion(agent, program)] };
  }
  const why =
    programOf(agent) === undefined
      ? 'the catalogue has no program name for it'
      : `${programOf(agent)} of ${distribution?.package} is not installed`;
  const runner = npx ? 'npx' : 'uvx';
  const warnings = [
    `using ${runner}: ${why}. ${runner} fetches ${distribution?.package} on first use`,
    ...(npx ? oldNode(agent, here, true) : []),
    ...(findProgram(runner, here) === undefined ? [`${runner} is not on your PATH`] : []),
  ];
  const fetched = npx ? ['-y', npx.package, ...args] : [uvx?.package ?? agent.id, ...args];
  return { command: runner, args: fetched, ...extra, how: 'runner', warnings };
}

function onPath(agent: CatalogueAgent, here: Here): string | undefined {
  const name = programOf(agent);
  const program = name === undefined ? undefined : findProgram(name, here);
  // A program of the same name from another package is not the agent; a program without a package may be (a native build).
  const owner = program && agent.distribution.npx && packageOf(program);
  return owner && owner.name !== packageName(agent.distribution.npx?.package ?? '') ? undefined : program;
}

function otherVersion({ version, distribution }: CatalogueAgent, program: string): string[] {
  const installed = packageOf(program);
  if (!distribution.npx || !installed || installed.version === version) return [];
  return [`the installed version is ${installed.version}; the catalogue lists ${version}`];
}

function oldNode(agent: CatalogueAgent, { node }: Here, needsNode: boolean): string[] {
  if (!needsNode || suitsNode(agent, node.version)) return [];
  return [`the agent needs Node ${agent.node}, but this is ${node.version}`];
}
