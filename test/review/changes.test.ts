import { expect, test } from 'vitest';
import { type Change, changesOf, type Entry, inOrder, type Known } from '../../src/review/changes.ts';

const file = (content: string, more: Partial<Entry> = {}): Entry => ({
  ...{ kind: 'file', mode: 0o644, size: content.length, id: `file ${content}`, content, bornNs: 100n, changedNs: 10n },
  ...more,
});
const directory = (more: Partial<Entry> = {}): Entry => ({ kind: 'directory', mode: 0o755, size: 0, id: 'directory 755', ...more });
const link = (content: string): Entry => ({ kind: 'link', mode: 0o777, size: 1, id: `link ${content}`, content });
const whiteout: Entry = { kind: 'whiteout', mode: 0, size: 0, id: 'whiteout' };
const special: Entry = { kind: 'special', mode: 0o644, size: 0, id: 'pipe' };

type Tree = Readonly<Record<string, Entry>>;
const compare = (layer: Tree, base: Tree, known: Readonly<Record<string, Known>> = {}, root = '/p'): readonly Change[] =>
  changesOf(
    [
      {
        root,
        layer: new Map(Object.entries({ '': directory(), ...layer })),
        base: new Map(Object.entries({ '': directory(), ...base })),
      },
    ],
    { roots: [root], isProtected: (path) => path.endsWith('package.json'), known: (path) => known[path], sinceNs: 50n },
  );
const brief = (changes: readonly Change[]): readonly string[] =>
  changes.map(({ kind, what, path, from, leadsOutside, isProtected, isConflict }) =>
    [kind, what, from ? `${from}>${path}` : path, leadsOutside && 'outside', isProtected && 'protected', isConflict && 'conflict']
      .filter(Boolean)
      .join(' '),
  );

test('no link leads out of a project at the root of the file system', () => {
  expect(brief(compare({ l: link('/etc/passwd') }, {}, {}, '/'))).toEqual(['create link /l']);
});

test.each<[string, Tree, Tree, readonly string[]]>([
  ['a new file', { a: file('x') }, {}, ['create file /p/a']],
  ['an edited file', { a: file('x') }, { a: file('y') }, ['edit file /p/a']],
  ['a file that was only touched', { a: file('x') }, { a: file('x', { id: 'other' }) }, []],
  ['another mode', { a: file('x', { mode: 0o755 }) }, { a: file('x') }, ['mode file /p/a']],
  ['special bits, which are never applied', { a: file('x', { mode: 0o4644 }) }, { a: file('x') }, []],
  ['a deleted file', { a: whiteout }, { a: file('x') }, ['delete file /p/a']],
  ['a whiteout over nothing', { a: whiteout }, {}, []],
  [
    'a deleted directory',
    { d: whiteout },
    { d: directory(), 'd/a': file('x'), 'd/e': directory(), 'd/e/b': file('y') },
    ['delete directory /p/d', 'delete file /p/d/a', 'delete directory /p/d/e', 'delete file /p/d/e/b'],
  ],
  ['a directory that exists below', { d: directory(), 'd/a': file('x') }, { d: directory(), 'd/b': file('y') }, ['create file /p/d/a']],
  [
    'an opaque directory',
    { d: directory({ isOpaque: true }), 'd/a': file('x'), 'd/c': file('z') },
    { d: directory(), 'd/b': file('y'), 'd/c': file('z') },
    ['create file /p/d/a', 'delete file /p/d/b'],
  ],
  ['a new directory with files', { d: directory(), 'd/a': file('x') }, {}, ['create file /p/d/a']],
  ['a new empty directory', { d: directory(), 'd/e': directory() }, {}, ['create directory /p/d/e']],
  ['the mode of a directory', { d: directory({ mode: 0o700 }) }, { d: directory() }, ['mode directory /p/d']],
  ['a renamed file', { a: whiteout, b: file('text') }, { a: file('text') }, ['rename file /p/a>/p/b']],
  ['an empty file is not renamed', { a: whiteout, b: file('') }, { a: file('') }, ['delete file /p/a', 'create file /p/b']],
  ['a copy is no rename', { b: file('text') }, {}, ['create file /p/b']],
  ['a link inside', { 'd/l': link('../a') }, {}, ['create link /p/d/l']],
  ['a link outside, first', { a: file('x'), z: link('../q') }, {}, ['create link /p/z outside', 'create file /p/a']],
  ['an absolute link', { l: link('/etc/passwd') }, {}, ['create link /p/l outside']],
  ['an absolute link inside', { l: link('/p/a') }, {}, ['create link /p/l']],
  ['a link to a name that only begins alike', { l: link('/pq') }, {}, ['create link /p/l outside']],
  ['another target', { l: link('b') }, { l: link('a') }, ['edit link /p/l']],
  ['a file replaced by a link', { a: link('/x') }, { a: file('x') }, ['edit link /p/a outside']],
  [
    'a directory replaced by a link',
    { d: link('/x') },
    { d: directory(), 'd/a': file('x') },
    ['create link /p/d outside', 'delete directory /p/d', 'delete file /p/d/a'],
  ],
  ['a file replaced by a directory', { a: directory(), 'a/b': file('y') }, { a: file('x') }, ['delete file /p/a', 'create file /p/a/b']],
  ['a pipe', { a: special }, {}, ['create special /p/a']],
  [
    'a protected name before others',
    { a: file('x'), 'z/package.json': file('{}') },
    {},
    ['create file /p/z/package.json protected', 'create file /p/a'],
  ],
])('%s', (_, layer, base, expected) => {
  expect(brief(compare(layer, base))).toEqual(expected);
});

test.each<[string, Entry, Entry, Known | undefined, boolean]>([
  ['changed below before the agent copied it', file('x'), file('y', { changedNs: 99n }), undefined, false],
  ['changed below after that', file('x'), file('y', { changedNs: 101n }), undefined, true],
  ['deleted, and changed below in the turn', whiteout, file('y', { changedNs: 51n }), undefined, true],
  ['deleted, and unchanged', whiteout, file('y', { changedNs: 49n }), undefined, false],
  [
    'applied before, and unchanged since',
    file('x'),
    file('y', { changedNs: 101n }),
    { how: 'applied', layer: 'old', base: 'file y' },
    false,
  ],
  ['applied before, and changed since', file('x'), file('y', { changedNs: 101n }), { how: 'applied', layer: 'old', base: 'old' }, true],
  ['waiting, and changed since', file('x'), file('y', { changedNs: 10n }), { how: 'waiting', layer: 'file x', base: 'old' }, true],
  ['waiting, and unchanged', file('x'), file('y', { changedNs: 999n }), { how: 'waiting', layer: 'file x', base: 'file y' }, false],
  ['of a file system without times of birth', file('x', { bornNs: 0n }), file('y', { changedNs: 60n }), undefined, true],
])('a conflict or not: %s', (_, layer, base, known, isConflict) => {
  expect(compare({ a: layer }, { a: base }, known ? { '/p/a': known } : {})).toMatchObject([{ isConflict }]);
});

test.each<[string, Entry, Known, number]>([
  ['dropped', file('x'), { how: 'dropped', layer: 'file x', base: undefined }, 0],
  ['dropped, then changed by the agent', file('z'), { how: 'dropped', layer: 'file x', base: undefined }, 1],
  ['applied, then changed by the user', file('x'), { how: 'applied', layer: 'file x', base: 'old' }, 0],
  ['a dropped deletion', whiteout, { how: 'dropped', layer: 'whiteout', base: 'file y' }, 0],
])('a decided change is listed again only if the agent changes it: %s', (_, layer, known, count) => {
  expect(compare({ a: layer }, { a: file('y') }, { '/p/a': known })).toHaveLength(count);
});

test('deletions are applied from the inside out, and git’s objects before what names them', () => {
  const changes = compare(
    { d: whiteout, '.git/refs/heads/main': file('r'), '.git/objects/aa/b': file('o'), a: file('x') },
    { d: directory(), 'd/b': file('y') },
  );
  expect(inOrder(changes).map(({ path }) => path)).toEqual(['/p/d/b', '/p/d', '/p/a', '/p/.git/objects/aa/b', '/p/.git/refs/heads/main']);
});
