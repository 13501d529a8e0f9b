// Hunks are applied where they belong or not at all.
import { describe, expect, test } from 'vitest';
import { applyHunks, placeHunks } from '../../../src/console/actions/apply-hunks.ts';
import { type Change, hunksOf } from '../../../src/console/protocol/hunks.ts';
import fc from '../../generated.ts';

const change = (oldText: string | undefined, newText: string): Change => ({ path: '/f', oldText, newText });
const all = (one: Change) => hunksOf(one).map((_, index) => index);
const numbered = (count: number, changed: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: count }, (_, n) => `${changed[n + 1] ?? n + 1}\n`).join('');
const states = (file: string | undefined, one: Change) =>
  placeHunks(file, one).map((placed) => (placed.state === 'conflict' ? placed.why : placed.state));

/** Few different lines, so that the same text occurs in many places. */
const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', '}'), { maxLength: 30 }), fc.boolean())
  .map(([lines, hasEnd]) => lines.join('\n') + (hasEnd && lines.length > 0 ? '\n' : ''));

describe('all hunks', () => {
  test('the hunks of any change turn the old text into the new one', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const one = change(before, after);
        expect(applyHunks(before, one, all(one))).toEqual({ text: after, isChanged: before !== after });
      }),
    );
  });

  test('no hunks change nothing, and applied hunks are not applied again', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const one = change(before, after);
        expect(applyHunks(before, one, [])).toEqual({ text: before, isChanged: false });
        expect(applyHunks(after, one, all(one))).toEqual({ text: after, isChanged: false });
      }),
    );
  });

  test('a file with CRLF line endings keeps them', () => {
    const one = change('a\nb\n', 'a\nx\nb\n');
    expect(applyHunks('a\r\nb\r\n', one, [0])).toEqual({ text: 'a\r\nx\r\nb\r\n', isChanged: true });
    expect(applyHunks('a\r\nb\n', one, [0])).toEqual({ conflicts: [{ hunk: 0, why: 'changed' }] });
  });

  test('texts with nothing in common form one hunk, quickly', () => {
    const some = (letter: string) => Array.from({ length: 20_000 }, (_, n) => `${letter}${n}\n`).join('');
    const one = change(some('a'), some('b'));
    expect(hunksOf(one)).toHaveLength(1);
    expect(applyHunks(some('a'), one, [0])).toEqual({ text: some('b'), isChanged: true });
  });
});

describe('some hunks', () => {
  const one = change(numbered(30), numbered(30, { 3: 'three', 15: 'fifteen', 28: 'twenty-eight' }));

  test('only the chosen hunks are applied', () => {
    expect(hunksOf(one)).toHaveLength(3);
    expect(applyHunks(numbered(30), one, [1])).toEqual({ text: numbered(30, { 15: 'fifteen' }), isChanged: true });
    expect(applyHunks(numbered(30), one, [2, 0, 2, 99])).toEqual({
      text: numbered(30, { 3: 'three', 28: 'twenty-eight' }),
      isChanged: true,
    });
  });

  test('applied one after the other they produce the new text, and nothing else on the way', () => {
    fc.assert(
      fc.property(text, text, fc.array(fc.nat(8), { maxLength: 12 }), (before, after, order) => {
        const any = change(before, after);
        let file = before;
        for (const index of [...order, ...all(any)]) {
          const applied = applyHunks(file, any, [index]);
          if ('conflicts' in applied) return; // it may be undecided, but never wrong
          file = applied.text;
        }
        expect(file).toBe(after);
      }),
    );
  });

  test('other edits in the file stay, wherever the hunk lies by now', () => {
    const file = `above\n${numbered(30, { 22: 'mine' })}below\n`;
    expect(applyHunks(file, one, [0, 1])).toEqual({
      text: `above\n${numbered(30, { 3: 'three', 15: 'fifteen', 22: 'mine' })}below\n`,
      isChanged: true,
    });
    expect(states(file.replace('15\n', 'fifteen\n').replace('28\n', 'other\n'), one)).toEqual(['open', 'applied', 'changed']);
  });

  test('an edit outside a hunk and its context is never lost, and one inside is a conflict', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), (line) => {
        const applied = applyHunks(numbered(30, { [line]: 'mine' }), one, [1]);
        if (Math.abs(line - 15) <= 3) expect(applied).toEqual({ conflicts: [{ hunk: 1, why: 'changed' }] });
        else expect(applied).toEqual({ text: numbered(30, { [line]: 'mine', 15: 'fifteen' }), isChanged: true });
      }),
    );
  });
});

describe('conflicts', () => {
  test('one conflict among the chosen hunks is enough to write nothing', () => {
    const one = change(numbered(30), numbered(30, { 3: 'three', 28: 'x' }));
    expect(applyHunks(numbered(30, { 28: 'mine' }), one, [0, 1])).toEqual({ conflicts: [{ hunk: 1, why: 'changed' }] });
  });

  test('a new file does not replace an existing one, and a change does not create a missing one', () => {
    expect(states('mine\n', change(undefined, 'new\n'))).toEqual(['exists']);
    expect(states('', change(undefined, 'new\n'))).toEqual(['open']); // nothing is lost
    expect(states('new\n', change(undefined, 'new\n'))).toEqual(['applied']);
    expect(states(undefined, change(undefined, 'new\n'))).toEqual(['open']);
    expect(states(undefined, change('old\n', 'new\n'))).toEqual(['gone']);
    expect(applyHunks(undefined, change(undefined, 'new\n'), [0])).toEqual({ text: 'new\n', isChanged: true });
  });

  test('a block that occurs twice is ambiguous', () => {
    const block = '{\n  a\n}\n';
    expect(states(`${block}more\n${block}`, change(block, '{\n  b\n}\n'))).toEqual(['twice']);
    // It was applied in one place already, and the other one looks the same.
    const twice = change(`x\n${block}y\n${block}`, `x\n{\n  b\n}\ny\n${block}`);
    expect(states(`new\n${twice.newText}`, twice)).not.toContain('open');
  });

  test('lines do not merge with the text behind them', () => {
    expect(states('a\nmore\n', change('a\n', 'b'))).toEqual(['changed']);
    expect(applyHunks('a\nmore\n', change('a\n', ''), [0])).toEqual({ text: 'more\n', isChanged: true });
  });

  test('in any file, a hunk changes only its own lines', () => {
    fc.assert(
      fc.property(text, text, text, (before, after, file) => {
        const one = change(before, after);
        for (const [index, hunk] of hunksOf(one).entries()) {
          const applied = applyHunks(file, one, [index]);
          if ('conflicts' in applied || !applied.isChanged) continue;
          expect(applied.text.length - file.length).toBe(hunk.after.length - hunk.before.length);
          const from = placeHunks(file, one)[index] as { from: number; to: number };
          expect(file.slice(from.from, from.to)).toBe(hunk.before);
          expect(applied.text).toBe(file.slice(0, from.from) + hunk.after + file.slice(from.to));
        }
      }),
    );
  });
});

describe('a fragment of a file', () => {
  test('is changed in place, also within a line', () => {
    expect(applyHunks('let a = call(1);\n', change('call(1)', 'call(2)'), [0])).toEqual({ text: 'let a = call(2);\n', isChanged: true });
    expect(states('call(1) + call(1)', change('call(1)', 'call(2)'))).toEqual(['twice']);
    expect(states('fox\n', change('x\n', 'y\n'))).toEqual(['changed']);
  });

  test('that was already applied is not applied again', () => {
    expect(states('a\nb\nc\n', change('a\n', 'a\nb\n'))).toEqual(['applied']);
  });
});
