// The program is rebuilt or reinstalled while it runs: parts that it has not loaded yet are missing, or of another build.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { serve } from '../console/serve.ts';
import { fixture, hello, open, prompt } from '../e2e/harness.ts';
import { end } from '../proxy/actors.ts';
import { noticed, test } from './setup.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
/** The program and what to do; the name of the part is up to the build. */
const gone = (dist: string, before = '') =>
  new RegExp(
    `${before}a part of switchboard ${version} cannot be loaded any more \\(${dist}/[\\w-]+\\.js\\): the program was replaced or removed while it ran; start it again$`,
    'm',
  );

/** A program that may be removed. */
function copyProgram(to: string): { readonly bin: string; readonly dist: string } {
  const isNeeded = (file: string) => !/\.map$|[/\\](?:types|lib)$/.test(file);
  for (const name of ['package.json', 'bin', 'config', 'dist'])
    cpSync(path.join(ROOT, name), path.join(to, name), { recursive: true, filter: isNeeded });
  return { bin: path.join(to, 'bin', 'switchboard.js'), dist: path.join(to, 'dist') };
}

test.concurrent('a console whose program is gone reports the missing part, and continues with all the others', async ({
  stage,
  onTestFinished,
}) => {
  const { bin, dist } = copyProgram(path.join(stage.dir, 'program'));
  const serving = await serve({}, {}, {}, {}, bin);
  onTestFinished(async () => void (await serving.stop()));
  const entered = await fetch(`${serving.origin}/enter`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: serving.origin },
    body: JSON.stringify({ token: new URL(serving.link).hash.slice(1) }),
  });
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const { pageKey } = (await entered.json()) as { pageKey: string };
  rmSync(dist, { recursive: true });

  const page = new WebSocket(`${serving.origin.replace('http', 'ws')}/socket`, { headers: { cookie, origin: serving.origin } });
  onTestFinished(() => page.terminate());
  const answers = new Map<number, (answer: { result?: { sessionId?: string }; error?: unknown }) => void>();
  page.on('message', (data) => {
    const { t, re, ...answer } = JSON.parse(String(data));
    if (t === 'answer') answers.get(re)?.(answer);
  });
  const ask = (id: number, action: string, params: object) =>
    new Promise<{ result?: { sessionId?: string }; error?: unknown }>((resolve) => {
      answers.set(id, resolve);
      page.send(JSON.stringify({ id, action, params }));
    });
  await new Promise((resolve) => page.once('open', resolve));
  page.send(JSON.stringify({ hello: pageKey }));

  expect(await ask(1, 'doctor', { isStarting: false })).toEqual({ error: { message: expect.stringMatching(gone(dist)) } });
  const { sessionId } = (await ask(2, 'new', { agent: 'mime' })).result ?? {};
  expect((await ask(3, 'prompt', { sessionId, blocks: [{ type: 'text', text: 'still there?' }] })).error).toBeUndefined();
  expect(serving.child.exitCode).toBeNull();
});

test.concurrent('a proxy does not load parts of another build, and its sessions continue', async ({ stage }) => {
  const { bin, dist } = copyProgram(path.join(stage.dir, 'program'));
  const agents = { one: fixture('well-behaved', 'one'), two: fixture('well-behaved', 'two') };
  const file = stage.writeConfig(agents);
  const start = async () => {
    const client = stage.run(process.execPath, [bin, 'acp', '--config', file]);
    await hello(client);
    return client;
  };
  // A file that was valid the last time is accepted without its parser, which is not loaded the second time.
  await (await start()).close();
  const client = await start();
  const { id } = await open(client, stage.cwd, 'one');
  for (const name of readdirSync(dist).filter((each) => each.endsWith('.js'))) {
    const text = readFileSync(path.join(dist, name), 'utf8');
    writeFileSync(path.join(dist, name), text.replace(/(start\.program !== ')[^']+/, '$1another'));
  }
  writeFileSync(file, JSON.stringify({ agent_servers: { ...agents, three: fixture('well-behaved', 'three') } }));
  client.child.kill('SIGHUP');
  await noticed(client, gone(dist, 'IS INVALID; keeping the previous one: '));
  expect((await prompt(client, id, 'count 2')).result).toEqual(end);
  expect(await client.close()).toBe(0);
});

test.concurrent('a command whose parts are gone reports that instead of a bug; one that can do without them continues', async ({
  stage,
}) => {
  const { bin, dist } = copyProgram(path.join(stage.dir, 'program'));
  const isPart = (name: string) => name.endsWith('.js') && name !== 'demo-agent.js';
  for (const name of readdirSync(dist).filter(isPart)) rmSync(path.join(dist, name));
  const command = stage.run(process.execPath, [bin, 'doctor']);
  expect(await command.ended).toBe(1);
  expect(command.stderr()).toMatch(gone(dist, '^switchboard: '));
  expect(command.stderr().trimEnd()).not.toContain('\n');

  const client = stage.run(process.execPath, [bin, 'acp']);
  await hello(client);
  writeFileSync(path.join(stage.cwd, 'switchboard.json'), '{}');
  await noticed(client, gone(dist, 'IS INVALID; keeping the previous one: '));
  const { id } = await open(client, stage.cwd);
  expect((await prompt(client, id, 'still there?')).result).toEqual(end);
  expect(await client.close()).toBe(0);
});
