// Links lead to pages and headings that exist.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { decisions, frontPages, pages, proseOf, root } from './pages.ts';

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

test('every page is named in the README', () => {
  const named = new Set([...proseOf('README.md').matchAll(/\]\((docs\/[^)#]+\.md)/g)].map(([, file]) => file));
  expect(pages.filter((file) => !named.has(file))).toEqual([]);
});
