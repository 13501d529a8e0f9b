// `audit.required`: what cannot be recorded does not happen, also where a rule or the user allows it.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { type Json, test } from './harness.ts';
import { audit, selected, underPolicy } from './policy-support.ts';

const POLICY = { allow: ['execute(ls ...)', 'read($cwd/**)'], ask: ['execute(make ...)'] };
const required = { config: { audit: { required: true } } };

describe.runIf(process.platform === 'linux')('while the disk of the audit log is full', () => {
  const fill = (state: string) => {
    mkdirSync(state, { recursive: true });
    symlinkSync('/dev/full', path.join(state, 'audit.jsonl'));
  };

  test('what a rule allows is denied, and nobody is asked', async ({ stage }) => {
    const { client, ask, agent, id } = await underPolicy(stage, POLICY, required);
    expect(await ask('ls')).toEqual(selected('a1'));
    rmSync(path.join(stage.state, 'audit.jsonl'));
    fill(stage.state);
    expect(await ask('ls')).toEqual(selected('r1'));
    await expect(agent.call('fs/read_text_file', { sessionId: id, path: path.join(stage.cwd, 'a.txt') })).rejects.toMatchObject({
      message: expect.stringContaining('the disk is full (ENOSPC)'),
    });
    expect(client.all('session/request_permission')).toEqual([]);
  });

  test('what the user allows is denied', async ({ stage }) => {
    const { client, ask } = await underPolicy(stage, POLICY, required);
    client.on('session/request_permission', ({ options }: Json) => {
      fill(stage.state);
      return selected(options.find(({ kind }: Json) => kind === 'allow_once').optionId);
    });
    expect(await ask('make')).toEqual(selected('r1'));
    expect(client.all('session/request_permission')).toHaveLength(1);
  });

  test('without it, the user is asked about what a rule allows', async ({ stage }) => {
    const { client, ask } = await underPolicy(stage, POLICY);
    fill(stage.state);
    expect(await ask('ls')).toEqual(selected('a1'));
    expect(client.all('session/request_permission')).toHaveLength(1);
  });

  test('once the log can be written again, decisions are as before', async ({ stage }) => {
    const { ask } = await underPolicy(stage, POLICY, required);
    fill(stage.state);
    expect(await ask('ls')).toEqual(selected('r1'));
    rmSync(path.join(stage.state, 'audit.jsonl'));
    expect(await ask('ls')).toEqual(selected('r1')); // this denial is recorded, and so is what follows
    expect(await ask('ls')).toEqual(selected('a1'));
    expect(audit(stage).map(({ outcome }) => outcome)).toEqual(['prevented', 'allowed']);
  });
});
