// The envelope of a line over the limit.
import { describe, expect, test } from 'vitest';
import { envelopeOfOversized } from '../../../src/wire/scanner/large-frame.ts';
import { strictParse } from '../../../src/wire/scanner/strict-parse.ts';
import fc from '../../generated.ts';
import { damaged, message, seeded } from '../odd-json.ts';

const NOTHING = { kind: undefined, idText: undefined, method: undefined };
const LONG = 'x'.repeat(5000);
/** As the line splitter keeps it. */
const envelope = (line: Buffer | string) => {
  const bytes = Buffer.from(line as string);
  return envelopeOfOversized(bytes.subarray(0, 4096), bytes.subarray(-512));
};
const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('the envelope of an oversized line', () => {
  test('agrees with the strict parser or is empty', () => {
    let count = 0;
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seeded(seed);
        for (let n = 0; n < 20; n++) {
          const line = Buffer.from(message(random));
          const frame = strictParse(Buffer.concat([line, Buffer.from('\n')]), 0, line.length);
          if ('why' in frame) continue;
          const { idText, method } = envelope(line);
          if (idText !== undefined) {
            count++;
            expect(idText, line.toString()).toBe(frame.id && frame.bytes.toString('utf8', frame.id.start, frame.id.end));
          }
          if (method !== undefined) expect(method, line.toString()).toBe(frame.method);
        }
      }),
      { numRuns: 300 },
    );
    expect(count).toBeGreaterThan(300);
  });

  test('never throws, and its id is valid JSON', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seeded(seed);
        for (let n = 0; n < 50; n++) {
          const line = damaged(random, Buffer.from(message(random)));
          const { idText } = envelope(line);
          if (idText !== undefined) expect(isJson(idText), `${idText} in ${line}`).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['an escape that there is not', `{"jsonrpc":"2.0","method":"a\\q","params":"${LONG}"}`],
    ['half an escape', `{"jsonrpc":"2.0","method":"a\\u12","params":"${LONG}"}`],
    ['a raw control character next to an escape', `{"jsonrpc":"2.0","method":"a\\n\t","params":"${LONG}"}`],
  ])('has no method when the method is invalid: %s', (_, line) => {
    expect(envelope(line)).toMatchObject({ idText: undefined, method: undefined });
  });

  test.each([
    ['text with an escape that there is not', `{"id":"a\\q","result":"${LONG}"}`],
    ['text with a raw control character', `{"id":"a\tb","result":"${LONG}"}`],
    ['no number', `{"id":1e+-.5,"result":"${LONG}"}`],
    ['a number with a leading zero', `{"id":007,"result":"${LONG}"}`],
    ['broken text behind the rest', `{"result":"${LONG}","id":"a\\q"}`],
    ['a number with a leading zero behind the rest', `{"result":"${LONG}","id":007}`],
  ])('has no id when the id is %s', (_, line) => {
    expect(envelope(line).idText).toBeUndefined();
  });

  test('is empty for a line without one', () => {
    for (const line of ['', '{', '[', 'x'.repeat(9000), `"${LONG}`, `[{"id":1,"method":"m","params":"${LONG}"}]`])
      expect(envelope(line)).toEqual(NOTHING);
  });
});
