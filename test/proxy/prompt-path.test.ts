// How many source files a prompt and its answer pass through, by V8's own count. docs/architecture.md tells their way file by file.
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { open } from '../e2e/harness.ts';
import { able, CWD, connected, end } from './actors.ts';

const SRC = `${path.resolve(import.meta.dirname, '../../src')}${path.sep}`;
const MOST = 25;

/** Source files in which at least one function ran during `work`. */
async function filesRun(work: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage'); // counts start at zero from here
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  return result
    .filter(({ functions }) => functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0))
    .map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url))
    .filter((file) => file.startsWith(SRC))
    .map((file) => file.slice(SRC.length))
    .sort();
}

test(`a prompt and its answer pass through at most ${MOST} files, with two agents`, async () => {
  const agent = able('left');
  agent.on('session/prompt', () => end);
  const client = await connected([agent, able('right')]);
  const { id: sessionId } = await open(client, CWD, 'left');
  const prompt = () => client.call('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'hello' }] });
  await prompt();
  const files = await filesRun(async () => void (await prompt()));
  expect(files).toContain('proxy/turns/prompt.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(MOST);
});
