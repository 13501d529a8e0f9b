import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createDiagnostics } from '../../src/app/diagnostics.ts';
import { createRedactor } from '../../src/redaction/redact.ts';
import { newStateDir } from '../store/state.ts';

const seen = vi.hoisted(() => ({ pino: false }));
vi.mock('pino', async (original) => {
  seen.pino = true;
  return original();
});

const redact = createRedactor({ K: 'a-secret-value' });
function setUp(file?: string) {
  const words: string[] = [];
  return { words, diagnostics: createDiagnostics({ level: 'info', file, redact, words: (text) => void words.push(text) }) };
}

describe('without a log file', () => {
  test('messages from the configured level go to stderr, redacted, without loading pino', async () => {
    const { words, diagnostics } = setUp();
    diagnostics.say('warn', 'it says a-secret-value');
    diagnostics.say('debug', 'not said');
    diagnostics.setLevel('debug');
    diagnostics.say('debug', 'said');
    diagnostics.setLevel('silent');
    diagnostics.say('error', 'not said');
    await diagnostics.close();
    expect(words).toEqual(['it says [redacted:K]', 'debug: said']);
    expect(seen.pino).toBe(false);
  });
});

describe('with a log file', () => {
  test('pino writes JSON lines in order, readable only by the user', async () => {
    const file = path.join(newStateDir(), 'diagnostics.log');
    const { words, diagnostics } = setUp(file);
    expect(existsSync(file)).toBe(false);
    diagnostics.say('warn', 'first: a-secret-value', { agent: 'x' });
    diagnostics.say('error', 'second');
    diagnostics.say('trace', 'not said');
    await diagnostics.close();
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, msg: 'first: [redacted:K]', agent: 'x' },
      { level: 50, msg: 'second' },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(words).toEqual([]);
  });

  test('messages go to stderr when the file cannot be written', async () => {
    const { words, diagnostics } = setUp('/dev/null/impossible');
    diagnostics.say('warn', 'said');
    await diagnostics.close();
    await expect.poll(() => words.at(-1)).toBe('said');
    expect(words[0]).toContain('/dev/null/impossible');
  });
});
