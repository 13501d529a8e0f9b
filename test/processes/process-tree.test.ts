// Inspecting and stopping a process group.
import { describe, expect, test } from 'vitest';
import { posixTree } from '../../src/processes/process-tree.ts';

describe('a tree on POSIX', () => {
  const failing = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };
  test('is signalled as a group', () => {
    const signals: unknown[] = [];
    const tree = posixTree(4711, undefined, (pid, signal) => void signals.push([pid, signal]));
    tree.end('term');
    tree.end('kill');
    expect(signals).toEqual([
      [-4711, 'SIGTERM'],
      [-4711, 'SIGKILL'],
    ]);
  });
  test('has exited if there is no such group, which is no error', () => {
    const tree = posixTree(4711, undefined, failing('ESRCH'));
    expect(tree.isAlive()).toBe(false);
    expect(() => tree.end('kill')).not.toThrow();
  });
  test('still runs if we may not signal it', () => {
    expect(posixTree(4711, undefined, failing('EPERM')).isAlive()).toBe(true);
    expect(posixTree(4711, undefined, failing('EMFILE')).isAlive()).toBe(true);
  });
});
