// A tool call that has completed stays completed, also when its agent sends more about it.
import path from 'node:path';
import { describe, expect } from 'vitest';
import { readTranscript } from '../../src/store/transcripts/transcript-files.ts';
import { type Client, fixture, open, prompt, type Stage, test } from './harness.ts';

const AGENTS = { agent: fixture('real-agents/updates-after-completed', 'agent') };

const statuses = (client: Client, id: string) => client.updates(id, 'tool_call_update').flatMap(({ status }) => status ?? []);
const toolsIn = (stage: Stage, id: string) =>
  readTranscript(path.join(stage.state, 'transcripts'), id)?.filter(({ kind }) => kind === 'tool');

describe('an update without a status after the call has completed', () => {
  test('does not make it fail when the agent exits', async ({ stage }) => {
    const client = await stage.connect(AGENTS);
    const { id } = await open(client, stage.cwd);
    expect((await prompt(client, id, 'crash')).error.message).toContain('exited');
    expect(statuses(client, id)).toEqual(['completed']);
  });

  test('does not make it fail when the client leaves, nor open it again in the transcript', async ({ stage }) => {
    const client = await stage.connect(AGENTS);
    const { id } = await open(client, stage.cwd);
    await prompt(client, id, 'go');
    expect(await client.close()).toBe(0);
    expect(statuses(client, id)).toEqual(['completed']);
    expect(toolsIn(stage, id)).toMatchObject([{ toolCallId: 'c1', status: 'completed' }]);
  });
});
