// Adds a line to a file: reads it, shows the diff, requests permission, writes. All through the client.
import path from 'node:path';
import { methods, RequestError } from '@agentclientprotocol/sdk';
import { requestPermission } from '../request-permission.ts';
import type { Turn } from '../turn.ts';
import { type Scenario, ScenarioFailure } from './scenario.ts';

const RESOURCE_NOT_FOUND = -32002;

export const edit: Scenario = async (turn, { rest }) => {
  if (rest === '') throw new ScenarioFailure('Which file? Try /edit notes.txt.');
  const { readTextFile, writeTextFile } = turn.clientCapabilities.fs ?? {};
  // Writing without reading first would discard the file's content.
  if (readTextFile !== true || writeTextFile !== true) throw new ScenarioFailure('I am sorry, your editor lets me change no files.');
  const { sessionId, cwd, turns } = turn.session.record;
  const file = path.resolve(cwd, rest);

  await turn.think(`${turn.profile.thoughts[0]} I read ${rest} before I touch it.`);
  const call = { title: `Edit ${rest}`, kind: 'edit' as const, locations: [{ path: file }], rawInput: { path: file } };
  const shown = await turn.toolCall({ ...call, status: 'pending' });
  const oldText = await readIfThere(turn, file);
  const newText = `${oldText ?? ''}${turn.profile.title} was here in turn ${turns}.\n`;
  const content = [{ type: 'diff' as const, path: file, oldText, newText }];
  await shown.update({ content });

  if (!(await requestPermission(turn, { toolCallId: shown.toolCallId, ...call, status: 'pending', content }))) {
    await shown.update({ status: 'failed' });
    await turn.send(`As you wish: I left ${rest} as it was.`);
    return;
  }
  await shown.update({ status: 'in_progress' });
  await turn.request(methods.client.fs.writeTextFile, { sessionId, path: file, content: newText });
  await shown.update({ status: 'completed' });
  await turn.send(`Done: ${rest} has one more line.`);
};

async function readIfThere(turn: Turn, file: string): Promise<string | null> {
  try {
    const { sessionId } = turn.session.record;
    return (await turn.request(methods.client.fs.readTextFile, { sessionId, path: file })).content;
  } catch (error) {
    // Only this means that the file is new. After any other error it may exist, and writing would lose its text.
    if (error instanceof RequestError && isMissing(error)) return null;
    throw error;
  }
}

/** The code for it, or what clients built on the SDK (acpx) make of the system's error. */
function isMissing({ code, data }: RequestError): boolean {
  const { details } = (data ?? {}) as { details?: unknown };
  return code === RESOURCE_NOT_FOUND || (typeof details === 'string' && details.startsWith('ENOENT'));
}

// Reads through the client, never from the disk: the client may have unsaved changes, or run on another machine.
export const read: Scenario = async (turn, { rest }) => {
  if (rest === '') throw new ScenarioFailure('Which file? Try /read notes.txt.');
  if (turn.clientCapabilities.fs?.readTextFile !== true) throw new ScenarioFailure('I am sorry, your editor lets me read no files.');
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
  await turn.send(`${rest} has ${content.split('\n').length} lines and ${content.length} characters.`);
};
