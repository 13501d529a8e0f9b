// Stopping a process tree on Windows.
import { describe, expect, test } from 'vitest';
import { windowsTree } from '../../../src/platform/windows/process-tree.ts';

describe('a tree on Windows', () => {
  const commands: string[][] = [];
  const tree = (hasExited: boolean) =>
    windowsTree(
      4711,
      () => hasExited,
      (command, args) => void commands.push([command, ...args]),
    );
  test('is terminated with all its children, then killed', () => {
    tree(false).end('term');
    tree(false).end('kill');
    expect(commands).toEqual([
      ['taskkill', '/PID', '4711', '/T'],
      ['taskkill', '/PID', '4711', '/T', '/F'],
    ]);
  });
  test('runs as long as its root', () => {
    expect(tree(false).isAlive()).toBe(true);
    expect(tree(true).isAlive()).toBe(false);
  });
});
