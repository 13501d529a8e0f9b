// An agent wants to change three files; a policy decides, and the audit log says why.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Page } from './page.ts';
import { expect, type Stage } from './stage.ts';

export const POLICY = `version: 1
deny:
  - { id: secrets, path: "**/.env", reason: secrets stay here }
ask:
  - { id: manifest, action: edit, path: $cwd/package.json, reason: others run it }
allow:
  - { id: project, action: [read, edit], path: "$cwd/**" }
  - { id: tools, action: mcp, tool: "switchboard:*" }
`;

type Decided = {
  readonly verdict: string;
  readonly summary: string;
  readonly why?: string;
  readonly rule?: { readonly id: string; readonly at: string };
};

export async function onePolicy(stage: Stage): Promise<void> {
  const { page, project, permissionRequests } = stage;
  page.heading('One policy for all agents: every verdict names its rule');
  page.line('policy', 'deny .env, ask about package.json, allow the rest of the project');
  const inProject = (file: string) => path.join(project, file);
  await writeFile(inProject('notes.txt'), 'Garden shed\n');
  await writeFile(inProject('package.json'), '{}\n');
  await writeFile(inProject('.env'), 'TOKEN=none of your business\n');

  stage.willAnswer('Reject');
  let seen = 0;
  const decisions = async () => {
    const { data } = JSON.parse(await stage.switchboard('audit', 'tail', '-n', '100', '--json')) as { data: { lines: Decided[] } };
    const fresh = data.lines.slice(seen);
    seen = data.lines.length;
    return fresh;
  };

  for (const [file, verdict] of [
    ['notes.txt', 'allow'],
    ['.env', 'deny'],
    ['package.json', 'ask'],
  ] as const) {
    page.line('builder', `wants to edit ${file}`);
    stage.showing((_, update) => showDiff(page, update));
    await stage.prompt('builder', `/edit ${file}`);
    stage.showing(() => {});
    showDecision(page, await decisions(), verdict);
  }
  expect(permissionRequests.length === 1, `expected 1 permission request at the editor, got ${permissionRequests.length}`);
  const [notes, env] = await Promise.all(['notes.txt', '.env'].map((file) => readFile(inProject(file), 'utf8')));
  expect(notes?.split('\n').length === 3, 'notes.txt should have one more line');
  expect(env === 'TOKEN=none of your business\n', '.env should be unchanged');
}

/** The last decision is the final one; the earlier ones let the agent read first. */
function showDecision(page: Page, decided: readonly Decided[], expected: string): void {
  const { verdict, summary, why, rule } = decided.at(-1) ?? {};
  expect(verdict === expected && rule !== undefined, `expected verdict ${expected} by a rule, got ${verdict}`);
  const [action, file = ''] = summary?.split(': ') ?? [];
  const [, reason = ''] = why?.split('): ') ?? [];
  page.line(verdict, `${action} ${path.basename(file)}: rule ${rule.id} (${path.basename(rule.at)})${reason && `, ${reason}`}`);
}

function showDiff(page: Page, update: SessionUpdate): void {
  if (update.sessionUpdate !== 'tool_call_update') return;
  for (const content of update.content ?? []) {
    if (content.type !== 'diff') continue;
    const before = (content.oldText ?? '').split('\n').slice(0, -1);
    const after = content.newText.split('\n').slice(0, -1);
    for (const line of after) page.diff(before.includes(line) ? ' ' : '+', line);
  }
}
