// Which dialect an agent is started with, and which one its first output reveals.
import { describe, expect, test } from 'vitest';
import {
  DIALECT_NAMES,
  type DialectSetting,
  type FirstOutput,
  initialDialect,
  isSelectedDialect,
  otherFraming,
  PLAIN,
  recognise,
  type SelectedDialect,
} from '../../src/dialects/select-dialect.ts';

const AUTO: DialectSetting = { framing: 'auto', dialect: 'auto' };
const LSP: SelectedDialect = { framing: 'content-length', dialect: 'webapp' };

describe('the first attempt', () => {
  test.each<[string, DialectSetting, SelectedDialect | undefined, SelectedDialect]>([
    ['nothing is known', AUTO, undefined, PLAIN],
    ['something was found', AUTO, LSP, LSP],
    ['a framing is set', { framing: 'content-length', dialect: 'auto' }, undefined, LSP],
    ['framing and dialect are set', { framing: 'content-length', dialect: 'acp' }, LSP, { framing: 'content-length', dialect: 'acp' }],
    ['a dialect is set', { framing: 'auto', dialect: 'agentkit' }, undefined, { framing: 'ndjson', dialect: 'agentkit' }],
    ['the found dialect contradicts the setting', { framing: 'ndjson', dialect: 'auto' }, LSP, PLAIN],
  ])('when %s', (_, setting, found, expected) => {
    expect(initialDialect(setting, found)).toEqual(expected);
  });

  test('the other framing is tried only if the setting permits it', () => {
    expect(otherFraming(AUTO, PLAIN)).toEqual(LSP);
    expect(otherFraming(AUTO, LSP)).toEqual(PLAIN);
    expect(otherFraming({ framing: 'auto', dialect: 'webapp' }, { framing: 'ndjson', dialect: 'webapp' })).toEqual(LSP);
    expect(otherFraming({ framing: 'ndjson', dialect: 'auto' }, PLAIN)).toBeUndefined();
  });

  test.each([null, 7, {}, { framing: 'ndjson' }, { framing: 'ndjson', dialect: 'constructor' }, { framing: 'x', dialect: 'acp' }])(
    'a cached %j is no dialect',
    (value) => {
      expect(isSelectedDialect(value)).toBe(false);
    },
  );
});

describe('first output', () => {
  test.each<[string, FirstOutput, SelectedDialect]>([
    ['a header', { kind: 'noise', line: 'Content-Length: 12\r' }, LSP],
    ['a header in small letters', { kind: 'noise', line: 'content-type: application/json' }, LSP],
    ['a heartbeat', { kind: 'method', method: 'heartbeat' }, { framing: 'ndjson', dialect: 'intercom' }],
    ['a request for clearance', { kind: 'method', method: 'clearance/request' }, { framing: 'ndjson', dialect: 'intercom' }],
    ['a string as version', { kind: 'answer', result: { protocolVersion: '1' } }, { framing: 'ndjson', dialect: 'agentkit' }],
    ['capabilities without a version', { kind: 'answer', result: { capabilities: {} } }, { framing: 'ndjson', dialect: 'agentkit' }],
    [
      'a version that could not be read',
      { kind: 'answer', error: { code: -32602, message: 'json: cannot unmarshal number into field protocolVersion of type string' } },
      { framing: 'ndjson', dialect: 'agentkit' },
    ],
    ['keys in snake_case', { kind: 'answer', result: { agent_capabilities: {} } }, { framing: 'ndjson', dialect: 'webapp' }],
  ])('%s', (_, output, expected) => {
    expect(recognise(AUTO, PLAIN, output)).toEqual(expected);
    expect(recognise({ framing: 'ndjson', dialect: 'acp' }, PLAIN, output)).toBeUndefined();
  });

  test('a line instead of a body reveals line framing', () => {
    expect(recognise(AUTO, LSP, { kind: 'noise', line: 'outside of a body: {"jsonrpc":"2.0"}' })).toEqual(PLAIN);
  });

  test.each<[string, FirstOutput]>([
    ['text on stdout', { kind: 'noise', line: 'starting' }],
    ["the next version's answer", { kind: 'answer', result: { protocolVersion: 2, info: {}, capabilities: {} } }],
    ['an answer that is nothing', { kind: 'answer', result: null }],
    ['an empty one', { kind: 'answer', result: {} }],
    ['an error of its own', { kind: 'answer', error: { code: -32000, message: 'log in first' } }],
    ['an error that is none', { kind: 'answer', error: null }],
    ['an update', { kind: 'method', method: 'session/update' }],
  ])('%s reveals nothing', (_, output) => {
    expect(recognise(AUTO, PLAIN, output)).toBeUndefined();
  });
});

test('all dialects', () => {
  expect([...DIALECT_NAMES].sort()).toEqual(['acp', 'agentkit', 'intercom', 'webapp']);
});
