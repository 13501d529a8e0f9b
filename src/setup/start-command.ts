// From an agent of the catalogue to the command that starts it: the program itself where it is installed, else the runner that fetches it.
import path from 'node:path';
import { type CatalogueAgent, packageName, programOf, suitsNode } from './catalogue.ts';
import { type Around, findProgram, isNodeScript, packageOf, readPackage } from './find-program.ts';

export type Start = { readonly command: string; readonly args: readonly string[]; readonly env?: Readonly<Record<string, string>> };

export type Resolution = Start & {
  /** `direct`: nothing is fetched and no wrapper runs beside it. `runner`: npx or uvx, pinned to a version. */
  readonly how: 'direct' | 'runner';
  /** What the user should know: what could not be resolved, what differs. */
  readonly warnings: readonly string[];
};

export type Here = Around & {
  /** The node to run scripts with. */
  readonly node: { readonly path: string; readonly version: string };
  /** Where `agents add --install` puts packages. */
  readonly installDir: string;
};

/** The folder an agent's package is, or would be, installed in by us. */
export function installFolder({ id, version }: CatalogueAgent, { installDir }: Here): string {
  return path.join(installDir, `${id}@${version}`);
}

export function resolveStart(agent: CatalogueAgent, here: Here): Resolution {
  const { npx, uvx } = agent.distribution;
  const distribution = npx ?? uvx;
  const env = distribution?.env;
  const args = distribution?.args ?? [];
  const extra = env === undefined ? {} : { env };
  const program = (npx && ownInstall(agent, here)) ?? onPath(agent, here);
  if (program !== undefined) {
    const needsNode = isNodeScript(program);
    const start = needsNode ? { command: here.node.path, args: [program, ...args] } : { command: program, args };
    return { ...start, ...extra, how: 'direct', warnings: [...oldNode(agent, here, needsNode), ...otherVersion(agent, program)] };
  }
  const why =
    programOf(agent) === undefined
      ? `the catalogue does not know the name of its program`
      : `${programOf(agent)} of ${distribution?.package} is not installed here`;
  const runner = npx ? 'npx' : 'uvx';
  const warnings = [
    `not resolved to a direct command: ${why}. It is started by ${runner}, which fetches ${distribution?.package} when it is first used`,
    ...(npx ? oldNode(agent, here, true) : []),
    ...(findProgram(runner, here) === undefined ? [`${runner} is not on your PATH`] : []),
  ];
  const fetched = npx ? ['-y', npx.package, ...args] : [uvx?.package ?? agent.id, ...args];
  return { command: runner, args: fetched, ...extra, how: 'runner', warnings };
}

function onPath(agent: CatalogueAgent, here: Here): string | undefined {
  const name = programOf(agent);
  const program = name === undefined ? undefined : findProgram(name, here);
  // A namesake of another package is not the agent; a program of no package may well be (a native build).
  const owner = program && agent.distribution.npx && packageOf(program);
  return owner && owner.name !== packageName(agent.distribution.npx?.package ?? '') ? undefined : program;
}

function ownInstall(agent: CatalogueAgent, here: Here): string | undefined {
  const name = packageName(agent.distribution.npx?.package ?? '');
  const folder = path.join(installFolder(agent, here), 'node_modules', name);
  const { bin } = readPackage(folder) ?? {};
  const bins = typeof bin === 'string' ? { [name.split('/').at(-1) ?? name]: bin } : (bin ?? {});
  const script = bins[programOf(agent) ?? ''] ?? bins[name.split('/').at(-1) ?? ''] ?? Object.values(bins)[0];
  return script === undefined ? undefined : findProgram(path.join(folder, script), here);
}

function otherVersion({ version, distribution }: CatalogueAgent, program: string): string[] {
  const installed = packageOf(program);
  if (!distribution.npx || !installed || installed.version === version) return [];
  return [`the installed version is ${installed.version}; the catalogue lists ${version}`];
}

function oldNode(agent: CatalogueAgent, { node }: Here, needsNode: boolean): string[] {
  if (!needsNode || suitsNode(agent, node.version)) return [];
  return [`it needs Node ${agent.node}, and this is ${node.version}`];
}
