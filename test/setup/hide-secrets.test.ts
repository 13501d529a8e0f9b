// Secrets in commands and settings files are hidden when shown.
import { expect, test } from 'vitest';
import { hideArgs, hideInText, looksSecret } from '../../src/setup/hide-secrets.ts';

const CANARY = 'canary-7c1f';

test.each([
  [
    ['--api-key', CANARY],
    ['--api-key', '…'],
  ],
  [[`--api-key=${CANARY}`], ['--api-key=…']],
  [
    ['-x', '--auth-token', CANARY, '--acp'],
    ['-x', '--auth-token', '…', '--acp'],
  ],
  [
    ['--password', `\${env:P}`],
    ['--password', `\${env:P}`],
  ],
  [
    ['--no-auth', '--acp'],
    ['--no-auth', '--acp'],
  ],
  [[`https://me:${CANARY}@host/x`], ['https://me:…@host/x']],
  [['sk-abcdefghijklmnopqrstuvwxyz'], [expect.stringContaining('[redacted')]],
  [
    ['-y', '@google/gemini-cli@0.61.0'],
    ['-y', '@google/gemini-cli@0.61.0'],
  ],
])('arguments %j are shown as %j', (args, shown) => {
  expect(hideArgs(args)).toEqual(shown);
});

test.each([
  [`  "OPENAI_API_KEY": "${CANARY}",`, '  "OPENAI_API_KEY": "…",'],
  [`{ "env": { "A_TOKEN": "${CANARY}", "MODE": "plan" } }`, '{ "env": { "A_TOKEN": "…", "MODE": "plan" } }'],
  [`"args": ["--api-key", "${CANARY}", "--acp"]`, '"args": ["--api-key", "…", "--acp"]'],
  [`"args": ["--token=${CANARY}"]`, '"args": ["--token=…"]'],
  [`"args": [\n  "--api-key",\n  "${CANARY}"\n]`, '"args": [\n  "--api-key",\n  "…"\n]'],
  [`// don"t\n"KEY": "${CANARY}"`, '// don"t\n"KEY": "…"'],
  [`"args": ["--no-auth", "--acp"]`, '"args": ["--no-auth", "--acp"]'],
  [`"A_KEY": "\${env:A_KEY}"`, `"A_KEY": "\${env:A_KEY}"`],
])('%j in a file is shown as %j', (line, shown) => {
  expect(hideInText(line)).toBe(shown);
});

test.each([
  ['API_KEY', 'x', true],
  ['HOME_URL', `https://me:${CANARY}@host`, true],
  ['ANY', 'ghp_0123456789012345678901234567890123', true],
  ['MODE', 'plan', false],
  ['API_KEY', `\${env:API_KEY}`, false],
  ['API_KEY', '', false],
])('%s=%s looks like a secret: %s', (name, value, expected) => {
  expect(looksSecret(name, value)).toBe(expected);
});
