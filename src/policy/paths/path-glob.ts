// Globs over canonical paths: `$cwd/src/**`, `$home/.ssh/**`, `**/.env`.

import type { AskedPath } from '../actions/action.ts';
import { compileGlob, type Glob, type WrongGlob } from './glob.ts';
import { nfc } from './path.ts';

export type Roots = { readonly cwd: string; readonly home: string | undefined };

export type PathGlob = {
  readonly source: string;
  /** For allow: case counts. */
  matches(path: string, roots: Roots): boolean;
  /** For deny and ask: case does not, since on many disks `.ENV` is the same file as `.env`. */
  touches(path: AskedPath, roots: Roots): boolean;
};

const MAX_LENGTH = 1000;
const ROOT = /^(\$cwd|\$home|~)(?=\/|$)/;

/** Undefined with the reason when the text is no usable glob. */
export function compilePathGlob(source: string): PathGlob | WrongGlob {
  if (source.length > MAX_LENGTH) return { wrong: `a glob may have at most ${MAX_LENGTH} characters` };
  const root = ROOT.exec(source)?.[1];
  const isAnchored = root !== undefined || source.startsWith('/') || source.startsWith('**') || /^[A-Za-z]:\//.test(source);
  if (!isAnchored) return { wrong: 'a path starts with $cwd/, $home/, / or **/', hint: 'for a path in the project write $cwd/ before it' };
  if (source.slice(root?.length ?? 0).includes('$'))
    return { wrong: 'only $cwd and $home, and only at the beginning, stand for a directory' };
  if (source.split('/').includes('..')) return { wrong: 'a path is compared in its canonical form, so ".." never matches' };
  const rest = nfc(source.slice(root === undefined ? 0 : root.length + 1));
  const literal = longestLiteral(rest);
  const exact = compile(rest, false);
  const loose = compile(rest, true);
  if (typeof exact !== 'function') return exact;
  if (typeof loose !== 'function') return loose;
  // The root is compared as text, so that a directory with brackets in its name is no pattern, and one compilation serves all sessions.
  const below = (path: string, roots: Roots): string | undefined => {
    if (root === undefined) return path;
    const start = root === '$cwd' ? roots.cwd : roots.home;
    if (start === undefined || !path.startsWith(start)) return undefined;
    if (path.length === start.length) return '';
    return start === '/' ? path.slice(1) : path[start.length] === '/' ? path.slice(start.length + 1) : undefined;
  };
  const test = (match: (path: string) => boolean, path: string, roots: Roots): boolean => {
    const part = below(path, roots);
    if (part === undefined) return false;
    return part === '' && root !== undefined ? rest === '' || rest === '**' : match(part);
  };
  return {
    source,
    matches: (path, roots) => test(exact, path, roots),
    // Most paths lack the literal part of most globs, and to find that out is far cheaper than the glob itself.
    touches({ path, written, folded: [lower, alsoLower] }, roots) {
      if (!lower.includes(literal) && !(alsoLower?.includes(literal) ?? false)) return false;
      return test(loose, path, roots) || (written !== path && test(loose, written, roots));
    },
  };
}

// The longest stretch of a glob that every match must hold. Braces and brackets are alternatives, so what is in them does not count.
function longestLiteral(glob: string): string {
  const flat = glob.toLowerCase().replace(/\{[^{}]*\}|\[[^\]]*\]|[@!+?*]?\([^()]*\)/g, '*');
  if (/[{}[\]()\\]/.test(flat)) return '';
  // `**/` may stand for nothing at all, slash included.
  const stretches = flat
    .replaceAll('**/', '*')
    .replaceAll('/**', '*')
    .split(/[*?!]+/);
  return stretches.reduce((longest, stretch) => (stretch.length > longest.length ? stretch : longest), '');
}

function compile(glob: string, ignoreCase: boolean): Glob | WrongGlob {
  if (glob === '') return (path) => path === '';
  return glob === '**' ? () => true : compileGlob(glob, { ignoreCase });
}
