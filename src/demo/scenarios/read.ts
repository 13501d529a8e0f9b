// Reads a file through the client, never from the disk: the client may hold unsaved changes, or be on another machine.
import path from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import type { Scene } from './scenario.ts';
import { SceneFailure } from './scene-failure.ts';

export const read: Scene = async (turn, { rest }) => {
  if (rest === '') throw new SceneFailure('Which file? Try /read notes.txt.');
  if (turn.clientCapabilities.fs?.readTextFile !== true) throw new SceneFailure('I am sorry, your editor lets me read no files.');
  const { sessionId, cwd } = turn.session.record;
  const file = path.resolve(cwd, rest);

  const shown = await turn.toolCall({
    title: `Read ${rest}`,
    kind: 'read',
    status: 'in_progress',
    locations: [{ path: file }],
    rawInput: { path: file },
  });
  const { content } = await turn.request(methods.client.fs.readTextFile, { sessionId, path: file });
  await shown.update({ status: 'completed', content: [{ type: 'content', content: { type: 'text', text: content } }] });
  await turn.say(`${rest} has ${content.split('\n').length} lines and ${content.length} characters.`);
};
