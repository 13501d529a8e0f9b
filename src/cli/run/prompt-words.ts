// Where the prompt comes from: the words of the command line, else stdin to its end.
import { text } from 'node:stream/consumers';
import { CommandFailure } from '../command-failure.ts';

export async function promptWords(words: readonly string[], stdin: NodeJS.ReadStream): Promise<string> {
  if (words.length > 0) return words.join(' ');
  if (stdin.isTTY) throw new CommandFailure(2, 'there is no prompt', 'switchboard run "your prompt", or pipe it in, or -i to type several');
  const given = (await text(stdin)).trim();
  if (given === '') throw new CommandFailure(2, 'the prompt on stdin is empty', 'switchboard run "your prompt"');
  return given;
}
