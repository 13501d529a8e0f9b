// Compiles the policy, the settings and the catalogue to a profile. Pure: the disk is handed in.
import path from 'node:path/posix';
import type { Roots } from '../../policy/paths/path-glob.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Containment, SandboxSettings } from '../settings.ts';
import { coverFiles } from './covers.ts';
import { CREDENTIALS, SYSTEM_SECRETS, TEMPORARY } from './defaults.ts';
import { type GitPlaces, gitOf } from './git.ts';
import { namedPlaces } from './globs.ts';
import { type Disk, type HostList, isWithin, type Place, type Profile, type Uncompilable } from './profile.ts';
import { allowedHosts, closedTo, editableGlobs, notHeld } from './rules.ts';

/** What the catalogue knows of an agent. Paths may begin with `~`. */
export type KnownAgent = {
  /** Directories and files that it must write. */
  readonly state: readonly string[];
  /** Its settings inside those: what it plants there would take effect outside. */
  readonly protect: readonly string[];
  /** Its model's hosts. */
  readonly hosts: readonly string[];
};

export type CompileInput = {
  readonly agent: string;
  readonly containment: Containment;
  readonly settings: SandboxSettings;
  /** Undefined without a policy. */
  readonly policy: Policy | undefined;
  readonly known: KnownAgent | undefined;
  /** State of the other agents in the catalogue. */
  readonly otherState: readonly string[];
  /** The session's directories, canonical, the working directory first; empty before a session. */
  readonly roots: readonly string[];
  readonly home: string | undefined;
  /** Where the process starts if it serves no session. */
  readonly cwd: string;
  /** Our own state, hidden. */
  readonly stateDir: string;
  /** Our configuration and policy files, read-only. */
  readonly ownFiles: readonly string[];
  /** Files with our own secrets, hidden. */
  readonly ownSecrets: readonly string[];
  /** Its program and the files among its arguments: visible even in a directory that is otherwise private. */
  readonly program: readonly string[];
};

export function compile(input: CompileInput, disk: Disk): Profile | Uncompilable {
  const { agent, containment, settings, policy, known, home, roots } = input;
  const level = containment.level;
  if (level === 'off') throw new Error('there is nothing to compile for a sandbox that is off');
  const around: Roots = { cwd: roots[0] ?? '/nowhere', home };
  const gaps: string[] = [];
  const named = { state: [...(known?.state ?? []), ...settings.state], write: settings.write };
  const leadsOut = linkCheck([...roots, ...[...named.state, ...named.write].flatMap((one) => disk.real(expand(one, around)) ?? [])], disk);
  const existing = (paths: readonly string[], what: string): readonly string[] =>
    paths.flatMap((one) => {
      const file = expand(one, around);
      const real = disk.real(file);
      if (real === undefined) gaps.push(`${what} ${one} does not exist yet, so it is read-only until the agent starts again`);
      else if (leadsOut(file, real))
        gaps.push(`${what} ${one} is behind a link that an agent could have made, so it stays closed; name ${real} itself`);
      else return real;
      return [];
    });

  const state = existing(named.state, "the agent's own");
  const extra = existing(named.write, 'the path to write');
  const outside = extra.filter((one) => !roots.some((root) => isWithin(root, one)));
  const isWritable = level === 'workspace';
  const isReview = level === 'review';
  const gits = roots.flatMap((root) => gitOf(root, home, disk) ?? []);
  const projectWrites = isReview ? roots : isWritable ? projectWritesOf(input, around, disk) : [];
  const allowedOutside = isWritable && policy ? outsideWritesOf(policy, agent, around, roots, disk, leadsOut) : [];
  const gitWrites = isWritable && projectWrites.length > 0 ? outsideGit(gits, roots) : [];

  const places = new Map<string, Place>();
  const put = (kind: Place['kind'], one: string, why: string): void => {
    const isDirectory = disk.kindOf(one) === 'directory';
    places.set(one, { kind, path: one, isDirectory, why });
  };
  const hide = (paths: readonly string[], why: string): void => {
    for (const one of paths) {
      const real = disk.real(one);
      if (real !== undefined && real !== '/') put('hide', real, why);
    }
  };
  const own = new Set([...state, ...extra]);
  if (home !== undefined)
    hide(
      CREDENTIALS.map((name) => path.join(home, name)),
      'credentials',
    );
  hide(SYSTEM_SECRETS, 'a secret of the system');
  hide(
    input.otherState.map((one) => expand(one, around)).filter((one) => !own.has(disk.real(one) ?? one)),
    "another agent's state",
  );
  hide([input.stateDir], "switchboard's state");
  hide(input.ownSecrets, "switchboard's credentials");
  // Agents that switchboard has installed are in its state directory. Programs are no secrets.
  const installed = disk.real(path.join(input.stateDir, 'agents', 'store'));
  if (installed !== undefined && input.program.some((one) => isWithin(installed, one))) put('read', installed, 'its program');
  // A process that serves no session sees no project, and nobody has looked for secrets in one.
  const start = disk.real(input.cwd);
  const isNeeded = (directory: string) => [home, ...input.program].some((one) => one !== undefined && isWithin(directory, one));
  if (roots.length === 0 && start !== undefined && !isNeeded(start)) hide([start], 'not a directory of a session');

  if (home !== undefined && TEMPORARY.some((directory) => isWithin(directory, home))) put('read', home, 'the home directory');
  for (const one of roots) put('read', one, 'the project');
  for (const one of [...projectWrites, ...allowedOutside]) put('write', one, 'the project');
  for (const one of gitWrites) put('write', one, "the project's git directory");
  for (const one of state) put('write', one, "the agent's state");
  for (const one of outside) put('write', one, 'sandbox.write');
  for (const one of settings.sockets) for (const real of existing([one], 'the socket')) put('write', real, 'sandbox.sockets');
  const isOpen = (one: string) => [...places.values()].some(({ kind, path: other }) => kind === 'write' && isWithin(other, one));
  for (const one of input.program)
    if (TEMPORARY.some((directory) => isWithin(directory, one)) && !isOpen(one)) put('read', one, 'its program');

  const covered = coverFiles(
    { ...input, gits, state, lifted: extra, writable: [...projectWrites, ...allowedOutside, ...outside, ...gitWrites] },
    around,
    disk,
  );
  if ('problem' in covered) return covered;
  // A protected name may be a link to a hidden file.
  for (const place of covered.places) if (place.kind === 'hide' || places.get(place.path)?.kind !== 'hide') places.set(place.path, place);
  return {
    level,
    network: containment.network,
    hosts: hostsOf(input, around),
    roots,
    cwd: roots[0] ?? '/',
    temporary: TEMPORARY.filter((directory) => disk.kindOf(directory) === 'directory'),
    places: visible([...places.values()]),
    sockets: settings.sockets,
    gaps: [...gaps, ...covered.gaps, ...(policy ? notHeld(policy, agent, around) : [])],
  };
}

/** Outermost first. What lies in a hidden directory needs no cover of its own, unless the process must see it. */
function visible(places: readonly Place[]): readonly Place[] {
  const hidden = places.filter(({ kind, isDirectory }) => kind === 'hide' && isDirectory);
  return places
    .filter(({ kind, path: one }) => {
      if (kind === 'write' || kind === 'read') return true;
      const inside = hidden.filter((other) => other.path !== one && isWithin(other.path, one));
      // A place that is opened again inside the hidden directory brings its own covers.
      return inside.every((other) =>
        places.some((open) => open.kind !== 'hide' && open.path !== one && isWithin(other.path, open.path) && isWithin(open.path, one)),
      );
    })
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** The whole project, unless the policy is closed (`default: deny`) and opens only some directories of it. */
function projectWritesOf({ agent, policy, roots }: CompileInput, around: Roots, disk: Disk): readonly string[] {
  const globs = policy && closedTo(policy, agent, around);
  if (globs === undefined) return roots;
  return roots.flatMap((root) => {
    const named = globs.flatMap((source) => (source === '**' || source === '/**' ? [root] : namedPlaces(source, { ...around, cwd: root })));
    if (named.some((one) => isWithin(one, root))) return [root];
    return named.flatMap((one) => disk.real(one) ?? []).filter((one) => isWithin(root, one));
  });
}

/** Directories outside the project that an allow rule opens for editing. */
function outsideWritesOf(
  policy: Policy,
  agent: string,
  around: Roots,
  roots: readonly string[],
  disk: Disk,
  leadsOut: LinkCheck,
): readonly string[] {
  return editableGlobs(policy, agent, around)
    .filter((source) => !source.startsWith('**') && !source.startsWith('$cwd'))
    .flatMap((source) => namedPlaces(source, around))
    .flatMap((one) => {
      const real = disk.real(one);
      return real === undefined || leadsOut(one, real) ? [] : real;
    })
    .filter((one) => one !== '/' && one !== around.home && !roots.some((root) => isWithin(root, one)));
}

const outsideGit = (gits: readonly GitPlaces[], roots: readonly string[]): readonly string[] =>
  gits.map(({ common }) => common).filter((common) => !roots.some((root) => isWithin(root, common)));

/** Loopback ports in `hosts` are forwarded; everything else is a name. */
function hostsOf({ agent, policy, settings, known }: CompileInput, around: Roots): HostList {
  const named = [...settings.hosts, ...(known?.hosts ?? [])];
  const port = (host: string) => /^(?:localhost|127\.0\.0\.1|\[::1\]):(\d{1,5})$/.exec(host)?.[1];
  return {
    allow: [...named.filter((host) => port(host) === undefined), ...(policy ? allowedHosts(policy, agent, around) : [])].map((host) =>
      host.toLowerCase(),
    ),
    ports: named.flatMap((host) => port(host) ?? []).map(Number),
  };
}

type LinkCheck = (file: string, real: string) => boolean;

/** Whether a path leaves, by a link, a directory in which an agent of an earlier session could make links. */
function linkCheck(areas: readonly string[], disk: Disk): LinkCheck {
  return (file, real) => {
    for (let at = path.dirname(file); ; at = path.dirname(at)) {
      const above = disk.real(at);
      if (above !== undefined && areas.some((area) => isWithin(area, above) && !isWithin(area, real))) return true;
      if (at === '/') return false;
    }
  };
}

export function expand(named: string, { cwd, home }: Roots): string {
  const file = named.replace(/(?<=.)\/+$/, '');
  if (file === '~' || file.startsWith('~/')) return path.join(home ?? '/nowhere', file.slice(1));
  return path.resolve(cwd, file);
}
