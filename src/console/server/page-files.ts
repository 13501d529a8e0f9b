// The page's own files: read once, served from memory, each under its name and no other.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export type PageFile = { readonly type: string; readonly bytes: Buffer };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** By the path it is asked for. */
export function readPageFiles(dir: string): ReadonlyMap<string, PageFile> {
  const files = readdirSync(dir).flatMap((name): [string, PageFile][] => {
    const type = TYPES[path.extname(name)];
    if (type === undefined) return [];
    return [[name === 'index.html' ? '/' : `/${name}`, { type, bytes: readFileSync(path.join(dir, name)) }]];
  });
  return new Map(files);
}
