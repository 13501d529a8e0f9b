// The documents name files, keys and commands that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createHome } from '../cli/command.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const inDocs = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
const inSource = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CODE_OF_CONDUCT.md',
  'bench/README.md',
  'test/README.md',
  'CHANGELOG.md',
  ...inDocs.map((file) => path.join('docs', file)),
  ...inSource.map((file) => path.join('src', file)),
];
const foldersIn = (place: string) =>
  readdirSync(path.join(root, place), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
const folders = foldersIn('src');

test.each(documents)('every file that %s names exists', (document) => {
  const text = read(document);
  const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => path.join(path.dirname(document), target));
  const named = [...text.matchAll(/(?<![\w/.-])(?:src|test|docs|scripts|config|bin)\/[\w./-]*\w(?:\.\w+)/g)].map(([file]) => file);
  // Where the text is about source, files are named by folder alone: `proxy/turns/prompt.ts`. The console's page has a folder at the root.
  const near = document.startsWith('src') ? foldersIn(path.dirname(document)) : [];
  const ofSource = [
    ...text.matchAll(new RegExp(`(?<![\\w/.-])(?:${[...folders, ...near].join('|')})/(?:[\\w-]+/)*[\\w-]+\\.tsx?\\b`, 'g')),
  ].map(([file]) => file);
  const isThere = (file: string) => existsSync(path.join(root, file));
  expect([...linked, ...named].filter((file) => !isThere(file))).toEqual([]);
  const places = ['src', '', path.dirname(document)];
  expect(ofSource.filter((file) => !places.some((place) => isThere(path.join(place, file))))).toEqual([]);
});

test('every decision has the same form', () => {
  const parts = (file: string) =>
    [...read(`docs/decisions/${file}`).matchAll(/^\*\*(Context|Decision|Consequences)\.\*\*/gm)].map(([, part]) => part);
  for (const file of readdirSync(path.join(root, 'docs/decisions')))
    expect(parts(file), file).toEqual(['Context', 'Decision', 'Consequences']);
});

test('every decision has a unique number, which its title repeats', () => {
  const decisions = readdirSync(path.join(root, 'docs/decisions'));
  const numbers = decisions.map((file) => file.slice(0, 4));
  expect(new Set(numbers).size).toBe(numbers.length);
  for (const file of decisions) expect(read(`docs/decisions/${file}`)).toMatch(new RegExp(`^# ${file.slice(0, 4)}: `));
});

type Schema = { properties?: Record<string, Schema>; additionalProperties?: Schema | boolean; items?: Schema };

function keysOf({ properties = {}, additionalProperties, items }: Schema): string[] {
  const inner = [items, typeof additionalProperties === 'object' ? additionalProperties : undefined].filter((one) => one !== undefined);
  return [...Object.entries(properties).flatMap(([key, value]) => [key, ...keysOf(value)]), ...inner.flatMap(keysOf)];
}

test('docs/configuration.md lists every key of the schema', () => {
  const text = read('docs/configuration.md');
  const keys = new Set(keysOf(JSON.parse(read('config/switchboard.schema.json'))));
  expect(keys.size).toBeGreaterThan(20);
  const isNamed = (key: string) => ['`', '.', '"'].some((before) => ['`', '.', '"'].some((after) => text.includes(before + key + after)));
  expect([...keys].filter((key) => !isNamed(key))).toEqual([]);
});

test('the configuration in the README is valid', async () => {
  const [, example = ''] = /```jsonc\n(.*?)```/s.exec(read('README.md')) ?? [];
  const home = createHome();
  const { code, stdout } = await home.run(['config', 'validate', home.write('readme.jsonc', example)]);
  expect(code).toBe(0);
  expect(stdout).toContain('agents: claude (default), gemini');
});
