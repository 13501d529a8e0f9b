// The user's own tools: programs and modules, mistakes in them, and their output.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { FORMER_NAMES, hostToolsSettings, OWN_TOOLS } from '../../../src/mcp/settings.ts';
import { allTools, toolsFor } from '../../../src/mcp/tools/builtin-tools.ts';
import { type Json, open, type Stage, SWITCHBOARD, testAtOnce as test } from '../../e2e/harness.ts';
import { called, mcpAgent, notified, wordsOf } from '../tool-sessions.ts';

const OURS = { files: false, terminal: false, ask_user: false };
const ZOD = pathToFileURL(path.resolve(import.meta.dirname, '../../../node_modules/zod/index.js')).href;

function moduleOf(stage: Stage, words: string, name = 'tools.mjs'): string {
  writeFileSync(path.join(stage.dir, name), words);
  return name; // relative to the configuration
}
async function connect(stage: Stage, hostTools: Json) {
  const client = await stage.connect({ one: mcpAgent('stdio') }, { config: { host_tools: { ...OURS, ...hostTools } } });
  client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'session' } }));
  const { id } = await open(client, stage.cwd);
  return { client, id };
}

test('tools of modules are called like any other, with a JSON Schema or a zod schema', async ({ stage }) => {
  const plain = moduleOf(
    stage,
    `export const tools = [{
      name: 'shout', description: 'Says it louder.', effect: 'read',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      run: ({ text }, { agent, cwd }) => text.toUpperCase() + ' ' + agent + ' ' + cwd,
    }];`,
  );
  const typed = moduleOf(
    stage,
    `import * as z from ${JSON.stringify(ZOD)};
     export default [{
       name: 'add', description: 'Adds.',
       inputSchema: z.object({ a: z.number(), b: z.number().default(40) }),
       run({ a, b }, { progress }) { progress('adding'); return { content: [{ type: 'text', text: String(a + b) }] }; },
     }, { name: 'fail', description: 'Fails.', run() { throw new Error('no such luck'); } }];`,
    'typed.mjs',
  );
  const { client, id } = await connect(stage, { modules: [plain, typed] });
  const tools = await notified(client, id, 'tools');
  expect(tools.map(({ name }: Json) => name)).toEqual(['session_info', 'shout', 'add', 'fail']);
  expect(tools[2].inputSchema.properties.b).toMatchObject({ type: 'number', default: 40 });
  expect(wordsOf(await called(client, id, 'shout', { text: 'hey' }))).toBe(`HEY one ${stage.cwd}`);
  expect(client.all('session/request_permission')).toEqual([]);
  expect(wordsOf(await called(client, id, 'add', { a: 2 }))).toBe('42');
  expect(client.all('session/request_permission')).toHaveLength(1);
  expect(wordsOf(await called(client, id, 'add', { a: 'two' }))).toContain('not valid');
  expect(wordsOf(await called(client, id, 'fail'))).toContain('no such luck');
});

test('each built-in tool can be disabled by name', async ({ stage }) => {
  const { client, id } = await connect(stage, { files: true, without: ['write_file', 'edit_file', 'session_info'] });
  const tools = await notified(client, id, 'tools');
  expect(tools.map(({ name }: Json) => name)).toEqual(['read_file', 'list_directory', 'search_files']);
  expect(wordsOf(await called(client, id, 'write_file', { path: 'a', content: 'b' }))).toMatch(/write_file/);
  expect(OWN_TOOLS).toEqual([...allTools.map(({ name }) => name), ...Object.keys(FORMER_NAMES)]);
  expect(toolsFor(hostToolsSettings({ without: ['ask_user'] }), () => ({})).map(({ name }) => name)).not.toContain('ask_question');
});

test('secrets are redacted in results if configured', async ({ stage }) => {
  const secret = 'canary-9b1f7c3e5a';
  const command = { name: 'tell', description: 'Tells.', command: process.execPath, args: ['-e', `console.log("it is ${secret}")`] };
  const agent = { ...mcpAgent('stdio'), env: { SOME_TOKEN: secret } };
  for (const redact_results of [false, true]) {
    const config = { host_tools: { ...OURS, commands: [command], redact_results } };
    const client = await stage.connect({ one: agent }, { config });
    client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'once' } }));
    const { id } = await open(client, stage.cwd);
    expect(wordsOf(await called(client, id, 'tell')).includes(secret)).toBe(!redact_results);
  }
});

test('programs do not inherit the secrets that the configuration uses, nor our tokens', async ({ stage }) => {
  const script = 'console.log(Object.keys(process.env).filter((name) => /^(CANARY_|SWITCHBOARD_TOKEN)/.test(name)).sort().join(" "))';
  const command = { name: 'names', description: 'Names.', command: process.execPath, args: ['-e', script] };
  const client = await stage.connect(
    { one: { ...mcpAgent('stdio'), env: { A: `\${env:CANARY_AGENT}` } } },
    {
      config: {
        host_tools: { ...OURS, commands: [command] },
        mcp_servers: [{ name: 'docs', command: 'docs', env: { B: `\${env:CANARY_SERVER}` } }],
      },
      env: { CANARY_AGENT: '1', CANARY_SERVER: '2', CANARY_FREE: '3', SWITCHBOARD_TOKEN: '4' },
    },
  );
  client.on('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'once' } }));
  const { id } = await open(client, stage.cwd);
  expect(wordsOf(await called(client, id, 'names')).trim()).toBe('CANARY_FREE');
});

test('mistakes in them are reported with their location, and the exit code is 6', async ({ stage }) => {
  const tool = { name: 'one', description: 'd', command: 'c' };
  const broken = moduleOf(stage, 'export const tools = [{ name: "x", description: "d" }];');
  const none = moduleOf(stage, 'export const other = 1;', 'none.mjs');
  const syntax = moduleOf(stage, 'export const tools = [;', 'syntax.mjs');
  const same = moduleOf(stage, 'export const tools = [{ name: "one", description: "d", run() {} }];', 'same.mjs');
  const odd = moduleOf(
    stage,
    'export const tools = [{ name: "odd", description: "d", inputSchema: { type: "array" }, run() {} }];',
    'odd.mjs',
  );
  const cases: readonly (readonly [Json, RegExp])[] = [
    [{ commands: [tool, tool] }, /config-\d+\.json:\d+:\d+: host_tools\.commands\[1\]\.name: another tool has this name/],
    [{ commands: [{ ...tool, name: 'read_file' }] }, /host_tools\.commands\[0\]\.name: another tool has this name/],
    [{ commands: [{ ...tool, input_schema: { type: 'string' } }] }, /host_tools\.commands\[0\]\.input_schema: expected a JSON Schema/],
    [{ commands: [{ ...tool, input_schema: { type: 'object', properties: 7 } }] }, /host_tools\.commands\[0\]\.input_schema: not a usable/],
    [{ commands: [{ ...tool, args: ['{nothing}'] }] }, /host_tools\.commands\[0\]\.args\[0\]: a placeholder is not a property/],
    [{ without: ['reed_file'] }, /host_tools\.without\[0\]: .*"read_file"/],
    [{ modules: [broken] }, /host_tools\.modules\[0\]: .*tools\.mjs: tools\[0\]: "run" is not a function/],
    [{ modules: ['gone.mjs'] }, /host_tools\.modules\[0\]: .*gone\.mjs: cannot be loaded/],
    [{ modules: [none] }, /none\.mjs: exports no list of tools/],
    [{ modules: [syntax] }, /syntax\.mjs: cannot be loaded/],
    [{ commands: [tool], modules: [same] }, /tool "one": name: another tool has this name/],
    [{ modules: [odd] }, /tool "odd": input_schema: expected a JSON Schema with "type": "object"/],
  ];
  const ended = await Promise.all(
    cases.map(async ([host_tools, words]) => {
      const config = stage.writeConfig({ one: mcpAgent('none') }, { host_tools });
      const proxy = stage.run(process.execPath, [SWITCHBOARD, 'acp', '--config', config]);
      return { code: await proxy.ended, isExplained: words.test(proxy.stderr()), words, stderr: proxy.stderr() };
    }),
  );
  for (const { code, isExplained, words, stderr } of ended)
    expect({ code, isExplained }, `${words} in ${stderr}`).toEqual({ code: 6, isExplained: true });
});
