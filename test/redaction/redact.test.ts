// Redaction of text: known values, known forms, context and the user's patterns.
import { describe, expect, test } from 'vitest';
import { addEnvironment, createRedactor, createSecrets } from '../../src/redaction/redact.ts';
import { compileUserPattern } from '../../src/redaction/user-patterns.ts';

const SECRET = 'a "quoted"/secret+value';

describe("a value from an agent's env", () => {
  const redact = createRedactor({ API_KEY: SECRET });
  test.each([
    ['as it is', SECRET],
    ['inside JSON', JSON.stringify({ key: SECRET })],
    ['in a URL', `https://host/?k=${encodeURIComponent(SECRET)}`],
    ['in base64', `Basic ${Buffer.from(SECRET).toString('base64')}`],
    ['in hex', Buffer.from(SECRET).toString('hex')],
  ])('is removed %s and replaced by its name', (_, text) => {
    const clean = redact(`before ${text} after`);
    expect(clean).toContain('[redacted:API_KEY]');
    expect(clean).not.toContain('secret');
    expect(clean).toMatch(/^before .* after$/s);
  });
  test('is ignored if it is so short that ordinary words would be redacted', () => {
    expect(createRedactor({ MODE: 'fast' })('a fast car')).toBe('a fast car');
  });
  test('is removed whole even if it contains another value', () => {
    const both = createRedactor({ SHORT: 'abcdefgh', LONG: 'abcdefgh-ijklmnop' });
    expect(both('x abcdefgh-ijklmnop y')).toBe('x [redacted:LONG] y');
  });
});

test("a value from an agent's env stays known, however many secrets are learned later", () => {
  const secrets = createSecrets();
  addEnvironment(secrets, { API_KEY: SECRET });
  for (let n = 0; n < 6000; n++) secrets.add('SESSION', `passing-${n}-${'x'.repeat(30)}`);
  expect(secrets.redact(`${SECRET} and passing-0-${'x'.repeat(30)} and passing-5999-${'x'.repeat(30)}`)).toBe(
    `[redacted:API_KEY] and passing-0-${'x'.repeat(30)} and [redacted:SESSION]`,
  );
});

test('in our own environment only variables with the name of a secret count', () => {
  const redact = createRedactor({}, { MY_TOKEN: 'tok-12345678', HOME: '/home/someone', EMPTY: undefined });
  expect(redact('tok-12345678 in /home/someone')).toBe('[redacted:MY_TOKEN] in /home/someone');
});

// Built at run time, so that secret scanners do not report this file.
test.each([
  [`sk-${'a1'.repeat(12)}`, 'openai'],
  [`ghp_${'Z9'.repeat(18)}`, 'github'],
  [`AKIA${'Q'.repeat(16)}`, 'aws'],
  [`Bearer ${'t'.repeat(20)}`, 'bearer'],
  [`sbmcp_${'t-'.repeat(22)}`, 'switchboard'],
])('a key of a known form is removed although its value is unknown: %#', (secret, name) => {
  expect(createRedactor({})(`using ${secret} now`)).toBe(`using [redacted:${name}] now`);
});

test.each([
  ['an option', 'deploy --api-key hunter2hunter --fast', 'deploy --api-key [redacted] --fast'],
  ['an address', 'postgres://me:hunter2@host/db', 'postgres://me:[redacted]@host/db'],
  ['a query', 'https://host/?a=b&token=hunter2hunter&c=d', 'https://host/?a=b&token=[redacted]&c=d'],
  ['a fragment', 'https://host/cb#state=s&access_token=hunter2hunter', 'https://host/cb#state=s&access_token=[redacted]'],
  ['the answer to a login', 'GET /cb?code=4/0AX4XfWhunter2hunter2&page=2', 'GET /cb?code=[redacted]&page=2'],
  [
    'a signed address',
    'https://s3/x?X-Amz-Credential=AK2hunter2&X-Amz-Date=1&X-Amz-Signature=0hunter2',
    'https://s3/x?X-Amz-Credential=[redacted]&X-Amz-Date=1&X-Amz-Signature=[redacted]',
  ],
  ['a token alone behind #', `https://host/join#${'aB3x'.repeat(10)} now`, 'https://host/join#[redacted] now'],
  ['a header', 'Authorization: hunter2-hunter2', 'Authorization: [redacted]'],
  ['a cookie', 'Cookie: sid=hunter2hunter2', 'Cookie: [redacted]'],
  ['an assignment', 'export MY_API_KEY="hunter2hunter"', 'export MY_API_KEY="[redacted]"'],
  ['JSON', 'got {"client_secret":"hunter2-hunter2"}', 'got {"client_secret":"[redacted]"}'],
  ['a line in JSON', '{"out":"x\\nDB_PASSWORD=hunter2-xyz9\\n"}', '{"out":"x\\nDB_PASSWORD=[redacted]\\n"}'],
  ['an option on a line in JSON', '{"out":"x\\n--token hunter2hunter\\n"}', '{"out":"x\\n--token [redacted]\\n"}'],
])('a secret without a form is recognised by the text before it: %s', (_, text, clean) => {
  expect(createRedactor({})(text)).toBe(clean);
});

test.each(['API_KEY=$API_KEY', 'use --token <TOKEN>', 'max_tokens=4096', 'Authorization: Bearer $TOKEN', 'https://host/a:b@c'])(
  'a placeholder for a secret stays: %s',
  (text) => {
    expect(createRedactor({})(text)).toBe(text);
  },
);

test('a value that is learned later is known from then on', () => {
  const secrets = createSecrets();
  expect(secrets.redact('hunter2hunter2')).toBe('hunter2hunter2');
  secrets.add('PASSWORD', 'hunter2hunter2');
  expect(secrets.redact('hunter2hunter2')).toBe('[redacted:PASSWORD]');
});

test('each line of a multi-line value is removed too', () => {
  const redact = createRedactor({ CERT: 'first line of it\nsecond line of it' });
  expect(redact('it says: second line of it')).toBe('it says: [redacted:CERT]');
});

describe('patterns of the user', () => {
  test('are applied after the built-in ones', () => {
    const { redact } = createSecrets([compileUserPattern('EMP-[0-9]{4}')]);
    expect(redact('by EMP-1234')).toBe('by [redacted:pattern]');
  });
  test('take linear time, whatever they are', () => {
    const { redact } = createSecrets([compileUserPattern('(a+)+$')]);
    expect(redact(`${'a'.repeat(50_000)}!`)).toHaveLength(50_001);
  });
  test.each(['(', '(?<=x)y', 'x*'])('that cannot be used are refused: %s', (source) => {
    expect(() => compileUserPattern(source)).toThrow();
  });
});

describe('a truncated key that is too short for its form', () => {
  const redact = createRedactor({});
  const most = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o'; // 29 characters; the form needs 30
  test.each([
    ['at the end of a title', `Use the token ghp_${most}`, 'Use the token [redacted:github]'],
    ['at the end of an assignment', `GH=ghp_${most}`, 'GH=[redacted:github]'],
    ['before an ellipsis', `Use ghp_${most}… for it`, 'Use [redacted:github]… for it'],
    ['before three dots, several times', `ghp_${most}... npm_${most}... `, '[redacted:github]... [redacted:npm]... '],
    ['before an ellipsis at the end', `Use AIza${most}…`, 'Use [redacted:google]…'],
    ['with parts', 'key sk-ant-x1Y2z3W4', 'key [redacted:anthropic]'],
    ['by itself', 'xoxb-12ab34cd', '[redacted:slack]'],
    ['on a line in JSON', `{"out":"x\\nghp_${most}…`, '{"out":"x\\n[redacted:github]…'],
  ])('is removed %s', (_, text, clean) => expect(redact(text)).toBe(clean));

  test.each([
    'set npm_config_registry',
    'set npm_package_dependencies_2',
    'a list of tasks: task-1234567890abc',
    'sk-learn',
    'ghp_short1',
    'hf_hub_download... and so on',
    'wait................',
    `in the middle ghp_${most} of a text that goes on`,
  ])('text that only starts like a key stays: %s', (text) => expect(redact(text)).toBe(text));

  test('takes linear time with very many ellipses, and everything else stays', () => {
    const text = 'a1b2c3d4e5f6...'.repeat(100_000);
    expect(redact(text)).toBe(text);
    expect(redact('.'.repeat(1_000_000))).toHaveLength(1_000_000);
  });
});
