// Properties of every dialect: translating twice changes nothing more, and unknown fields pass.
import { describe, expect, test } from 'vitest';
import { readUpdate as ofAgentkit } from '../../src/dialects/agentkit/update.ts';
import { type Dict, dict } from '../../src/dialects/json.ts';
import { lineOf, type Message, notification, readMessage, request, result } from '../../src/dialects/message.ts';
import { DIALECT_NAMES, dialectNamed } from '../../src/dialects/select-dialect.ts';
import { readUpdate as ofWebapp } from '../../src/dialects/webapp/update.ts';
import { Scanner } from '../../src/wire/scanner/scanner.ts';
import fc from '../generated.ts';

const KINDS = [
  ...['agent_message_chunk', 'agent_thought_chunk', 'tool_call', 'tool_call_update', 'plan', 'available_commands_update'],
  ...['current_mode_update', 'mode_updated', 'token_usage', 'usage_update', 'messageChunk', 'toolCall', 'planUpdate', 'diff', 'brand_new'],
  ...['constructor', '__proto__', 'toString'],
];
const KEYS = [
  ...['content', 'text', 'chunk', 'role', 'entries', 'tool_call', 'toolCall', 'tool_call_id', 'toolCallId', 'status', 'title', 'name'],
  ...['availableCommands', 'available_commands', 'modeId', 'current_mode_id', 'usedTokens', 'maxTokens', 'path', 'oldText', 'newText'],
  ...['hunks', 'locations', 'rawInput', 'raw_input', '_meta', 'extra', 'constructor', '__proto__'],
];
const strings = fc.oneof(fc.constantFrom('text', 'diff', 'content', 'running', 'error', 'completed', 'a.txt', '/abs', ''), fc.string());
const leaf = fc.oneof(strings, fc.integer(), fc.boolean(), fc.constant(null));
const { value } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', maxDepth: 4 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(fc.constantFrom('type', ...KEYS), tie('value'), { maxKeys: 5 }),
}));
const update = fc.record({
  kind: fc.constantFrom(...KINDS),
  isBare: fc.boolean(),
  rest: fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 6 }),
});

/** As it comes off the wire: plain JSON. */
const made = ({ kind, isBare, rest }: { kind: string; isBare: boolean; rest: object }): Dict =>
  JSON.parse(JSON.stringify({ [isBare ? 'type' : 'sessionUpdate']: kind, ...rest }));
const asJson = (one: unknown): unknown => JSON.parse(JSON.stringify(one));

const READERS: readonly (readonly [string, (update: Dict) => Dict | undefined])[] = [
  [
    'webapp',
    (one) => {
      const read = ofWebapp(one, { cwd: '/w', maxTokens: undefined });
      return read.kind === 'update' ? read.update : undefined;
    },
  ],
  ['agentkit', (one) => ofAgentkit(one, () => true)],
];

describe.each(READERS)('an update by %s', (_, read) => {
  test('does not change when translated again', () => {
    fc.assert(
      fc.property(update, (one) => {
        const once = read(made(one));
        if (once !== undefined) expect(asJson(read(asJson(once) as Dict))).toEqual(asJson(once));
      }),
      { numRuns: 1000 },
    );
  });

  test('keeps unknown fields', () => {
    const unknown = fc.dictionary(
      fc.string({ minLength: 1 }).map((key) => `x-${key}`),
      fc.jsonValue(),
      { maxKeys: 3 },
    );
    fc.assert(
      fc.property(update, unknown, (one, extra) => {
        const mine = asJson(extra) as Dict;
        const translated = read({ ...made(one), ...mine });
        if (translated !== undefined) expect(asJson(translated)).toMatchObject(mine);
      }),
    );
  });
});

const ABOUT = {
  agent: 'it',
  isNamed: true,
  maxLineBytes: 1024 * 1024,
  timeouts: { initializeMs: 1, cancelMs: 1, quietMs: 1, stallMs: 1 },
  mint: () => '1',
};

describe.each(DIALECT_NAMES.filter((name) => name !== 'acp'))('%s', (name) => {
  const dialect = dialectNamed(name);
  const method = fc.constantFrom(
    ...[
      'initialize',
      'session/new',
      'session/prompt',
      'session/update',
      'session/request_permission',
      'session/cancel',
      'fs/read_text_file',
    ],
    ...[
      'clearance/request',
      'prompt/forward',
      'heartbeat',
      'status/update',
      'session/set_config_option',
      '_x/y',
      'constructor',
      '__proto__',
    ],
  );
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.tuple(method, value).map(([name, params]) => notification(name, params)),
    fc.tuple(fc.nat(5), method, value).map(([id, name, params]) => request(String(id), name, params)),
    fc.tuple(fc.nat(5), value).map(([id, answer]) => result(String(id), answer)),
    fc.tuple(fc.nat(5), value).map(([id, error]): Message => ({ kind: 'response', id: String(id), error: error ?? null })),
    fc.nat(5).map((id): Message => ({ kind: 'response', id: String(id) })),
  );

  test('with any messages nothing throws, and every output is a message', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), message), { maxLength: 12 }), (messages) => {
        let state = dialect?.begin(ABOUT);
        for (const [isFromClient, one] of messages) {
          const line = Buffer.from(lineOf(one));
          const read = readMessage(new Scanner(), line, 0, line.length - 1);
          if (!read) continue;
          const step = isFromClient ? dialect?.toAgent(state, read) : dialect?.toAcp(state, read);
          state = step?.state;
          for (const out of [...(step?.toClient ?? []), ...(step?.toAgent ?? [])]) expect(dict(JSON.parse(lineOf(out)))).not.toEqual({});
        }
      }),
    );
  });
});

test('ids come through a dialect as they were written', () => {
  for (const id of ['1', '"1"', '1.0', '9007199254740993', 'null']) {
    const line = Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"_x/y","params":{}}\n`);
    const message = readMessage(new Scanner(), line, 0, line.length - 1);
    expect(message && lineOf(message)).toContain(`"id":${id}`);
  }
});
