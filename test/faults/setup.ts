// The stage of test/e2e for agents with a vice: whatever a test leaves running, of whichever generation, is found and ended behind it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import { type Client, type Json, test as onStage, type Stage } from '../e2e/harness.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
export const SWITCHBOARD = path.join(ROOT, 'bin/switchboard.js');

export const test = onStage.extend<{ swept: undefined }>({
  swept: [
    async ({ stage }, use) => {
      await use(undefined);
      for (const pid of processesOf(stage)) end(pid);
    },
    { auto: true },
  ],
});

/** Everything that was started on a stage, by whomever, and still runs: the stage's folder is in its environment. */
export function processesOf(stage: Stage): number[] {
  const mark = `FIXTURE_DIR=${stage.dir}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && contentOf(`/proc/${name}/environ`).split('\0').includes(mark))
    .map(Number);
}

export const agentsOf = (stage: Stage, ...editors: readonly Client[]): number[] =>
  processesOf(stage).filter((pid) => editors.every(({ child }) => child.pid !== pid));

/** A zombie is as good as gone. */
export const isAlive = (pid: number): boolean => /^\d+ \(.*\) [^ZX]/s.test(contentOf(`/proc/${pid}/stat`));

export function end(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile.
  }
}

/** Waits for what has no event of its own: a file, a process of somebody else, words on stderr. */
export const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 20_000, interval: 10 });

/** Empty when it is not there, or not for us to read. */
export function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** How often the agent of this name was started; for fixtures that count. */
export const startsOf = (stage: Stage, name: string): number => contentOf(path.join(stage.dir, `${name}.starts`)).length;

/** The process that opened a session; our fixtures put it into the id. */
export const pidIn = (sessionId: string): number => Number(sessionId.split('-').at(-2));

/** The number an agent has told in `child N;`. */
export async function childOf(client: Client, sessionId: string): Promise<number> {
  const told = await client.got('session/update', (params) => params.sessionId === sessionId && /child \d+;/.test(textOf(params.update)));
  return Number(/child (\d+);/.exec(textOf(told.msg.params.update))?.[1]);
}

export const textOf = (update: Json): string => update?.content?.text ?? '';

/** Notices of ours in a session, in whichever shape the editor takes them. */
export const reportedIn = (client: Pick<Client, 'updates'>, sessionId: string): string[] =>
  client
    .updates(sessionId)
    .filter(({ sessionUpdate }) => sessionUpdate === 'notice' || sessionUpdate === 'agent_thought_chunk')
    .map((update) => (update.sessionUpdate === 'notice' ? `${update.title}. ${update.description}` : textOf(update)));

/** Our words for people come on stderr, which nobody orders against the frames. */
export const noticed = (client: Client, words: string | RegExp): Promise<void> => eventually(() => expect(client.stderr()).toMatch(words));
