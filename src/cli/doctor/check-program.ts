// Checks switchboard itself: the Node version, the installation, the clock, the age of the agent catalogue.
import { statSync } from 'node:fs';
import path from 'node:path';
import { bundledDate, isSingleExecutable, packageFile } from '../../app/package-files.ts';
import { readPackage } from '../../setup/find-program.ts';
import { temporaryInstall } from '../setup/connect.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const DAY_MS = 86_400_000;
const CATALOGUE_DAYS = 180;

export function checkProgram(): Finding[] {
  return [checkNode(process.version), checkPlace(), checkClock(Date.now()), checkCatalogue(bundledDate(), Date.now())];
}

/** Agents release a version every few weeks, and change their name now and then. */
export function checkCatalogue(date: string, now: number): Finding {
  const days = Math.floor((now - Date.parse(date)) / DAY_MS);
  if (days <= CATALOGUE_DAYS) return ok('catalogue', `the agent catalogue is from ${date}`);
  return warning(
    'catalogue',
    `the agent catalogue is ${days} days old`,
    'agents added from it may be outdated',
    'update switchboard; agents from the registry: switchboard agents update',
  );
}

function checkNode(version: string): Finding {
  const wanted = readPackage(path.dirname(packageFile('package.json')))?.engines?.node ?? '';
  const [, least = '0.0'] = /^>=([\d.]+)/.exec(wanted) ?? [];
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok('node', `Node ${version} (required: ${wanted})`);
  return problem(
    'node',
    `Node ${version} is too old`,
    `switchboard needs Node ${wanted}`,
    'install a newer Node, then run switchboard doctor with it',
  );
}

function checkPlace(): Finding {
  const passing = temporaryInstall();
  const place = isSingleExecutable() ? process.execPath : path.dirname(path.dirname(packageFile('bin', 'switchboard.js')));
  if (passing === undefined) return ok('place', `installed in ${place}`);
  return warning(
    'place',
    passing,
    'an editor that starts switchboard from there will fail when npm deletes it',
    'npm install --global acp-switchboard',
  );
}

/** A clock before the installation date is wrong, and so are records and timeouts. */
function checkClock(now: number): Finding {
  const installed = statSync(packageFile('bin', 'switchboard.js')).mtimeMs;
  if (now >= installed - DAY_MS) return ok('clock', `the system time is ${new Date(now).toISOString()}`);
  return warning(
    'clock',
    `the system time is ${new Date(now).toISOString()}`,
    'this is before switchboard was installed; logs get wrong dates',
    'date',
  );
}
