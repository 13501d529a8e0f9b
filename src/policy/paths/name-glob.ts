// Globs over names: agents, tools, `server:tool`, hosts. A `*` matches any characters; nothing else is special.

export type NameGlob = { readonly source: string; matches(name: string): boolean };

export function compileNameGlob(source: string, { ignoreCase = false } = {}): NameGlob {
  if (!source.includes('*')) {
    const wanted = ignoreCase ? source.toLowerCase() : source;
    return { source, matches: (name) => (ignoreCase ? name.toLowerCase() : name) === wanted };
  }
  const parts = source.split('*').map((part) => (ignoreCase ? part.toLowerCase() : part));
  return { source, matches: (name) => matchParts(parts, ignoreCase ? name.toLowerCase() : name) };
}

// Not a regular expression: several stars in one could take exponential time.
function matchParts(parts: readonly string[], name: string): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, from);
    if (found === -1) return false;
    from = found + part.length;
  }
  return from + last.length <= name.length;
}

/** `example.com` matches only that host, `*.example.com` every host below it (not `evil-example.com`). */
export function compileHost(source: string): NameGlob | { readonly wrong: string; readonly hint?: string } {
  if (!/^(\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9a-fA-F:.]+\])$/.test(source))
    return { wrong: 'expected a host such as example.com or *.example.com, without scheme, port or path' };
  const wanted = source.toLowerCase();
  if (wanted === '*') return { source, matches: () => true };
  if (!wanted.startsWith('*.')) return { source, matches: (host) => host === wanted };
  return { source, matches: (host) => host.endsWith(wanted.slice(1)) && host.length > wanted.length - 1 };
}
