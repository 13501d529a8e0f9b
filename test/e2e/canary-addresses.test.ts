// Secrets in addresses: nothing that the proxy writes has them, and the client gets them as they are.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { open, test, text } from './harness.ts';

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(dir, name))
    .filter((file) => statSync(file).isFile());

test('a secret in the address of an elicitation is in no file and not in the error of a crash, in every log mode', async ({ stage }) => {
  for (const frames of ['off', 'metadata', 'redacted']) {
    const secret = `cnry${randomBytes(12).toString('hex')}`;
    const url = `https://user:${secret}@host.example/login?nonce=${secret}&${secret}#${secret}`;
    const agent = stage.agent('agent', {
      mint: (n) => `${frames}-${n}`,
      async turn(session) {
        await agent.call('elicitation/create', { sessionId: session.id, mode: 'url', url, message: 'Log in', elicitationId: 'e' });
        agent.sendText(session.id, 'the last words');
        return new Promise<never>(() => {});
      },
    });
    const client = await stage.connect([agent], {
      config: { policy: { version: 1, default: 'ask' }, log: { frames } },
      args: ['--record', path.join(stage.state, `${frames}.jsonl`)],
    });
    client.on('elicitation/create', () => ({ action: 'accept' }));
    const { id } = await open(client, stage.cwd);
    const turn = client.request('session/prompt', { sessionId: id, prompt: text('log in') });
    await client.until((msg) => msg.params?.update?.content?.text === 'the last words');
    process.kill(agent.pids[0] as number, 'SIGKILL');
    const { error } = await turn;
    const shown = JSON.stringify(error.data.lastFrames);
    expect(shown).toContain('the last words');
    expect(shown).toContain('https://[redacted]@host.example/login?nonce=[redacted]&[redacted]#[redacted]');
    await client.close();
    expect(JSON.stringify(client.seen.map(({ line }) => line))).toContain(secret); // the client gets it as it is
    for (const name of filesBelow(stage.state)) expect(readFileSync(name, 'latin1'), name).not.toContain(secret);
    expect(client.stderr() + JSON.stringify(error), frames).not.toContain(secret);
  }
});
