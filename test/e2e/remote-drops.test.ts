// A switchboard on another machine as the agent, over streamable HTTP: the connection breaks in each state of a turn.
import { describe, expect } from 'vitest';
import { createToken, startDaemon } from './daemon.ts';
import { type Client, open, prompt, type ScriptedAgent, type Server, testAtOnce as test, UNANSWERED } from './harness.ts';
import { startRelay } from './relay.ts';

const OPTIONS = [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }];

/** How a turn gets into each state. */
const STATES: Readonly<Record<string, (far: ScriptedAgent, client: Client, id: string, clientId: string) => Promise<unknown>>> = {
  'before the first update': async () => {},
  async 'after an update'(far, client, id) {
    far.sendText(id, 'begun ');
    await client.got('session/update');
  },
  async 'while a permission request is open'(far, client, id) {
    client.on('session/request_permission', () => UNANSWERED);
    far.send({ id: 'p', method: 'session/request_permission', params: { sessionId: id, toolCall: { toolCallId: 't' }, options: OPTIONS } });
    await client.got('session/request_permission');
  },
  async 'while the turn is cancelled'(far, client, _, clientId) {
    client.notify('session/cancel', { sessionId: clientId });
    await far.got('session/cancel');
  },
};

describe('a connection over HTTP that breaks', () => {
  test.for(Object.entries(STATES))(
    '%s: the prompt is not sent again, and the next one is answered in the same session',
    async ([, reach], { stage }) => {
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const far = stage.agent('far', {
        async turn({ id }, text) {
          if (text === 'once') await ended;
          far.sendText(id, `answer to ${text};`);
          return { stopReason: 'end_turn' };
        },
      });
      const daemon = await startDaemon(stage, [far], { config: { network_clients: { hosts: ['127.0.0.1'] } } });
      const relay = await startRelay(daemon);
      const url = `${relay.daemon.address}/acp`;
      const headers = { authorization: `Bearer ${createToken(stage, 'x', 'owner')}` };
      const client = await stage.connect({ far: { url, headers, files: 'same' } as unknown as Server });
      const { id } = await open(client, stage.cwd);
      const turn = prompt(client, id, 'once');
      const { msg } = await far.got('session/prompt');
      await reach(far, client, msg.params.sessionId, id);
      relay.cut();
      const { error, result } = await turn;
      expect(error?.data.reason ?? result.stopReason).toMatch(/^(disconnected|cancelled)$/);
      const next = prompt(client, id, 'next');
      end();
      expect((await next).result.stopReason).toBe('end_turn');
      expect(client.agentText(id).split('answer to next;')).toHaveLength(2);
      expect(far.all('session/prompt').map(({ msg: { params } }) => params.prompt[0].text)).toEqual(['once', 'next']);
      relay.stop();
    },
  );
});
