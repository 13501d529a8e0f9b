// Adding our server to a session's mcpServers.
import { describe, expect, test } from 'vitest';
import { injectedText } from '../../../src/mcp/server/inject-servers.ts';
import fc from '../../generated.ts';

const entry = (name: string) => [JSON.stringify({ name, ours: true })];
const inject = (params: string, method = 'session/new') => injectedText(params, method, entry);

describe('our server in the mcpServers of a session', () => {
  test.each([
    ['{"mcpServers":[]}', '{"mcpServers":[{"name":"switchboard","ours":true}]}'],
    ['{ "mcpServers" : [ ] , "cwd":"/x"}', '{ "mcpServers" : [{"name":"switchboard","ours":true} ] , "cwd":"/x"}'],
    ['{"mcpServers":[{"name":"a"} ],"n":1.0}', '{"mcpServers":[{"name":"a"},{"name":"switchboard","ours":true} ],"n":1.0}'],
  ])('%s becomes %s', (before, after) => {
    expect(inject(before)).toBe(after);
  });

  test("a name that the client uses stays the client's", () => {
    expect(inject('{"mcpServers":[{"name":"switchboard"},{"name":"switchboard-2"}]}')).toContain('"switchboard-3"');
    expect(inject('{"mcpServers":[{"name":"\\u0073witchboard"}]}')).toContain('"switchboard-2"');
  });

  test.each(['{}', '{"mcpServers":null}', '{"mcpServers":{}}', '{"mcpServers":"x"}', '[]', '{"mcpServers":[],"mcpServers":[]}'])(
    '%s is left for the agent to validate',
    (params) => {
      expect(inject(params)).toBe(params);
    },
  );

  test('an optional list that is missing is added', () => {
    expect(inject('{"sessionId":"s"}', 'session/resume')).toBe('{"mcpServers":[{"name":"switchboard","ours":true}],"sessionId":"s"}');
    expect(inject('{}', 'session/fork')).toBe('{"mcpServers":[{"name":"switchboard","ours":true}]}');
  });

  test('the rest of the params is unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), fc.dictionary(fc.string(), fc.jsonValue()), (servers, rest) => {
        fc.pre(
          !Object.hasOwn(rest, 'mcpServers') &&
            !Object.hasOwn(rest, '__proto__') &&
            servers.every((one) => !Object.hasOwn(one, '__proto__')),
        );
        const params = { ...rest, mcpServers: servers };
        const after = JSON.parse(inject(JSON.stringify(params)));
        expect(after.mcpServers.slice(0, -1)).toEqual(JSON.parse(JSON.stringify(servers)));
        expect({ ...after, mcpServers: 0 }).toEqual(JSON.parse(JSON.stringify({ ...params, mcpServers: 0 })));
      }),
    );
  });
});
