// Where a tool could go with a path or a pattern it is given. Tools differ in what they expand, so that whatever some of them would, is a doubt.

/** Why it may lead elsewhere than it says; undefined for a plain path. */
export function pathDoubt(path: string): string | undefined {
  if (path.includes('\0')) return 'a path with a character that ends it elsewhere';
  if (/^~[^/\\]/.test(path)) return 'the home directory of somebody';
  if (/^\$(\w+|\{\w+\})([\\/]|$)|^%\w+%/.test(path)) return 'a path that begins with a variable';
  return /(^|\\)\.\.(\\|$)/.test(path) ? 'a path that leads upwards on Windows' : undefined;
}

export const isFileUri = (value: string): boolean => /^file:/i.test(value);

/** The files that a `file:` address can mean: as readers of addresses take it, and as those do that cut off its beginning. */
export function filesOfUri(uri: string): { readonly paths: readonly string[]; readonly doubt?: string } {
  const rest = uri.replace(/^file:(\/\/(localhost(?=\/))?)?/i, '');
  try {
    const { host, pathname } = new URL(uri);
    const paths = [...new Set([decodeURIComponent(pathname), rest])];
    return host === '' ? { paths } : { paths, doubt: 'a file of another machine' };
  } catch {
    return { paths: [rest], doubt: 'an address that cannot be read' };
  }
}

/** The directory in which a pattern of file names begins, when it is not simply the one that is searched. */
export function startOfPattern(pattern: string): { readonly path: string; readonly doubt?: string } | undefined {
  if (!/^([\\/~]|[A-Za-z]:[\\/])/.test(pattern) && !pattern.split(/[\\/]/).includes('..')) return undefined;
  const fixed = /^[^*?[{(!]*/.exec(pattern)?.[0] ?? '';
  const path = fixed === pattern ? fixed : fixed.slice(0, fixed.lastIndexOf('/') + 1);
  const goesUp = pattern.slice(fixed.length).split(/[\\/]/).includes('..');
  return { path: path === '' ? '.' : path, ...(goesUp && { doubt: 'a pattern that leads upwards' }) };
}
