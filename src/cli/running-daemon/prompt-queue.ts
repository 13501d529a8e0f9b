// `switchboard sessions queue SESSION`: the prompts that wait for the end of the turn, in the daemon; one of them can get another text, or be removed.
import { withoutControls } from '../../control-characters.ts';
import { CommandFailure } from '../failure.ts';
import { notice, printJson, printTable } from '../output.ts';
import { findSession, queuedIn } from '../records/sessions.ts';
import { surroundings } from '../resolve-config.ts';
import { runningDaemon } from './daemon-file.ts';
import { localToken } from './local-token.ts';

export type QueueFlags = { readonly edit?: string; readonly remove?: string; readonly json?: true };

type Waiting = { readonly number: number; readonly text: string };

const ANSWER_MS = 10_000;

export async function sessionQueue(id: string, words: readonly string[], { edit, remove, json }: QueueFlags): Promise<number> {
  const text = words.join(' ');
  if (edit !== undefined && remove !== undefined) throw new CommandFailure(2, '--edit and --remove exclude each other');
  if (edit === undefined && text !== '') throw new CommandFailure(2, 'a text needs --edit N', 'N is the number of a prompt in the list');
  if (edit !== undefined && text.trim() === '')
    throw new CommandFailure(
      2,
      '--edit needs the new text',
      `such as: switchboard sessions queue ${id} --edit ${edit} run the tests first`,
    );
  const number = edit ?? remove;
  if (number !== undefined && !/^\d{1,15}$/.test(number))
    throw new CommandFailure(2, `invalid number "${withoutControls(number)}"`, 'use the number of a prompt in the list');
  const { stateDir } = surroundings({});
  const { sessionId } = findSession(id);
  const daemon = runningDaemon(stateDir);
  if (!daemon)
    throw new CommandFailure(4, 'no daemon runs', 'prompts of an editor without a daemon are changed in that editor, or in its console');
  const ask = (method: string, more = '', body?: string) =>
    asked(`${daemon.address}/daemon/queue?session=${encodeURIComponent(sessionId)}${more}`, method, localToken(stateDir), body);
  const before = await ask('GET');
  if (number !== undefined) {
    const prompt = before?.find((one) => one.number === Number(number));
    const after =
      prompt && (await ask(edit === undefined ? 'DELETE' : 'PUT', `&prompt=${prompt.number}`, edit === undefined ? undefined : text));
    if (!after)
      throw new CommandFailure(
        4,
        `prompt ${number} does not wait in this session`,
        `to see those that wait, run: switchboard sessions queue ${id}`,
      );
    if (json) printJson({ sessionId, [edit === undefined ? 'removed' : 'edited']: prompt, prompts: after });
    else
      process.stdout.write(`${edit === undefined ? 'removed' : 'edited'}: ${withoutControls(edit === undefined ? prompt.text : text)}\n`);
    return 0;
  }
  const prompts = before ?? [];
  if (json) printJson({ sessionId, prompts });
  else if (prompts.length > 0)
    printTable(
      ['NUMBER', 'PROMPT'],
      prompts.map((one) => [String(one.number), withoutControls(one.text.replaceAll(/\s*\n\s*/g, ' '))]),
    );
  else if (queuedIn(sessionId).length > 0)
    notice('the prompts of this session wait in an editor without a daemon: change them there, or in its console');
  else notice('no prompt waits in this session');
  return 0;
}

/** What waits afterwards. Undefined if the prompt does not wait any more. */
async function asked(url: string, method: string, token: string, body: string | undefined): Promise<readonly Waiting[] | undefined> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => {
    throw new CommandFailure(1, 'the daemon does not answer', 'to see whether it runs: switchboard serve status');
  });
  if (answer.ok) return ((await answer.json()) as { readonly prompts: readonly Waiting[] }).prompts;
  if (answer.status === 404) return undefined;
  throw new CommandFailure(1, `the daemon refuses: ${(await answer.text()).trim()}`, 'to see whether it runs: switchboard serve status');
}
