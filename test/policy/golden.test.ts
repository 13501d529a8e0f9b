// Every recorded permission request of real agents, decided by the standard preset. Review each changed line.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Action, Place } from '../../src/policy/actions/action.ts';
import { permissionAction } from '../../src/policy/actions/permission.ts';
import { mergeToolCall, type ToolCall } from '../../src/policy/actions/tool-call.ts';
import { decide } from '../../src/policy/decide.ts';
import { combine } from '../../src/policy/rules/layers.ts';
import { fileText, policyFile } from './support.ts';

type Recorded = { agent: string; cwd: string; before: ToolCall[]; request: { toolCall: ToolCall } };
const RECORDED = JSON.parse(fileText('test/policy/fixtures/permission-requests.json')) as Recorded[];
const policy = combine([{ name: 'user', policy: policyFile(fileText('config/policies/standard.yaml'), 'standard.yaml') }]);

function actionOf({ agent, cwd, before, request }: Recorded): Action {
  const place: Place = { agent, cwd, home: '/run/home', session: 'session:0' };
  return permissionAction(
    place,
    request,
    before.reduce<ToolCall | undefined>((known, update) => mergeToolCall(known, update), undefined),
  );
}

function summary(recorded: Recorded): string {
  const action = actionOf(recorded);
  const { verdict, why } = decide(policy, action);
  const what = action.mcp
    ? `${action.mcp.server}:${action.mcp.tool}`
    : [...action.commands.map(({ argv }) => argv.join(' ')), ...action.paths.map(({ path }) => path)];
  return `${recorded.agent}: ${action.kind} ${[what].flat().join(' + ')} [${action.evidence}] -> ${verdict}: ${why}`;
}

test(`the ${RECORDED.length} recorded permission requests are decided as recorded`, async () => {
  await expect(`${RECORDED.map(summary).join('\n')}\n`).toMatchFileSnapshot('./fixtures/permission-requests.golden.txt');
});

describe('of what real agents send', () => {
  const of = (agent: string, part: string) => {
    const found = RECORDED.find((recorded) => recorded.agent === agent && JSON.stringify(recorded.request).includes(part));
    if (!found) throw new Error(`no ${part} of ${agent}`);
    return actionOf(found);
  };

  test("claude's MCP call names server and tool", () => {
    expect(of('claude', 'mcp__probe__host_echo')).toMatchObject({
      kind: 'mcp',
      evidence: 'raw',
      mcp: { server: 'probe', tool: 'host_echo', args: { message: 'from-fake-llm' } },
    });
  });

  test("codex's MCP request carries only its id, and is read from the earlier tool call", () => {
    expect(of('codex', 'is_mcp_tool_approval')).toMatchObject({
      kind: 'mcp',
      evidence: 'raw',
      mcp: { server: 'probe', tool: 'host_echo' },
    });
  });

  test('without that earlier call nothing is known, and nothing allows it', () => {
    const request = RECORDED.find(
      ({ agent, request }) => agent === 'codex' && JSON.stringify(request).includes('is_mcp_tool_approval'),
    )?.request;
    const action = permissionAction({ agent: 'codex', cwd: '/run/project' }, request);
    expect(action).toMatchObject({ kind: 'execute', evidence: 'none', commands: [] });
    const open = combine([{ name: 'user', policy: policyFile('version: 1\ndefault: allow\nallow: [execute, mcp, other]') }]);
    expect(decide(open, action).verdict).toBe('ask');
  });

  test("gemini's command is only in the title, which is not enough to allow it", () => {
    const action = of('gemini', 'run_shell_command');
    expect(action).toMatchObject({ kind: 'execute', evidence: 'title' });
    expect(action.commands.map(({ argv, where }) => [argv.join(' '), where])).toEqual([
      ['touch fake-shell-ran', 'within'],
      ['echo shell-ran', 'within'],
    ]);
    const open = combine([{ name: 'user', policy: policyFile('version: 1\ndefault: allow\nallow: [execute]') }]);
    expect(decide(open, action).verdict).toBe('ask');
    const strict = combine([{ name: 'user', policy: policyFile('version: 1\ndeny: [execute(touch ...)]') }]);
    expect(decide(strict, action).verdict).toBe('deny');
  });

  test.each(['claude', 'gemini', 'opencode', 'copilot'])('the file that %s writes is known from its input or diff', (agent) => {
    expect(of(agent, 'note.txt')).toMatchObject({
      kind: 'edit',
      evidence: 'raw',
      paths: [{ path: '/run/project/note.txt', access: 'write' }],
    });
  });
});

const TRACES = fileURLToPath(new URL('../recordings/', import.meta.url));

test('the fixtures hold every permission request of test/recordings', () => {
  const count = readdirSync(TRACES)
    .filter((name) => name.endsWith('.ndjson'))
    .flatMap((name) => readFileSync(`${TRACES}/${name}`, 'utf8').split('\n'))
    .filter((line) => line !== '' && (JSON.parse(line) as { msg: { method?: string } }).msg.method === 'session/request_permission').length;
  expect(RECORDED.length).toBe(count);
});
