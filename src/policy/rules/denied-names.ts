// What deny and ask rules say about files that a command reaches without naming them: below a directory, or through a pattern.
import type { Action, Operand } from '../actions/action.ts';
import type { FileEffect } from '../commands/effect.ts';
import { compileNameGlob, type NameGlob } from '../paths/name-glob.ts';
import { isInside } from '../paths/path.ts';
import type { PathGlob } from '../paths/path-glob.ts';
import type { LayeredRule } from '../policy.ts';

export type DeniedNames = {
  /** Why a walk or a pattern may reach a file that a rule denies; undefined if it cannot. */
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

function create(strict: readonly LayeredRule[]): DeniedNames {
  const globs = strict
    .filter(
      ({ rule, layer }) => layer !== 'built-in' && (rule.actions === undefined || rule.actions.has('read') || rule.actions.has('search')),
    )
    .flatMap(({ rule }) => rule.paths ?? []);
  const names = [...new Set(globs.flatMap(({ source }) => sampleName(source)))];
  const nameFor = (pattern: string): string | undefined => {
    const glob = lastPart(pattern);
    return names.find((name) => glob.matches(name));
  };
  return {
    reachedBy({ effect, path, written }, action) {
      if (effect === undefined) return undefined;
      if (effect.isPattern) {
        const name = nameFor(effect.path);
        return name === undefined ? undefined : `the pattern ${effect.path} may match ${name}`;
      }
      if (effect.kind !== 'walk' || effect.isTracked) return undefined;
      const below = globs.find((glob) => isBelow(glob, path, action) || isBelow(glob, written, action));
      if (below !== undefined) return `it may reach ${below.source}`;
      const hidden = effect.isWidened ? names.find((name) => name.startsWith('.')) : undefined;
      if (hidden !== undefined) return `it reads hidden files, such as ${hidden}`;
      for (const glob of effect.globs ?? []) {
        const name = glob.startsWith('!') ? undefined : nameFor(glob);
        if (name !== undefined) return `the pattern ${glob} may match ${name}`;
      }
      return foundBelow(path, effect, action);
    },
  };

  // Looks on the disk, where the caller can.
  function foundBelow(root: string, effect: FileEffect, action: Action): string | undefined {
    if (action.findBelow === undefined || globs.length === 0) return undefined;
    const only = [...(effect.includes ?? []), ...(effect.globs ?? []).filter((glob) => !glob.startsWith('!'))].map(lastPart);
    const found = action.findBelow(root, effect.seesHidden === true, (file) => {
      const name = file.slice(file.lastIndexOf('/') + 1);
      if (only.length > 0 && !only.some((glob) => glob.matches(name))) return false;
      const asPath = { path: file, written: file, folded: [file.toLowerCase()], access: 'read', evidence: 'raw' } as const;
      return globs.some((glob) => glob.touches(asPath, action));
    });
    if (found === undefined) return undefined;
    return found === 'too many' ? `there are more files below ${effect.path} than are looked at` : `it reads ${found.file}`;
  }
}

/** The part of a pattern that names files; what is special in it beyond `*` may match anything. */
function lastPart(pattern: string): NameGlob {
  const last = pattern.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return compileNameGlob(last.replace(/\\?[?[\]{}\\]+/g, '*'), { ignoreCase: true });
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
