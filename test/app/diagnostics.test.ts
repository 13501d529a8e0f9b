// Log messages: level, redaction and destination.
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
  const shown: string[] = [];
  return { shown, diagnostics: createDiagnostics({ level: 'info', file, redact, notify: (text) => void shown.push(text) }) };
}

describe('without a log file', () => {
  test('messages from the configured level go to stderr, redacted; pino is loaded for the first', async () => {
    const { shown, diagnostics } = setUp();
    diagnostics.log('debug', 'below the level');
    await diagnostics.close();
    expect(seen.pino).toBe(false);
    diagnostics.log('warn', 'it says a-secret-value');
    diagnostics.log('debug', 'not said');
    diagnostics.setLevel('debug');
    diagnostics.log('debug', 'said');
    diagnostics.setLevel('silent');
    diagnostics.log('error', 'not said');
    await diagnostics.close();
    expect(shown).toEqual(['it says [redacted:K]', 'debug: said']);
    expect(seen.pino).toBe(true);
  });
});

describe('with a log file', () => {
  test('pino writes JSON lines in order, readable only by the user', async () => {
    const file = path.join(newStateDir(), 'diagnostics.log');
    const { shown, diagnostics } = setUp(file);
    expect(existsSync(file)).toBe(false);
    diagnostics.log('warn', 'first: a-secret-value', { agent: 'x' });
    diagnostics.log('error', 'second');
    diagnostics.log('trace', 'not said');
    await diagnostics.close();
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, msg: 'first: [redacted:K]', agent: 'x' },
      { level: 50, msg: 'second' },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(shown).toEqual([]);
  });

  test('messages go to stderr when the file cannot be written', async () => {
    const { shown, diagnostics } = setUp('/dev/null/impossible');
    diagnostics.log('warn', 'said');
    await diagnostics.close();
    await expect.poll(() => shown.at(-1)).toBe('said');
    expect(shown[0]).toContain('/dev/null/impossible');
  });
});
