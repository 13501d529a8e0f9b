// Reads prompts interactively, with editing keys and history.
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import readline from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { CommandFailure } from '../failure.ts';

export type Prompts = {
  /** Ends with Ctrl-D or Ctrl-C on an empty line. */
  lines(): AsyncGenerator<string>;
  /** Prints text above the line that the user is typing. */
  show(text: string, write: (text: string) => void): void;
};

export function createPrompts(): Prompts {
  // Open only while the user types: during a turn, keys answer permission requests, and Ctrl-C is a signal again.
  let asking: readline.Interface | undefined;

  async function typed(history: string[]): Promise<string | undefined> {
    const over = new AbortController();
    const lines = readline.createInterface({ input: process.stdin, output: process.stderr, history: [...history] });
    lines.on('close', () => over.abort());
    lines.on('SIGINT', () => over.abort());
    asking = lines;
    try {
      return await lines.question('> ', { signal: over.signal });
    } catch {
      return undefined;
    } finally {
      asking = undefined;
      lines.close();
    }
  }

  return {
    async *lines() {
      let history: string[] = [];
      for (;;) {
        const line = await typed(history);
        if (line === undefined) return;
        if (line.trim() === '') continue;
        history = [line, ...history];
        yield line;
      }
    },
    show(text, write) {
      if (!asking) return write(text);
      moveCursor(process.stderr, 0, -asking.getCursorPos().rows);
      cursorTo(process.stderr, 0);
      clearScreenDown(process.stderr);
      write(text.endsWith('\n') ? text : `${text}\n`);
      asking.prompt(true);
    },
  };
}

// The prompt: the arguments, else stdin to its end.
const RUN = 'switchboard run "your prompt"';

export async function readPrompt(words: readonly string[], stdin: NodeJS.ReadStream, usage = RUN): Promise<string> {
  const fromArguments = words.join(' ');
  if (fromArguments.trim() !== '') return fromArguments;
  if (words.length > 0) throw new CommandFailure(2, 'the prompt is empty', usage);
  if (stdin.isTTY)
    throw new CommandFailure(
      2,
      'no prompt',
      `use ${usage}, or pipe the prompt to stdin${usage === RUN ? ', or use -i to type several prompts' : ''}`,
    );
  const given = (await text(stdin)).trim();
  if (given === '') throw new CommandFailure(2, 'the prompt on stdin is empty', usage);
  return given;
}
