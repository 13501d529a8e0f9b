// What enforcement knows of a session: the directory that its rules mean.
import { expect, test } from 'vitest';
import { SessionEnforcement } from '../../../src/proxy/enforcement/enforcement-state.ts';
import { underPolicy } from './support.ts';

test('the directory of a session is the one that it led to at the first request: a link put in its place later moves no rule', () => {
  const state = new SessionEnforcement();
  expect(state.root('/work', () => '/real')).toBe('/real');
  expect(state.root('/work', () => '/elsewhere')).toBe('/real');
  expect(state.root('/other', () => '/there')).toBe('/there');
  expect(state.root(undefined, () => '/unused')).toBe('/there');
  expect(new SessionEnforcement().root(undefined, () => '/unused')).toBeUndefined();
});

test('a directory that cannot be followed is none, and no rule about it allows anything', async () => {
  const canonical = (path: string) => {
    if (path === '/work') throw new Error('a circle');
    return path;
  };
  expect(new SessionEnforcement().root('/work', canonical)).toBeUndefined();
  const all = await underPolicy({ allow: ['read($cwd/**)'] }, { canonical });
  all.client.on('fs/read_text_file', () => ({ content: '' }));
  await all.agent.request('fs/read_text_file', { sessionId: all.id, path: '/work/a' });
  expect(all.client.all('session/request_permission')).toHaveLength(1);
});
