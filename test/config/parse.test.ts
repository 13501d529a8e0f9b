// Parsing JSONC: values, locations of syntax errors, and hostile input.
import { expect, test } from 'vitest';
import { parseDocument } from '../../src/config/parse.ts';
import { renderProblem } from '../../src/config/problems.ts';

test('comments and trailing commas are accepted', () => {
  const document = parseDocument('f', '// why\n{ "a": [1, 2,], /* and */ "b": null, }');
  expect(document.problems).toEqual([]);
  expect(document.value).toEqual({ a: [1, 2], b: null });
});

test.each([
  { text: '{\n  "a": 1\n  "b": 2\n}', place: '3:3', says: 'expected ","' },
  { text: '{ a: 1 }', place: '1:3', says: 'expected a string in double quotes, a number' },
  { text: "{ 'a': 1 }", place: '1:3', says: 'expected a string in double quotes, a number' },
  { text: '{ 1: 1 }', place: '1:3', says: 'expected a key in double quotes' },
  { text: '{ "a": }', place: '1:8', says: 'expected a value' },
  { text: '{ "a": yes }', place: '1:8', says: 'expected a string in double quotes, a number' },
  { text: '{ "a": "b\n}', place: '1:8', says: 'unterminated string' },
  { text: '{ "a": 1', place: '1:9', says: 'expected "}"' },
  { text: '{} {}', place: '1:4', says: 'nothing after' },
  { text: '', place: '1:1', says: 'expected a value' },
])('the syntax error in $text is located at $place', ({ text, place, says }) => {
  const lines = parseDocument('f', text).problems.map(renderProblem);
  expect(lines).toEqual([expect.stringMatching(new RegExp(`^f:${place}: syntax error: .*${says}`))]);
});

test.each([
  { lacks: 'a quote', text: '{\n  "a": "x,\n  "b": { "c": "d", "e": "f" }\n}', place: '2:8', more: '1 more error' },
  { lacks: 'a quote before a word', text: '{\n  "a": x y z",\n  "a": 1, "a": 2\n}', place: '2:8', more: '4 more errors' },
  { lacks: 'two commas', text: '{\n  "a": 1\n  "b": 2\n  "a": 3\n}', place: '3:3', more: '1 more error' },
])('for a file that lacks $lacks, the first syntax error is reported with the number of further errors', ({ text, place, more }) => {
  const lines = parseDocument('f', text).problems.map(renderProblem);
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^f:${place}: syntax error: .*; fix this first: ${more} after it may follow from it$`)),
  ]);
});

test.each(['\n', '\r\n', '\r'])('line ends %j are counted', (end) => {
  const document = parseDocument('f', ['{', '  "a": {', '    "b": 5', '  }', '}'].join(end));
  expect(document.problem(['a', 'b'], 'x')).toMatchObject({ line: 3, column: 10, path: 'a.b' });
  expect(document.keyProblem(['a', 'b'], 'x')).toMatchObject({ line: 3, column: 5 });
});

test('a problem with a missing key is located at the nearest enclosing object', () => {
  const document = parseDocument('f', '{\n  "a": { "b": [] }\n}');
  expect(document.problem(['a', 'c', 'd'], 'x')).toMatchObject({ line: 2, column: 8, path: 'a.c.d' });
});

test('a duplicate key is a problem, because parsers differ on which value counts', () => {
  const { problems } = parseDocument('f', '{\n  "a": 1,\n  "a": 2\n}');
  expect(problems.map(renderProblem)).toEqual(['f:3:3: duplicate key "a"']);
});

test('a key __proto__ is a problem, and its object inherits nothing', () => {
  const { problems, value } = parseDocument('f', '{ "__proto__": { "command": "evil" } }');
  expect(problems.map(renderProblem)).toEqual(['f:1:3: the key "__proto__" is not allowed']);
  expect((value as { command?: string }).command).toBeUndefined();
});

test('keys keep their order, even if they look like numbers', () => {
  expect(parseDocument('f', '{ "x": { "b": 0, "2": 0, "1": 0 } }').keys(['x'])).toEqual(['b', '2', '1']);
});

test('deeply nested brackets are a problem and not a crash', () => {
  expect(parseDocument('f', '['.repeat(200_000)).problems.map(renderProblem)).toEqual(['f:1:1: nested too deeply']);
});

test('a file with very many errors is refused quickly', () => {
  const { user } = process.cpuUsage();
  expect(parseDocument('f', `{${'"x": 1,\n'.repeat(100_000)}}`).problems).toHaveLength(100);
  expect(process.cpuUsage().user - user).toBeLessThan(3_000_000);
});

test('control characters in keys do not reach the terminal', () => {
  const [problem] = parseDocument('f\u001b[2J', '{ "\\u001b[31m": 1, "\\u001b[31m": 2 }').problems;
  expect(problem && renderProblem(problem)).not.toMatch(/\p{Cc}/u);
});
