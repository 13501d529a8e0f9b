// A link in a file that only the user can read. Other users of the machine can read the arguments of programs, and logs are passed around;
// a browser that is given the file is led on to the link.
import { rmSync, writeFileSync } from 'node:fs';

/** Only ever for our own links. */
export function writeLinkFile(file: string, link: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, `<!doctype html><title>Switchboard</title><meta http-equiv="refresh" content="0; url=${link}">\n`, {
    mode: 0o600,
    flag: 'wx',
  });
}
