// A disk in memory: paths and what is there. A directory exists if something is in it.
import path from 'node:path/posix';
import type { Disk } from '../../src/sandbox/profile/profile.ts';

/** The content of files; `-> target` is a link, a path that ends in `/` is a directory. */
export function fakeDisk(files: Readonly<Record<string, string>>): Disk {
  const entries = new Map<string, { kind: 'file' | 'directory' | 'link'; text: string }>([['/', { kind: 'directory', text: '' }]]);
  for (const [name, text] of Object.entries({ '/tmp/': '', '/var/tmp/': '', ...files })) {
    const file = name.replace(/\/$/, '');
    for (let at = path.dirname(file); !entries.has(at); at = path.dirname(at)) entries.set(at, { kind: 'directory', text: '' });
    entries.set(file, { kind: name.endsWith('/') ? 'directory' : text.startsWith('-> ') ? 'link' : 'file', text });
  }
  const real = (file: string): string | undefined => {
    const found = entries.get(file);
    if (found?.kind === 'link') return real(path.resolve(path.dirname(file), found.text.slice(3)));
    if (found) return file;
    const parent = path.dirname(file);
    const above = parent === file ? undefined : real(parent);
    return above === undefined || above === parent ? undefined : real(path.join(above, path.basename(file)));
  };
  return {
    kindOf: (file) => entries.get(file)?.kind,
    real,
    list: (directory) =>
      [...entries].flatMap(([file, { kind }]) =>
        path.dirname(file) === directory && file !== '/' ? [{ name: path.basename(file), kind }] : [],
      ),
    read: (file) => entries.get(file)?.text,
  };
}
