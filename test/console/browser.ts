// A real browser: Debian's Chromium, installed when it is missing and that is possible. One for all tests of a file.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const find = (): string | undefined => [process.env.CHROMIUM ?? '', ...PLACES].find((place) => place !== '' && existsSync(place));

function install(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) return undefined;
  const apt = (...args: string[]) =>
    execFileSync('apt-get', args, { stdio: 'ignore', timeout: 240_000, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });
  try {
    apt('install', '-y', '--no-install-recommends', 'chromium');
  } catch {
    // Its lists of packages may be old, or not there at all.
    try {
      apt('update');
      apt('install', '-y', '--no-install-recommends', 'chromium');
    } catch {
      return undefined;
    }
  }
  return find();
}

export const program = find() ?? install();

if (program === undefined)
  process.stderr.write(
    '\n\n  THE CONSOLE IS NOT TESTED IN A BROWSER: there is no Chromium here, and it could not be installed.\n  apt-get install chromium, or set CHROMIUM to one.\n\n',
  );

export const startBrowser = (): Promise<Browser> => chromium.launch({ executablePath: program as string, args: FLAGS });
