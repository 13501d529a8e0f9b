// Reading a frame's body, unless parsers could read it differently.
import { isDeepStrictEqual } from 'node:util';
import { type Node, parseTree } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../src/wire/frame.ts';
import { readBody, strictParse } from '../../../src/wire/scanner/strict-parse.ts';
import fc from '../../generated.ts';
import { jsonValue, seeded } from '../odd-json.ts';

function frameWith(body: string, key: 'params' | 'result' | 'error' = 'params'): Frame {
  const bytes = Buffer.from(`{"jsonrpc":"2.0","id":1,${key === 'params' ? '"method":"m",' : ''}"${key}":${body}}\n`);
  const decided = strictParse(bytes, 0, bytes.length - 1);
  if ('why' in decided) throw new Error(decided.reason);
  return decided;
}
const bodyOf = (body: string) => readBody(frameWith(body));

describe('a body that all parsers read alike is read', () => {
  test.each(['params', 'result', 'error'] as const)('in %s', (key) => {
    expect(readBody(frameWith('{"a":[1,{"b":null}]}', key))).toEqual({ ok: true, value: { a: [1, { b: null }] } });
  });

  test('a frame without a body gives undefined', () => {
    const bytes = Buffer.from('{"id":1,"method":"m"}\n');
    expect(readBody(strictParse(bytes, 0, bytes.length - 1) as Frame)).toEqual({ ok: true, value: undefined });
  });

  test.each([
    ['the same key in neighbours and at other levels', '[{"a":1},{"a":{"a":{"b":1}}},{"b":1,"a":2}]'],
    ['the same text as key and as value', '{"a":"a","b":["a","a","b"],"c":"b"}'],
    ['keys that differ in case or space', '{"a":1,"A":2," a":3,"":4}'],
    ['__proto__ as a value, or only part of a key', '{"a":"__proto__","__proto__ ":1,"proto":2}'],
    ['text with brackets, commas and quotes in it', '{"a":"{[\\"a\\":1,\\"a\\":2","b":",\\"b\\":"}'],
    ['constructor and the like', '{"constructor":1,"hasOwnProperty":2,"toString":3}'],
    ['a scalar', '"text"'],
  ])('%s is accepted', (_, body) => {
    expect(bodyOf(body)).toEqual({ ok: true, value: JSON.parse(body) });
  });
});

describe('a body that parsers read differently is refused', () => {
  test.each([
    ['a key twice', '{"a":1,"a":1}', /"a" occurs twice/],
    ['a key twice with others between', '{"a":{"x":[{}]},"b":2,"a":3}', /"a" occurs twice/],
    ['a key twice, once escaped', '{"command":"ls","c\\u006fmmand":"rm"}', /"command" occurs twice/],
    ['a key twice, deep inside', '{"x":[[{"y":{"k":1,"k":2}}]]}', /"k" occurs twice/],
    ['a key twice, behind a nested object', '{"x":{"k":1},"k":{"k":1},"x":2}', /"x" occurs twice/],
    ['the empty key twice', '{"":1,"":2}', /occurs twice/],
    ['__proto__', '{"__proto__":{"admin":true}}', /__proto__/],
    ['__proto__ escaped', '{"a":{"\\u005f_proto_\\u005F":1}}', /__proto__/],
  ])('%s', (_, body, reason) => {
    const result = bodyOf(body);
    expect(result.ok).toBe(false);
    expect(result.ok ? '' : result.reason).toMatch(reason);
  });

  const nested = (levels: number, kind: 'arrays' | 'objects') =>
    kind === 'arrays' ? '['.repeat(levels) + ']'.repeat(levels) : `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

  test.each(['arrays', 'objects'] as const)('nesting of 256 %s passes, of 257 does not', (kind) => {
    expect(bodyOf(nested(256, kind)).ok).toBe(true);
    const refused = bodyOf(nested(257, kind));
    expect(refused.ok ? '' : refused.reason).toMatch(/deeper than 256/);
  });

  test('many shallow values are not deep', () => {
    expect(bodyOf(`[${Array.from({ length: 1000 }, () => '[[]]').join(',')}]`).ok).toBe(true);
  });
});

test('an independent parser agrees on refusals, and JSON.parse on values', () => {
  let refusals = 0;
  let reads = 0;
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = seeded(seed);
      for (let n = 0; n < 20; n++) {
        const body = `[${jsonValue(random)}]`; // one level down: a second sessionId in params themselves makes no frame at all
        const result = bodyOf(body);
        expect(!result.ok, body).toBe(isDoubtful(parseTree(body)));
        if (result.ok) {
          reads++;
          expect(isDeepStrictEqual(result.value, JSON.parse(body)), body).toBe(true);
        } else refusals++;
      }
    }),
    { numRuns: 500 },
  );
  expect(reads).toBeGreaterThan(1000);
  expect(refusals).toBeGreaterThan(300);
});

function isDoubtful(node: Node | undefined): boolean {
  if (!node?.children) return false;
  if (node.type === 'object') {
    const keys = node.children.map((property) => property.children?.[0]?.value as string);
    if (keys.includes('__proto__') || new Set(keys).size < keys.length) return true;
  }
  return node.children.some(isDoubtful);
}
