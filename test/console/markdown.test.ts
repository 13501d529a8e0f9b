// Markdown built to be slow or deep must not block a page on which requests wait.
import path from 'node:path';
import { expect, test } from 'vitest';

type Element = { readonly type: unknown; readonly props: { readonly children?: unknown } };
type Draws = ((props: unknown) => unknown) & (new (props: unknown) => { render(): unknown });

// By path: the page's code is typed for the browser.
const { Markdown }: { Markdown: Draws } = await import(
  path.resolve(import.meta.dirname, '../../console/components/conversation/markdown.tsx')
);

/** The rendered text, and the depth of its elements. */
function drawn(node: unknown, depth = 0): { readonly text: string; readonly depth: number } {
  if (Array.isArray(node)) {
    const all = node.map((one) => drawn(one, depth));
    return { text: all.map(({ text }) => text).join(''), depth: Math.max(depth, ...all.map((one) => one.depth)) };
  }
  if (typeof node !== 'object' || node === null) return { text: typeof node === 'string' ? node : '', depth };
  const { type, props } = node as Element;
  if (typeof type === 'string') return drawn(props.children, depth + 1);
  const draws = type as Draws;
  const isClass = 'render' in (draws.prototype ?? {});
  return drawn(isClass ? Object.assign(new draws(props), { props }).render() : draws(props), depth);
}

test.each([
  ['runs of backticks, each of another length', Array.from({ length: 190 }, (_, n) => '`'.repeat(n + 1)).join('a')],
  ['brackets that are never closed', '['.repeat(19_000)],
  ['the beginnings of links', '[a]('.repeat(4000)],
  ['a fence with much behind it', `\`\`\`${' '.repeat(30_000)}\``],
  ['a table that is none', `a|b\n${' '.repeat(30_000)}x`],
])('%s render at once', (_, text) => {
  const { user } = process.cpuUsage();
  drawn({ type: Markdown, props: { text } });
  expect(process.cpuUsage().user - user).toBeLessThan(800_000);
});

test('nested quotes have a limit, and their text stays', () => {
  const { text, depth } = drawn({ type: Markdown, props: { text: `${'>'.repeat(20_000)} bottom` } });
  expect(depth).toBeLessThan(40);
  expect(text).toContain('bottom');
});

test('ordinary Markdown still works', () => {
  const { text } = drawn({
    type: Markdown,
    props: { text: '# Head\n\n**bold** `code` ``a`b`` [name](https://a.example/x "t") _so_\n\n|a|b|\n|-|-|\n|1|2|\n\n- one\n  - two' },
  });
  expect(text).toBe('Headbold code a`b name soab12onetwo');
});
