// A link in the user's browser, without a shell in between. Other users of the machine can read the arguments of programs, so the browser is
// given a private file that leads on to the link.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', win32: 'explorer.exe' };

/** Only ever for our own links. Returns how to remove the file, which lies in `dir`. */
export function openBrowser(link: string, dir: string, failed: () => void): () => void {
  const file = path.join(dir, `open-console-${process.pid}.html`);
  const remove = () => rmSync(file, { force: true });
  try {
    remove();
    writeFileSync(file, `<!doctype html><title>Switchboard</title><meta http-equiv="refresh" content="0; url=${link}">\n`, {
      mode: 0o600,
      flag: 'wx',
    });
    const child = spawn(PROGRAMS[process.platform] ?? 'xdg-open', [pathToFileURL(file).href], { stdio: 'ignore', detached: true });
    child.once('error', failed);
    child.unref();
  } catch {
    failed();
  }
  return remove;
}
