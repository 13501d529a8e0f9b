// Size and colour contrast of the built page.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const DIST = path.resolve(import.meta.dirname, '../../dist/console');
const STYLE = readFileSync(path.resolve(import.meta.dirname, '../../console/style/first/base.css'), 'utf8');
const read = (name: string) => readFileSync(path.join(DIST, name), 'utf8');
const sizeOf = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0);
const isCode = (name: string) => /\.(?:js|css|html|svg)$/.test(name);

/** Static imports of a file; `import()` loads later. */
function needed(entry: string, found = new Set<string>()): Set<string> {
  found.add(entry);
  for (const [, name = ''] of read(entry).matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g)) if (!found.has(name)) needed(name, found);
  return found;
}

describe('the page', () => {
  test('weighs 24 kB at first, and 116 kB with everything', () => {
    const first = new Set([...needed('page.js'), 'style.css', 'index.html', 'icon.svg']);
    expect(first.size).toBeGreaterThan(4);
    expect(sizeOf(first)).toBeLessThanOrEqual(24_000);
    expect(sizeOf(readdirSync(DIST).filter(isCode))).toBeLessThanOrEqual(116_000);
  });

  test('loads nothing from other origins and has no inline code', () => {
    for (const name of readdirSync(DIST).filter(isCode)) expect(read(name)).not.toMatch(/(?:src|href)=["'](?:https?:)?\/\//);
    const html = read('index.html');
    for (const [, name = ''] of html.matchAll(/(?:src|href)="\/([^"]+)"/g)) expect(existsSync(path.join(DIST, name))).toBe(true);
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=/);
    for (const name of readdirSync(DIST).filter((one) => one.endsWith('.js'))) expect(read(name)).not.toMatch(/\beval\(|new Function\(/);
  });
});

type Colour = readonly [number, number, number];
const SCHEMES = ['light', 'dark'] as const;

function colours(scheme: (typeof SCHEMES)[number]): ReadonlyMap<string, Colour> {
  const found = [...STYLE.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(
    ([, name = '', light = '', dark = '']): [string, Colour] => {
      const text = scheme === 'light' ? light : dark;
      return [name, [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)) as unknown as Colour];
    },
  );
  return new Map(found);
}

/** The contrast ratio as defined by WCAG. */
function contrast(a: Colour, b: Colour): number {
  const luminance = (colour: Colour) => {
    const [red = 0, green = 0, blue = 0] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(SCHEMES)('%s colours', (scheme) => {
  const grounds = ['bg', 'side', 'raised', 'sunk'];
  const pairs = [
    ...['text', 'dim', 'accent', 'good', 'bad', 'warn'].flatMap((ink) => grounds.map((ground) => [ink, ground] as const)),
    ...['accent', 'good', 'bad', 'warn'].flatMap((tone) => [[tone, `${tone}-soft`] as const, ['text', `${tone}-soft`] as const]),
    // Code in diffs is highlighted too.
    ...['dim', 'accent', 'good', 'warn'].flatMap((ink) => ['good-soft', 'bad-soft'].map((ground) => [ink, ground] as const)),
    ...[['dim', 'accent-soft'] as const, ['on-accent', 'accent'] as const, ['text', 'old-mark'] as const, ['text', 'new-mark'] as const],
  ];

  test.each(pairs)('%s is readable on %s', (ink, ground) => {
    const all = colours(scheme);
    expect(contrast(all.get(ink) as Colour, all.get(ground) as Colour)).toBeGreaterThanOrEqual(4.5);
  });
});
