// What holds whatever makes the state directory unusable.
import { expect } from 'vitest';
import { type Editor, fixture, hello, open, prompt, type Stage } from '../e2e/harness.ts';
import { agentsOf, noticed } from './setup.ts';

/** Two agents, and a state directory that cannot be used: one notice, and the traffic goes on. */
export async function goesOnWithout(stage: Stage, home: string): Promise<Editor> {
  const editor = stage.proxy({ one: fixture('works', 'one'), two: fixture('works', 'two') }, { env: { SWITCHBOARD_HOME: home } });
  await hello(editor);
  const sessions = [await open(editor, stage.cwd, 'one'), await open(editor, stage.cwd, 'two'), await open(editor, stage.cwd, 'two')];
  for (const { id } of sessions) expect((await prompt(editor, id, 'hello')).result).toEqual({ stopReason: 'end_turn' });
  await noticed(editor, /state directory .* cannot be used/);
  expect(await editor.close()).toBe(0);
  expect(editor.stderr().match(/cannot be used/g)).toHaveLength(1);
  expect(agentsOf(stage, editor)).toEqual([]);
  return editor;
}
