// Reading an agent's answer to initialize.
import { describe, expect, test } from 'vitest';
import { readHandshake } from '../../src/agents/handshake.ts';
import { ProxyError } from '../../src/errors.ts';
import type { Frame } from '../../src/wire/frame.ts';
import { strictParse } from '../../src/wire/scanner/strict-parse.ts';

function answer(body: string): Frame {
  const bytes = Buffer.from(`{"jsonrpc":"2.0","id":0${body}}\n`);
  const decided = strictParse(bytes, 0, bytes.length - 1);
  if ('why' in decided) throw new Error(decided.reason);
  return decided;
}
const read = (body: string) => readHandshake('codex', answer(body));

describe('an answer to initialize', () => {
  test('is kept parsed and as written', () => {
    const text = '{ "protocolVersion":1, "agentCapabilities":{"loadSession":true,"n":1.0}, "_meta":{"big":9007199254740993} }';
    const handshake = read(`,"result":${text}`);
    expect(handshake).not.toBeInstanceOf(Error);
    expect(handshake).toMatchObject({ text, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
  });

  test.each([
    ['2', '2'],
    ['0', '0'],
    ['"1"', '"1"'],
    ['null', 'null'],
    ['1.5', '1.5'],
  ])('with version %s makes the agent unusable, with a message', (version, shown) => {
    const error = read(`,"result":{"protocolVersion":${version}}`);
    expect(error).toBeInstanceOf(ProxyError);
    expect(error).toMatchObject({ key: 'AGENT_VERSION', data: { agent: 'codex', supported: [1] } });
    expect((error as ProxyError).message).toContain(`"codex" speaks ACP version ${shown}`);
  });

  test.each([',"result":{}', ',"result":null', ',"result":[]', ',"result":"1"', ',"result":1'])(
    'without a version makes the agent unusable: %s',
    (body) => {
      expect(read(body)).toMatchObject({ key: 'AGENT_VERSION', message: expect.stringContaining('version unknown') });
    },
  );

  test('that is an error passes on its reason', () => {
    const error = read(',"error":{"code":-32000,"message":"please log in","data":{"x":1}}');
    expect(error).toBeInstanceOf(ProxyError);
    expect(error).toMatchObject({
      key: 'AGENT_REFUSED',
      message: expect.stringContaining('please log in'),
      data: { agent: 'codex', error: { code: -32000, message: 'please log in', data: { x: 1 } } },
    });
  });

  test.each(['null', '{}', '"no"', '{"message":5}'])('that is an error without a message has no reason: %s', (error) => {
    expect(read(`,"error":${error}`)).toMatchObject({ key: 'AGENT_REFUSED', message: expect.stringContaining('no reason given') });
  });

  test('that parsers read differently is refused', () => {
    expect(read(',"result":{"protocolVersion":2,"protocolVersion":1}')).toMatchObject({
      key: 'AGENT_REFUSED',
      message: expect.stringContaining('"protocolVersion" occurs twice'),
    });
  });

  test('with both a result and an error, or with neither, is invalid', () => {
    expect(read(',"result":{"protocolVersion":1},"error":{"code":1,"message":"no"}')).toBeInstanceOf(ProxyError);
    expect(read('')).toBeInstanceOf(ProxyError);
  });
});
