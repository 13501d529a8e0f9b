// Which values are too common to be secrets.
import { expect, test } from 'vitest';
import { isCommonValue } from '../../src/redaction/secret-names.ts';

test.each([
  ['CLINE_PROVIDER', 'openai-compatible', true],
  ['MY_MODE', 'workspace-write', true],
  ['CLINE_PROVIDER', 'sk-Abc9def', false],
  ['CLINE_PROVIDER', 'hunter2hunter2', false],
  ['API_KEY', 'openai-compatible', false],
  ['MY_WORD', 'openai-compatible', false],
])('%s=%s: %s', (name, value, expected) => {
  expect(isCommonValue(name, value)).toBe(expected);
});
