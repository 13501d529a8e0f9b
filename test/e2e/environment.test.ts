// Agents do not see each other's secrets in their environment, nor the switchboard's tokens.
import { expect } from 'vitest';
import { fixture, open, prompt, testAtOnce as test } from './harness.ts';

test('an agent inherits the environment without the variables that the configuration gives to others', async ({ stage }) => {
  const reference = (name: string) => ({ env: { [`CANARY_SET_${name}`]: `\${env:CANARY_${name}}` } });
  const program = fixture('shows-environment', 'agent');
  const client = await stage.connect(
    {
      left: { ...program, ...reference('LEFT') },
      right: { ...program, ...reference('RIGHT') },
      bare: { ...program, inherit_env: 'minimal' },
    },
    {
      config: { mcp_servers: [{ name: 'docs', command: 'docs', ...reference('DOCS') }] },
      env: { CANARY_LEFT: '1', CANARY_RIGHT: '2', CANARY_DOCS: '3', CANARY_FREE: '4', CANARY_SET_OWN: '5', SWITCHBOARD_TOKEN: '6' },
    },
  );
  const seen = async (agent: string, prefix: string) => {
    const { id } = await open(client, stage.cwd, agent);
    const text = client.got(
      'session/update',
      ({ sessionId, update }) => sessionId === id && update.sessionUpdate === 'agent_message_chunk',
    );
    await prompt(client, id, prefix);
    return (await text).msg.params.update.content.text;
  };
  expect(await seen('left', 'CANARY_')).toBe('CANARY_FREE CANARY_LEFT CANARY_SET_LEFT CANARY_SET_OWN');
  expect(await seen('right', 'CANARY_')).toBe('CANARY_FREE CANARY_RIGHT CANARY_SET_OWN CANARY_SET_RIGHT');
  expect(await seen('bare', 'CANARY_')).toBe('');
  expect(await seen('left', 'SWITCHBOARD_TOKEN')).toBe('');
  expect(await seen('bare', 'PATH')).toBe('PATH');
});
