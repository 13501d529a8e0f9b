import { expect, test } from 'vitest';
import { pageNames, pageText } from '../../src/cli/show-page.ts';
import { createHome } from './command.ts';
import { allCommands, helpOf } from './command-tree.ts';

test.each(pageNames())('the page %s is readable text', (name) => {
  const text = pageText(name, 100);
  expect(text).not.toMatch(/\]\(|^```|<picture>/m);
  expect(text.length).toBeGreaterThan(500);
});

test('help shows a page, the help of a command, or what there is', async () => {
  const home = createHome();
  expect((await home.quick(['help', 'policy'])).stdout).toContain('FIVE WISHES');
  expect((await home.quick(['help', 'sessions', 'list'])).stdout).toContain('Usage: switchboard sessions list');
  expect((await home.quick(['help'])).stdout).toContain('troubleshooting');
  const { code, stderr } = await home.quick(['help', 'polcy']);
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean "policy"?');
});

test('the help of every command names its page', () => {
  const without = allCommands().flatMap(({ words, command }) => {
    const [, page = ''] = /\nMore: switchboard help ([a-z-]+)\n$/.exec(helpOf(command)) ?? [];
    return pageNames().includes(page) ? [] : [words.join(' ')];
  });
  expect(without).toEqual(['']);
});

test('the commands for several machines name their page, also where their group has another', () => {
  const pageOf = (name: string) => {
    const found = allCommands().find(({ words }) => words.join(' ') === name);
    return found && /help ([a-z-]+)\n$/.exec(helpOf(found.command))?.[1];
  };
  const names = ['host list', 'bus init', 'audit collect', 'audit verify', 'policy bundle', 'policy bundle sign', 'policy check'];
  expect(names.map(pageOf)).toEqual(['scale-out', 'scale-out', 'scale-out', 'policy', 'scale-out', 'scale-out', 'policy']);
});
