// Output of tools and terminals in pieces: wherever a secret is split, what is left of it is too short to be of use.
import { describe, expect, test } from 'vitest';
import { createSecrets } from '../../src/redaction/redact.ts';
import { createPieceCleaner } from '../../src/redaction/redact-pieces.ts';

const KNOWN = 'cnry-4f1d8a77b3e2c90516aa';
const FORM = `ghp_${'Zq9'.repeat(12)}`; // not a known value
const KEY = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqh\n'.repeat(20)}-----END PRIVATE KEY-----`;

function cleaner() {
  const secrets = createSecrets();
  secrets.add('GIVEN', KNOWN);
  return createPieceCleaner(secrets);
}
type Carrier = { readonly wrap: (text: string) => object; readonly unwrap: (update: never) => string };
const CARRIERS: Readonly<Record<string, Carrier>> = {
  'the text of a tool call': {
    wrap: (text) => ({ content: [{ type: 'content', content: { type: 'text', text } }] }),
    unwrap: (update: { content: [{ content: { text: string } }] }) => update.content[0].content.text,
  },
  'its raw output': {
    wrap: (stdout) => ({ rawOutput: { stdout } }),
    unwrap: (update: { rawOutput: { stdout: string } }) => update.rawOutput.stdout,
  },
  'a delta of a terminal': {
    wrap: (data) => ({ _meta: { terminal_output_delta: { data, terminal_id: 't' } } }),
    unwrap: (update: { _meta: { terminal_output_delta: { data: string } } }) => update._meta.terminal_output_delta.data,
  },
};

/** Six consecutive characters of it. */
const isLeft = (secret: string, text: string) =>
  Array.from({ length: secret.length - 5 }, (_, at) => secret.slice(at, at + 6)).some(
    (part) => !part.includes('-----') && text.includes(part),
  );

describe.each(Object.entries(CARRIERS))('%s', (_, { wrap, unwrap }) => {
  const shown = (pieces: readonly string[]) => {
    const { update } = cleaner();
    return pieces.map((piece) => unwrap(update('s', { sessionUpdate: 'tool_call_update', toolCallId: 't', ...wrap(piece) }) as never));
  };

  test.each([
    ['known', KNOWN],
    ['of a known form', FORM],
  ])('a secret that is %s is not left, wherever it is split', (_, secret) => {
    const whole = `before ${secret} behind it`;
    for (let cut = 8; cut < 7 + secret.length; cut++) {
      const pieces = shown([whole.slice(0, cut), whole.slice(cut)]);
      expect(
        pieces.filter((piece) => isLeft(secret, piece)),
        `cut at ${cut}`,
      ).toEqual([]);
      expect(pieces.join('')).toMatch(/^before .* behind it$/);
    }
  });

  test('a secret in three pieces is not left, nor if each piece repeats all output so far', () => {
    const whole = `before ${KNOWN} behind it`;
    expect(shown([whole.slice(0, 15), whole.slice(15, 24), whole.slice(24)]).some((piece) => isLeft(KNOWN, piece))).toBe(false);
    const growing = shown([whole.slice(0, 15), whole.slice(0, 24), whole]);
    expect(growing.at(-1)).toBe('before [redacted:GIVEN] behind it');
    expect(growing.some((piece) => isLeft(KNOWN, piece))).toBe(false);
  });

  test('a secret is not left if the start of the earlier output is dropped', () => {
    const long = `${'line of output\n'.repeat(40)}before ${KNOWN} behind it`;
    const cut = long.indexOf(KNOWN) + 12;
    expect(shown([long.slice(0, cut), long.slice(0, cut), long.slice(cut)]).some((piece) => isLeft(KNOWN, piece))).toBe(false);
    expect(shown([long.slice(20, cut + 20), long.slice(cut, cut + 30)]).some((piece) => isLeft(KNOWN, piece))).toBe(false);
  });

  test('a private key is removed line by line', () => {
    const lines = KEY.match(/.*\n?/g) as string[];
    expect(shown(['cat key\n', ...lines, '\ndone\n']).join('')).not.toContain('MIIEvQ');
  });

  test('ordinary output is unchanged', () => {
    const pieces = ['npm run build\n', 'built in 3 ', 's\n', 'task-runner: ok\n', 'a/b/c.ts'];
    expect(shown(pieces)).toEqual(pieces);
  });
});

test('tool calls are kept apart, and a completed one is forgotten', () => {
  const { update } = cleaner();
  const say = (toolCallId: string, rawOutput: string, status?: string) =>
    update('s', { sessionUpdate: 'tool_call_update', toolCallId, rawOutput, status }).rawOutput;
  say('a', 'export API_KEY=', 'in_progress');
  expect(say('b', 'hunter2-hunter2')).toBe('hunter2-hunter2');
  expect(say('a', 'hunter2-hunter2', 'completed')).not.toContain('hunter2');
  expect(say('a', 'hunter2-hunter2')).toBe('hunter2-hunter2');
});

test('truncated terminal output does not start with half a secret', () => {
  const answer = { jsonrpc: '2.0', id: 1, result: { output: `${KNOWN.slice(9)} and ${KNOWN.slice(0, 12)}`, truncated: true } };
  expect(cleaner().message('agent', answer)).toEqual({
    ...answer,
    result: { output: '[redacted:GIVEN] and [redacted:GIVEN]', truncated: true },
  });
});
