// Where the prompt comes from: the words of the command line, else stdin to its end.
import { text } from 'node:stream/consumers';
import { CommandFailure } from '../failure.ts';

const RUN = 'switchboard run "your prompt"';

export async function promptWords(words: readonly string[], stdin: NodeJS.ReadStream, usage = RUN): Promise<string> {
  const said = words.join(' ');
  if (said.trim() !== '') return said;
  if (words.length > 0) throw new CommandFailure(2, 'the prompt is empty', usage);
  if (stdin.isTTY)
    throw new CommandFailure(2, 'there is no prompt', `${usage}, or pipe it in${usage === RUN ? ', or -i to type several' : ''}`);
  const given = (await text(stdin)).trim();
  if (given === '') throw new CommandFailure(2, 'the prompt on stdin is empty', usage);
  return given;
}
