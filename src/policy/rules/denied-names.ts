// What deny and ask rules say about files that a command reaches without naming them: below a directory, or through a pattern.
import type { Action, ActionKind, Operand } from '../actions/action.ts';
import type { FileEffect } from '../commands/effect.ts';
import { EXECUTABLE_CONFIG } from '../paths/executable-config.ts';
import { compileNameGlob, type NameGlob } from '../paths/name-glob.ts';
import { isInside } from '../paths/path.ts';
import type { PathGlob } from '../paths/path-glob.ts';
import type { LayeredRule } from '../policy.ts';

export type DeniedNames = {
  /** Why a walk, a pattern or a whole directory may reach a file that a rule denies; undefined if it cannot. */
  reachedBy(operand: Operand, action: Action): string | undefined;
};

const known = new WeakMap<readonly LayeredRule[], DeniedNames>();

export function deniedNames(strict: readonly LayeredRule[]): DeniedNames {
  let found = known.get(strict);
  if (found === undefined) {
    found = create(strict);
    known.set(strict, found);
  }
  return found;
}

type Denied = { readonly globs: readonly PathGlob[]; readonly names: readonly string[] };

function create(strict: readonly LayeredRule[]): DeniedNames {
  const denied = (...kinds: readonly ActionKind[]): Denied => {
    const globs = strict
      .filter(({ rule, layer }) => layer !== 'built-in' && (rule.actions === undefined || kinds.some((kind) => rule.actions?.has(kind))))
      .flatMap(({ rule }) => rule.paths ?? []);
    return { globs, names: [...new Set(globs.flatMap(({ source }) => sampleName(source)))] };
  };
  const toRead = denied('read', 'search');
  const toEdit = denied('edit');
  const toRemove = denied('delete', 'move');
  const toMove = denied('read', 'search', 'delete', 'move');
  return {
    reachedBy({ effect, path, written }, action) {
      if (effect === undefined) return undefined;
      const { globs, names } = deniedTo(effect);
      if (effect.isPattern) {
        const name = nameFor(names, effect.path);
        if (name !== undefined) return `the pattern ${effect.path} may match ${name}`;
        // git add: its wildcards match hidden files, and in every directory.
        return effect.kind === 'walk' ? foundBelow(globs, action.cwd, { ...effect, globs: [effect.path] }, action) : undefined;
      }
      const isWhole = effect.kind === 'walk' || effect.kind === 'delete' || effect.kind === 'move';
      if (!isWhole || (effect.kind === 'walk' && effect.isTracked)) return undefined;
      if (effect.isWithoutRepository && isInside(action.cwd, path) && hasRepository(action)) return undefined;
      const below = globs.find((glob) => isBelow(glob, path, action) || isBelow(glob, written, action));
      if (below !== undefined) return `it may reach ${below.source}`;
      const hidden = effect.isWidened ? names.find((name) => name.startsWith('.')) : undefined;
      if (hidden !== undefined) return `it reads hidden files, such as ${hidden}`;
      for (const glob of effect.globs ?? []) {
        const name = glob.startsWith('!') ? undefined : nameFor(names, glob);
        if (name !== undefined) return `the pattern ${glob} may match ${name}`;
      }
      return foundBelow(globs, path, effect, action);
    },
  };

  function deniedTo({ kind }: FileEffect): Denied {
    if (kind === 'read' || kind === 'names' || kind === 'walk') return toRead;
    if (kind === 'move') return toMove;
    return kind === 'delete' ? toRemove : toEdit;
  }
}

// The session's directory is the first one that is looked through.
function hasRepository({ cwd, findBelow }: Action): boolean {
  return typeof findBelow?.(cwd, true, (file) => file === `${cwd}/.git`) === 'object';
}

// Looks on the disk, where the caller can.
function foundBelow(globs: readonly PathGlob[], root: string, effect: FileEffect, action: Action): string | undefined {
  // Dependencies hold manifests of their own, and removing them runs nothing.
  const wanted = effect.kind === 'walk' ? globs : globs.filter(({ source }) => source !== EXECUTABLE_CONFIG);
  if (action.findBelow === undefined || wanted.length === 0) return undefined;
  const only = [...(effect.includes ?? []), ...(effect.globs ?? []).filter((glob) => !glob.startsWith('!'))].flatMap(lastParts);
  const seesHidden = effect.kind !== 'walk' || effect.seesHidden === true;
  const found = action.findBelow(root, seesHidden, (file, kind) => {
    if (kind === 'skipped') return false;
    const name = file.slice(file.lastIndexOf('/') + 1);
    if (only.length > 0 && !only.some((glob) => glob.matches(name))) return false;
    const asPath = { path: file, written: file, folded: [file.toLowerCase()], access: 'read', evidence: 'raw' } as const;
    return wanted.some((glob) => glob.touches(asPath, action));
  });
  if (found === undefined) return undefined;
  const does = effect.kind === 'walk' ? 'reads' : effect.kind === 'move' ? 'moves' : 'deletes';
  return found === 'too many' ? `there are more files below ${effect.path} than are looked at` : `it ${does} ${found.file}`;
}

function nameFor(names: readonly string[], pattern: string): string | undefined {
  const globs = lastParts(pattern);
  return names.find((name) => globs.some((glob) => glob.matches(name)));
}

/** The part of a pattern that names files; what is special in it beyond `*` may match anything. */
function lastParts(pattern: string): readonly NameGlob[] {
  return alternativesOf(pattern).map((one) => {
    const last = one.replace(/\/+$/, '').split('/').at(-1) ?? '';
    return compileNameGlob(last.replace(/\\?[?[\](){}\\]+/g, '*'), { ignoreCase: true });
  });
}

const MAX_ALTERNATIVES = 64;

/** `*.{ts,tsx}` is `*.ts` and `*.tsx`. Nested or many alternatives may match anything. */
function alternativesOf(pattern: string): readonly string[] {
  let all = [pattern];
  while (all.some((one) => one.includes('{'))) {
    if (all.length > MAX_ALTERNATIVES || !all.every((one) => /^[^{}]*(\{[^{}]*\}[^{}]*)*$/.test(one))) return ['*'];
    all = all.flatMap((one) => {
      const [, before = '', choices, after = ''] = /^([^{}]*)\{([^{}]*)\}(.*)$/s.exec(one) ?? [];
      return choices === undefined ? [one] : choices.split(',').map((choice) => `${before}${choice}${after}`);
    });
  }
  return all;
}

function isBelow(glob: PathGlob, path: string, action: Action): boolean {
  const base = glob.base(action);
  // A rule about everything in a directory is met by the directory's own path, if at all.
  return base !== undefined && base !== action.cwd && base !== action.home && isInside(path, base);
}

// `**/.env.*` is `.env.x`, `**/id_{rsa,dsa}` is `id_rsa` and `id_dsa`.
function sampleName(source: string): readonly string[] {
  const name =
    source
      .replace(/(\/\*\*)+$/, '')
      .split('/')
      .at(-1) ?? '';
  const braces = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(name);
  const all = braces ? (braces[2] ?? '').split(',').map((choice) => `${braces[1]}${choice}${braces[3]}`) : [name];
  return all.map((one) => one.replace(/\*+|\?|\[[^\]]*\]/g, 'x')).filter((one) => one !== '' && one !== 'x' && !/[{}$]/.test(one));
}
