// Stores a link in a file that only the user can read, which redirects a browser to the link. Other users can read program arguments, and
// logs get passed around.
import { rmSync, writeFileSync } from 'node:fs';

/** Only for our own links. */
export function writeLinkFile(file: string, link: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, `<!doctype html><title>Switchboard</title><meta http-equiv="refresh" content="0; url=${link}">\n`, {
    mode: 0o600,
    flag: 'wx',
  });
}
