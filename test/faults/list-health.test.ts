// `agents list` next to a running proxy: what is wrong with an agent, without its secrets.
import { expect, vi } from 'vitest';
import { fixture, hello, type Stage, SWITCHBOARD } from '../e2e/harness.ts';
import { test } from './setup.ts';

async function list(stage: Stage, ...args: string[]): Promise<string> {
  const child = stage.spawn(process.execPath, [SWITCHBOARD, 'agents', 'list', ...args]);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return Buffer.concat(chunks).toString();
}

test('an unavailable agent is listed with the reason and its last output, without its secrets', async ({ stage }) => {
  const script = "console.error('cannot log in with ' + process.env.MY_KEY); process.exit(3)";
  const sick = { command: process.execPath, args: ['-e', script], env: { MY_KEY: 'hunter2-hunter2' }, restart: { max: 0 } };
  const wellBehaved = fixture('well-behaved', 'well');
  const well = { ...wellBehaved, args: [...wellBehaved.args, 'two words', '--token', 'hunter2-of-well'] };
  const file = stage.writeConfig({ sick, well });
  const client = stage.run(process.execPath, [SWITCHBOARD, 'acp', '--config', file]);
  await hello(client);
  const output = await vi.waitFor(
    async () => {
      const text = await list(stage, '--config', file);
      expect(text).toMatch(/^sick: Agent "sick" exited \(code 3\)/m);
      return text;
    },
    { timeout: 20_000, interval: 200 },
  );
  expect(output).toMatch(/^ {2}\| cannot log in with /m);
  expect(output).toMatch(/^well .*well-behaved\.mjs well 'two words' --token '…'$/m);
  const { data } = JSON.parse(await list(stage, '--config', file, '--json'));
  expect(data.agents[0].processes[0]).toMatchObject({ lastError: 'AGENT_GONE', stderrTail: [expect.stringContaining('cannot log in')] });
  expect(data.agents[1].args.slice(-3)).toEqual(['two words', '--token', '…']);
  expect(`${output}${JSON.stringify(data)}`).not.toContain('hunter2');
});
