// The files in writable directories that a process must not write, and those that it must not read.
import path from 'node:path/posix';
import { compilePathGlob, executableConfig, type Roots } from '../../policy/paths/path-glob.ts';
import type { CompileInput } from './compile.ts';
import { MAX_COVERS } from './defaults.ts';
import { type GitPlaces, gitCovers } from './git.ts';
import { findMatches, type Match, namedPlaces, type Wanted } from './globs.ts';
import { type Disk, isWithin, type Place, type Uncompilable } from './profile.ts';
import { coversOf } from './rules.ts';

type CoverInput = CompileInput & {
  readonly gits: readonly GitPlaces[];
  readonly state: readonly string[];
  /** Paths that the user opened: the built-in list does not hold there. */
  readonly lifted: readonly string[];
  readonly writable: readonly string[];
};

type Covers = { readonly places: readonly Place[]; readonly gaps: readonly string[] };

const BUILT_IN = 'other programs run what this file contains';

export function coverFiles(input: CoverInput, around: Roots, disk: Disk): Covers | Uncompilable {
  const { policy, agent, settings, known, roots, writable, lifted, gits, state } = input;
  const places = new Map<string, Place>();
  const gaps: string[] = [];
  const counts = new Map<string, number>();
  const cover = ({ wanted: { kind, why, glob }, path: file, isDirectory }: Match): void => {
    const real = disk.real(file);
    if (real === undefined) return;
    if (real !== file && kind === 'protect') gaps.push(`${file} is a link: its target is read-only, but the link itself can be replaced`);
    const before = places.get(real);
    if (before?.kind === 'hide' || before?.kind === kind) return;
    places.set(real, { kind, path: real, isDirectory: isDirectory || disk.kindOf(real) === 'directory', why });
    counts.set(glob.source, (counts.get(glob.source) ?? 0) + 1);
  };

  // At `review` the policy decides about changes when the turn ends.
  const isReview = input.containment.level === 'review';
  const fromPolicy = (policy ? coversOf(policy, agent, around) : []).filter(({ kind }) => !isReview || kind === 'hide');
  const fromSettings = [...wantedFrom(settings.hide, 'hide', around), ...wantedFrom(settings.protect, 'protect', around)];
  const builtIn: Wanted = { glob: executableConfig(), kind: 'protect', why: BUILT_IN };
  // What a glob names outright, wherever it is: reading is refused everywhere, writing where the process could write.
  for (const wanted of [...fromPolicy, ...fromSettings])
    for (const file of namedPlaces(wanted.glob.source, around)) {
      const kind = disk.kindOf(file);
      const isOpen = [...writable, ...state].some((one) => isWithin(one, file));
      if (kind !== undefined && (wanted.kind === 'hide' || isOpen)) cover({ wanted, path: file, isDirectory: kind === 'directory' });
    }
  for (const one of known?.protect ?? []) coverNamed(one, 'settings of the agent');
  for (const one of input.ownFiles) coverNamed(one, 'it governs switchboard');
  function coverNamed(named: string, why: string): void {
    const file = namedPlaces(named, around)[0] ?? named;
    const kind = disk.kindOf(file);
    if (kind === undefined || ![...writable, ...state].some((one) => isWithin(one, file))) return;
    cover({ wanted: { ...builtIn, why }, path: file, isDirectory: kind === 'directory' });
  }

  const all = [...fromPolicy, ...fromSettings, ...(isReview ? [] : [builtIn])];
  const areas = outermost([...roots, ...writable.filter((one) => !gits.some(({ common }) => common === one))]);
  for (const area of areas) {
    const isOpen = (file: string) => writable.some((one) => isWithin(one, file) || isWithin(file, one));
    const wanted = isOpen(area) ? all : all.filter(({ kind }) => kind === 'hide');
    const found = findMatches(area, wanted, around, disk);
    if (found === 'too many') return tooLarge(area);
    for (const git of found.gits) if (isOpen(git) && !isReview) coverGit(git);
    for (const match of found.matches) {
      const isLifted = match.wanted === builtIn && lifted.some((one) => isWithin(one, match.path));
      if (!isLifted && (match.wanted.kind === 'hide' || isOpen(match.path))) cover(match);
    }
  }
  for (const { common, entry } of isReview ? [] : gits) if (writable.some((one) => isWithin(one, common))) coverGit(common, entry);
  function coverGit(common: string, entry = common): void {
    for (const file of [...gitCovers(common, disk), ...(entry === common ? [] : [entry])])
      cover({ wanted: { ...builtIn, why: 'git runs it' }, path: file, isDirectory: disk.kindOf(file) === 'directory' });
    if (disk.kindOf(path.join(common, 'hooks')) === undefined) gaps.push(`${common}/hooks does not exist, so it can be created`);
  }
  if (places.size > MAX_COVERS) return tooMany(counts);
  return { places: [...places.values(), ...pins([...places.values()], writable)], gaps };
}

/** A protected file stays where it is only if the directories above it do. */
function pins(places: readonly Place[], writable: readonly string[]): readonly Place[] {
  const pinned = new Map<string, Place>();
  for (const { kind, path: file } of places) {
    if (kind !== 'protect') continue;
    const area = writable.filter((one) => isWithin(one, file)).sort((a, b) => a.length - b.length)[0];
    for (let at = path.dirname(file); area !== undefined && at !== area && isWithin(area, at); at = path.dirname(at))
      pinned.set(at, { kind: 'pin', path: at, isDirectory: true, why: `${file} is below it` });
  }
  return [...pinned.values()].filter(
    ({ path: one }) => !places.some((place) => place.path === one || (place.isDirectory && isWithin(place.path, one))),
  );
}

/** Paths of the configuration as globs. A plain path names the file, or everything in the directory. */
function wantedFrom(named: readonly string[], kind: Wanted['kind'], around: Roots): readonly Wanted[] {
  return named.flatMap((source) => {
    const anchored = /^(?:\/|~|\$|\*\*)/.test(source) ? source : `$cwd/${source}`;
    const sources = /[*?[{]/.test(anchored) ? [anchored] : [anchored, `${anchored.replace(/\/$/, '')}/**`];
    return sources.flatMap((one) => {
      const glob = compilePathGlob(around.home === undefined ? one : one.replace(/^~/, '$home'));
      return 'wrong' in glob ? [] : [{ glob, kind, why: `sandbox.${kind}` }];
    });
  });
}

const outermost = (paths: readonly string[]): readonly string[] =>
  [...new Set(paths)].filter((one, _, all) => !all.some((other) => other !== one && isWithin(other, one)));

function tooMany(counts: ReadonlyMap<string, number>): Uncompilable {
  const [glob, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  return {
    problem: `the sandbox would need more than ${MAX_COVERS} covered files; ${count} of them match ${glob}`,
    next: 'Make the rule narrower, list the directory in sandbox.write, or open the session in a smaller directory',
  };
}

const tooLarge = (area: string): Uncompilable => ({
  problem: `${area} has too many files to look for those that the policy covers`,
  next: 'Open the session in a smaller directory',
});
