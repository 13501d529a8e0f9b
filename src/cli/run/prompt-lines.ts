// Prompts typed one after the other, with the usual keys for editing and history.
import readline from 'node:readline/promises';

/** Ends with Ctrl-D or Ctrl-C on an empty line. */
export async function* promptLines(): AsyncGenerator<string> {
  let history: string[] = [];
  for (;;) {
    // Open only while somebody types: during a turn the keys are those of permission questions, and Ctrl-C is a signal again.
    const line = await typed(history);
    if (line === undefined) return;
    if (line.trim() === '') continue;
    history = [line, ...history];
    yield line;
  }
}

async function typed(history: string[]): Promise<string | undefined> {
  const over = new AbortController();
  const lines = readline.createInterface({ input: process.stdin, output: process.stderr, history: [...history] });
  lines.on('close', () => over.abort());
  lines.on('SIGINT', () => over.abort());
  try {
    return await lines.question('> ', { signal: over.signal });
  } catch {
    return undefined;
  } finally {
    lines.close();
  }
}
