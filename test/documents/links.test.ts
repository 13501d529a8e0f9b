// Links lead to pages and headings that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { decisions, frontPages, pages, proseOf, root, textOf } from './pages.ts';

/** The anchors of a page, as GitHub makes them from its headings. */
function anchorsOf(file: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...proseOf(file).matchAll(/^#+ +(.*)$/gm)].map(([, heading = '']) => {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  });
  return new Set(anchors);
}

test.each([...frontPages, 'CHANGELOG.md', ...pages, ...decisions])('every link in %s leads somewhere', (file) => {
  const links = [...proseOf(file).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  const dead = links.filter(([, target = '', anchor]) => {
    const to = target === '' ? file : path.join(path.dirname(file), target);
    if (!existsSync(path.join(root, to))) return true;
    return anchor !== undefined && to.endsWith('.md') && !anchorsOf(to).has(anchor);
  });
  expect(dead.map(([link]) => link)).toEqual([]);
});

const picturesIn = (file: string) => [...proseOf(file).matchAll(/ (src|srcset)="([^"]+)"/g)].map(([, kind, target = '']) => [kind, target]);

test.each([...frontPages, ...pages])('every picture of %s exists in both themes', (file) => {
  const pictures = picturesIn(file);
  for (const [, target = ''] of pictures) expect(existsSync(path.join(root, path.dirname(file), target)), target).toBe(true);
  const of = (kind: string) => pictures.flatMap(([one, target = '']) => (one === kind ? [target] : []));
  expect(of('srcset')).toEqual(of('src').map((target) => target.replace('.png', '-dark.png')));
  // An SVG has both themes in itself; a screenshot has not.
  expect(textOf(file)).not.toMatch(/!\[[^\]]*\]\([^)]*\.png\)/);
});

test('every picture is on a page', () => {
  const text = [...frontPages, ...pages].map(textOf).join('\n');
  const images = readdirSync(path.join(root, 'docs/images'));
  expect(images.filter((file) => !text.includes(`images/${file}`))).toEqual([]);
});

test('every page is named in the README', () => {
  const named = new Set([...proseOf('README.md').matchAll(/\]\((docs\/[^)#]+\.md)/g)].map(([, file]) => file));
  expect(pages.filter((file) => !named.has(file))).toEqual([]);
});

test('the messages and settings name pages and headings that exist', () => {
  const sources = ['src', 'console', 'config'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:tsx?|ya?ml|jsonc?)$/.test(file))
      .map((file) => path.join(folder, file)),
  );
  const wrong = sources.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8');
    return [...text.matchAll(/(?:"([^"\n]+)" in )?(?<![\w/$*])docs\/((?:decisions\/)?[\w-]+\.md)|switchboard help ([a-z-]+)/g)].flatMap(
      ([match, heading, named = '', word]) => {
        const page = path.join('docs', word === undefined ? named : `${word}.md`);
        const isThere = existsSync(path.join(root, page)) && (heading === undefined || textOf(page).includes(`\n## ${heading}\n`));
        return isThere ? [] : [`${file}: ${match}`];
      },
    );
  });
  expect(wrong).toEqual([]);
});
