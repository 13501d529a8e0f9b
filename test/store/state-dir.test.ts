// Where the state directory is.
import { describe, expect, test } from 'vitest';
import { stateDir } from '../../src/store/state-dir.ts';

describe('the state directory is', () => {
  test.each([
    ['where SWITCHBOARD_HOME says', { SWITCHBOARD_HOME: '/x', XDG_STATE_HOME: '/y' }, 'linux', '/x'],
    ['below XDG_STATE_HOME', { XDG_STATE_HOME: '/y' }, 'linux', '/y/acp-switchboard'],
    ['in the home directory otherwise', {}, 'linux', '/home/u/.local/state/acp-switchboard'],
    ['not where an empty variable says', { SWITCHBOARD_HOME: '', XDG_STATE_HOME: '' }, 'linux', '/home/u/.local/state/acp-switchboard'],
    ['in the Library on a Mac', { XDG_STATE_HOME: '/y' }, 'darwin', '/home/u/Library/Application Support/acp-switchboard/state'],
  ] as const)('%s', (_, env, platform, expected) => {
    expect(stateDir(env, '/home/u', platform)).toBe(expected);
  });
});
