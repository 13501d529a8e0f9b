// What an agent's program inherits: neither other agents' secrets nor our own tokens.
import { expect, test } from 'vitest';
import { inheritedEnvironment } from '../../src/agents/environment.ts';

const ENV = {
  PATH: '/bin',
  HOME: '/home/ada',
  LC_ALL: 'C.UTF-8',
  EDITOR: 'vi',
  OTHER_KEY: 'secret of another agent',
  SWITCHBOARD_TOKEN: 'ours',
  SWITCHBOARD_MCP_TOKEN: 'ours too',
  SWITCHBOARD_HOME: '/state',
};

test.each([
  ['all', ['PATH', 'HOME', 'LC_ALL', 'EDITOR', 'SWITCHBOARD_HOME']],
  ['minimal', ['PATH', 'HOME', 'LC_ALL']],
  [['EDITOR'], ['PATH', 'HOME', 'LC_ALL', 'EDITOR']],
  [
    ['OTHER_KEY', 'SWITCHBOARD_TOKEN'],
    ['PATH', 'HOME', 'LC_ALL', 'OTHER_KEY'],
  ],
] as const)('inherit_env %j leaves %j', (inherit, names) => {
  expect(Object.keys(inheritedEnvironment(ENV, inherit, ['OTHER_KEY']))).toEqual(names);
});

test('another spelling of a withheld variable is withheld too, since Windows takes both for one', () => {
  expect(inheritedEnvironment({ other_key: 'secret', switchboard_token: 'ours' }, 'all', ['OTHER_KEY'])).toEqual({});
});
