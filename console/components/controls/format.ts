// Short forms of times, sizes and paths.
export function ago(at: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return 'now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return seconds < 30 * 86_400 ? `${Math.floor(seconds / 86_400)} d` : new Date(at).toLocaleDateString();
}

export function lasting(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export const short = (count: number): string =>
  count < 1000
    ? String(count)
    : count < 1_000_000
      ? `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`
      : `${(count / 1_000_000).toFixed(1)}M`;

/** The agent chooses the id, and the server needs it unchanged: only the display omits unreadable characters. */
export const shownId = (id: string): string => id.replaceAll(/[^\x20-\x7e]/g, '·');

export function amount(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const [size, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'kB'] : bytes < 1024 ** 3 ? [bytes / 1024 ** 2, 'MB'] : [bytes / 1024 ** 3, 'GB'];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** The last two segments of a path. */
export const place = (path: string): string => {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join('/')}`;
};

export const OUTSIDE = 'outside the working directory of the session';

/** Whether a path leads out of the session's directory, also through `..`. */
export function isOutside(path: string, cwd: string | undefined): boolean {
  if (cwd === undefined || cwd === '') return false;
  const [of, to] = [cwd, path.startsWith('/') ? path : `${cwd}/${path}`].map(partsOf) as [string[], string[]];
  return of.some((part, index) => to[index] !== part);
}
function partsOf(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split('/'))
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  return parts;
}

/** Relative to the session's directory, if inside. */
export function shortened(path: string, cwd: string | undefined): string {
  return cwd !== undefined && cwd !== '' && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}
