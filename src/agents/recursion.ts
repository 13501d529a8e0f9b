// Detects a command that starts this proxy: as an agent it would start itself recursively.
import path from 'node:path';

const OUR_NAMES = ['switchboard', 'acp-switchboard'];
/** Our options that take a value. */
const WITH_VALUE = ['--config', '--agent', '--policy', '--policy-mode', '--auth', '--record'];

/**
 * True for `switchboard`, `switchboard acp`, `node …/bin/switchboard.js acp` and `npx acp-switchboard acp`; false for our other commands.
 */
export function isOurProxy(command: string, args: readonly string[]): boolean {
  const at = [command, ...args].findIndex(isOurProgram);
  if (at === -1) return false;
  // Only a runner and its options may precede our name.
  if (at > 0 && !(RUNNERS.includes(plainName(command)) && args.slice(0, at - 1).every(isForRunner))) return false;
  const word = firstWord(args.slice(at));
  return word === undefined || word === 'acp';
}

const RUNNERS = ['node', 'nodejs', 'npx', 'bun', 'bunx', 'deno', 'pnpm', 'pnpx', 'yarn', 'env'];
const isForRunner = (word: string): boolean => /^-|^\w+=|^(?:dlx|exec|run|x)$/.test(word);
const isOurProgram = (word: string): boolean => OUR_NAMES.includes(plainName(word));

/** `switchboard` for `C:\\x\\switchboard.cmd` and `acp-switchboard@0.1.0`. */
function plainName(word: string): string {
  const name = path.posix.basename(word.replaceAll('\\', '/'));
  return name.replace(/(?<=.)@.*$/, '').replace(/\.(?:js|exe|cmd|ps1)$/i, '');
}

function firstWord(words: readonly string[]): string | undefined {
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (WITH_VALUE.includes(word)) index++;
    else if (!word.startsWith('-')) return word;
  }
  return undefined;
}

/** The number of switchboards above this process, each an agent of the next. */
export const DEPTH = 'SWITCHBOARD_DEPTH';
/** One level of nesting may be a test; this many are a loop through a wrapper script. */
export const MAX_DEPTH = 4;

export function depthOf(env: NodeJS.ProcessEnv): number {
  const depth = Number(env[DEPTH] ?? 0);
  return Number.isSafeInteger(depth) && depth >= 0 ? depth : 0;
}
