// Paths as text: absolute, normalised and comparable. The caller resolves symlinks (`Place.canonical`).

const DRIVE = /^[A-Za-z]:[\\/]/;

export function isAbsolute(path: string): boolean {
  return path.startsWith('/') || DRIVE.test(path) || path.startsWith('\\\\');
}

// An empty, `.` or `..` part, or a trailing slash.
const NEEDS_WORK = /\/\.{0,2}(?:\/|$)/;

/**
 * `base` joined with `path`, without `.`, `..`, doubled or trailing slashes. Backslashes separate only after a drive letter or in a share.
 */
export function resolvePath(base: string, path: string): string {
  const full = isAbsolute(path) ? path : `${base}/${path}`;
  if (!NEEDS_WORK.test(full) && full.startsWith('/')) return nfc(full);
  const slashed = DRIVE.test(full) || full.startsWith('\\\\') ? full.replaceAll('\\', '/') : full;
  const drive = DRIVE.test(slashed) ? slashed.slice(0, 2).toUpperCase() : '';
  const parts: string[] = [];
  for (const part of slashed.slice(drive.length).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return nfc(`${drive}/${parts.join('/')}`);
}

/** Whether `path` is `root` or below it. A sibling with the same prefix (`/root-evil`) is not. */
export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`);
}

/** `é` can be one character or two, and file systems differ in which they return. */
export function nfc(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII is the common case and needs no work
  return /^[\x00-\x7f]*$/.test(text) ? text : text.normalize('NFC');
}

/** The host of a URL: lower case, without port, user or password; undefined if it has none. */
export function hostOf(url: string): string | undefined {
  try {
    const { hostname } = new URL(url);
    return hostname === '' ? undefined : hostname.toLowerCase().replace(/\.$/, '');
  } catch {
    return undefined;
  }
}
