import { mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { AgentSpec } from '../../../src/agents/defaults.ts';
import { createFiles } from '../../../src/cli/run/files.ts';
import { removeDirectory } from '../../remove-directory.ts';

const cwd = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-files-')));
afterAll(() => removeDirectory(cwd));

const read = (command: string, args: readonly string[]) => {
  const files = createFiles(cwd, { canWrite: true, canReadAll: false, agent: { command, args } as AgentSpec });
  return files.serve('fs/read_text_file', { sessionId: 's', path: path.join(cwd, 'new.txt') });
};

test('a missing file is an error', async () => {
  await expect(read('claude-agent-acp', [])).rejects.toMatchObject({ code: -32002 });
});

test('and no text for gemini, which creates no file after the error', async () => {
  expect(await read('npx', ['-y', '@google/gemini-cli@0.61.0', '--acp'])).toEqual({ content: '' });
});
