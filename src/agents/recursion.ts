// Whether a command is the switchboard's own proxy: as an agent it would start itself without end.
import path from 'node:path';

const OUR_NAMES = ['switchboard', 'acp-switchboard'];
/** Options of ours that take the next word. */
const WITH_VALUE = ['--config', '--agent', '--policy', '--policy-mode', '--auth', '--record'];

/** True for `switchboard`, `switchboard acp`, `node …/bin/switchboard.js acp`, `npx acp-switchboard acp`; not for other commands of ours. */
export function isOurProxy(command: string, args: readonly string[]): boolean {
  const at = [command, ...args].findIndex(isOurProgram);
  if (at === -1) return false;
  // In front of our name stand only a runner and its options.
  if (at > 0 && !(RUNNERS.includes(plainName(command)) && args.slice(0, at - 1).every(isForRunner))) return false;
  const word = firstWord(args.slice(at));
  return word === undefined || word === 'acp';
}

const RUNNERS = ['node', 'nodejs', 'npx', 'bun', 'bunx', 'deno', 'pnpm', 'pnpx', 'yarn', 'env'];
const isForRunner = (word: string): boolean => /^-|^\w+=|^(?:dlx|exec|run|x)$/.test(word);
const isOurProgram = (word: string): boolean => OUR_NAMES.includes(plainName(word));

/** `C:\\x\\switchboard.cmd` and `acp-switchboard@0.1.0` without what does not matter. */
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

/** How many switchboards, each an agent of the next, there are above this process. */
export const DEPTH = 'SWITCHBOARD_DEPTH';
/** One inside an agent of another is somebody's test; this many are a loop through a wrapper. */
export const MAX_DEPTH = 4;

export function depthOf(env: NodeJS.ProcessEnv): number {
  const depth = Number(env[DEPTH] ?? 0);
  return Number.isSafeInteger(depth) && depth >= 0 ? depth : 0;
}
