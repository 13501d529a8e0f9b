// git's own notions of a file: `HEAD:path`, `:0:path`, pathspecs with magic, line ranges.

export type GitPath = {
  readonly path: string;
  /** From the repository's root instead of the directory that git runs in. */
  readonly isFromRoot: boolean;
  readonly isPattern: boolean;
};
export type GitReading = { readonly paths: readonly GitPath[] } | { readonly reason: string };

const NOTHING: GitReading = { paths: [] };

/** A word that may name a revision or a file counts as both. */
export function readRevisionOrPath(text: string): GitReading {
  const colon = colonOutsideBraces(text);
  if (colon === -1) return { paths: [plain(text, false)] };
  // `:/text` finds a commit by its message, or names a file at the root. `:x` is a pathspec or a file in the index.
  if (colon === 0) return readPathspec(text.replace(/^:[0-3]:/, ':/'), true);
  const path = text.slice(colon + 1);
  return { paths: [plain(path, !/^\.\.?(\/|$)/.test(path)), ...(text.includes('*') ? [] : [plain(text, false)])] };
}

export function readPathspec(text: string, isIndex = false): GitReading {
  if (!text.startsWith(':')) return { paths: [plain(text, false)] };
  // Alone it stands for everything else.
  if (/^:[!^]/.test(text) || /^:\(exclude\)/.test(text)) return { paths: [plain('', false)] };
  const top = /^:(?:\/|\(top\))(.*)$/s.exec(text);
  if (top) return { paths: [plain(top[1] ?? '', true)] };
  if (isIndex && /^:[^(!^:]/.test(text)) return { paths: [plain(text.slice(1), true)] };
  return { reason: 'a pathspec with magic that is not known' };
}

/** `10,20:file`, `:function:file`, or only the range. */
export function readLineRange(text: string): GitReading {
  const colon = text.lastIndexOf(':');
  if (/^[\d,+-]*$/.test(text)) return NOTHING;
  if (/^\d+(,[+-]?\d+)?:|^,\d+:/.test(text)) return { paths: [plain(text.slice(text.indexOf(':') + 1), false)] };
  if (text.startsWith(':') && colon > 0) return { paths: [plain(text.slice(colon + 1), false)] };
  return { reason: 'a line range that is not understood' };
}

const plain = (path: string, isFromRoot: boolean): GitPath => ({
  path: path === '' ? '.' : path,
  isFromRoot,
  isPattern: /[*?[\\]/.test(path),
});

// `HEAD@{10:00}:path`: the first colon belongs to the date.
function colonOutsideBraces(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{') depth++;
    // As git counts: a bracket that closes nothing is text, `HEAD^{/a}b}:path`.
    else if (text[at] === '}' && depth > 0) depth--;
    else if (text[at] === ':' && depth === 0) return at;
  }
  return -1;
}
