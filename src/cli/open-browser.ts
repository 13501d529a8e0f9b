// A link in the user's browser, without a shell in between.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeDirectory } from '../private-files.ts';
import { writeLinkFile } from './link-file.ts';

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', win32: 'explorer.exe' };

/** Returns how to remove the file that leads to the link, which lies in `dir`. */
export function openBrowser(link: string, dir: string, failed: () => void): () => void {
  const file = path.join(dir, `open-console-${process.pid}.html`);
  try {
    makeDirectory(dir);
    writeLinkFile(file, link);
    const child = spawn(PROGRAMS[process.platform] ?? 'xdg-open', [pathToFileURL(file).href], { stdio: 'ignore', detached: true });
    child.once('error', failed);
    child.unref();
  } catch {
    failed();
  }
  return () => rmSync(file, { force: true });
}
