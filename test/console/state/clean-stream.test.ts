// Redaction of streamed text in the console.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCleanStream } from '../../../src/console/state/text-stream.ts';
import { neutralise } from '../../../src/control-characters.ts';
import { createSecrets } from '../../../src/redaction/redact.ts';

/** What a page shows in the end, and every state in between. */
function shownOf(pieces: readonly string[], redact: (text: string) => string): { readonly last: string; readonly states: string[] } {
  const stream = createCleanStream(redact);
  let last = '';
  const states = pieces.map((piece) => {
    const { drop, text } = stream.push(piece);
    last = (drop > 0 ? last.slice(0, -drop) : last) + text;
    return last;
  });
  return { last, states };
}

describe('streamed text', () => {
  const secrets = createSecrets();
  secrets.add('KEY', 'hunter2-hunter2-hunter2');

  test('plain text passes unchanged', () => {
    const { states } = shownOf(['One ', 'two ', 'three'], secrets.redact);
    expect(states).toEqual(['One ', 'One two ', 'One two three']);
  });

  test('a secret that spans two chunks is removed when the second one arrives', () => {
    const { last } = shownOf(['the key is hunter2-hun', 'ter2-hunter2, keep it'], secrets.redact);
    expect(last).toBe(secrets.redact('the key is hunter2-hunter2-hunter2, keep it'));
    expect(last).not.toContain('hunter2-hun');
  });

  test('however a text is cut, the final result is the whole text, cleaned', () => {
    const word = fc.constantFrom('a ', 'hunter2-hunter2-hunter2 ', '\u001b[31m', '\u202e', 'line\n', 'über ', 'sk-', '\u001b');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), fc.array(fc.nat(7), { minLength: 1, maxLength: 20 }), (words, cuts) => {
        const text = words.join('');
        const pieces: string[] = [];
        for (let at = 0, cut = 0; at < text.length; cut++) {
          const length = 1 + (cuts[cut % cuts.length] as number);
          pieces.push(text.slice(at, at + length));
          at += length;
        }
        expect(shownOf(pieces, secrets.redact).last).toBe(neutralise(secrets.redact(text)));
      }),
    );
  });

  test('a long text is not cleaned from the beginning with every chunk', () => {
    let characters = 0;
    const stream = createCleanStream((text) => {
      characters += text.length;
      return text;
    });
    for (let piece = 0; piece < 2000; piece++) stream.push('a line of about forty characters, or so\n');
    // 80 kB in chunks of 40 bytes: all of it each time would be 80 MB.
    expect(characters).toBeLessThan(60_000_000);
  });

  test.each([
    ['that has no end of a line', 'a line of about forty characters, or so ', (text: string) => text],
    ['that is all one secret, as far as can be told', 'x'.repeat(40), (text: string) => `[${text.length > 0}]`],
  ])('nor is one %s', (_, piece, redact) => {
    let characters = 0;
    const stream = createCleanStream((text) => {
      characters += text.length;
      return redact(text);
    });
    for (let count = 0; count < 5000; count++) stream.push(piece);
    // 200 kB: all of it each time would be 500 MB.
    expect(characters).toBeLessThan(300_000_000);
  });

  test('a secret in a text without line breaks is hidden wherever it stands', () => {
    for (const at of [0, 8185, 16_370]) {
      const text = `${'word '.repeat(at / 5)}hunter2-hunter2-hunter2 ${'more '.repeat(4000)}`;
      const pieces = text.match(/.{1,211}/g) ?? [];
      expect(shownOf(pieces, secrets.redact).last).toBe(secrets.redact(text));
    }
  });
});
