// The stage of test/e2e for faulty agents: processes that a test leaves running, of any generation, are found and ended afterwards.
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

/** All running processes of a stage: the stage's folder is in their environment. */
export function processesOf(stage: Stage): number[] {
  const mark = `FIXTURE_DIR=${stage.dir}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && contentOf(`/proc/${name}/environ`).split('\0').includes(mark))
    .map(Number);
}

export const agentsOf = (stage: Stage, ...clients: readonly Client[]): number[] =>
  processesOf(stage).filter((pid) => clients.every(({ child }) => child.pid !== pid));

/** A zombie counts as gone. */
export const isAlive = (pid: number): boolean => /^\d+ \(.*\) [^ZX]/s.test(contentOf(`/proc/${pid}/stat`));

export function end(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile.
  }
}

/** Waits for what has no event: a file, a foreign process, output on stderr. */
export const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 20_000, interval: 10 });

/** Empty when it is missing or unreadable. */
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

/** The number an agent has reported in `child N;`. */
export async function childOf(client: Client, sessionId: string): Promise<number> {
  const reported = await client.got(
    'session/update',
    (params) => params.sessionId === sessionId && /child \d+;/.test(textOf(params.update)),
  );
  return Number(/child (\d+);/.exec(textOf(reported.msg.params.update))?.[1]);
}

export const textOf = (update: Json): string => update?.content?.text ?? '';

/** The proxy's notices in a session, in whichever form the client supports. */
export const reportedIn = (client: Pick<Client, 'updates'>, sessionId: string): string[] =>
  client
    .updates(sessionId)
    .filter(({ sessionUpdate }) => sessionUpdate === 'notice' || sessionUpdate === 'agent_thought_chunk')
    .map((update) => (update.sessionUpdate === 'notice' ? `${update.title}. ${update.description}` : textOf(update)));

/** Messages for people go to stderr, which has no order relative to the frames. */
export const noticed = (client: Client, text: string | RegExp): Promise<void> => eventually(() => expect(client.stderr()).toMatch(text));
