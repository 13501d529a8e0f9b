// Hostile permission requests: none may be allowed, whatever they are called.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { permissionAction } from '../../src/policy/actions/permission.ts';
import { decide } from '../../src/policy/decide.ts';
import { combine } from '../../src/policy/rules/layers.ts';
import { canonicalPath } from '../../src/workspace/canonical.ts';
import { fileText, policyFile } from './support.ts';

const CALLS = fileText('test/policy/corpus/attack/requests.jsonl').trim().split('\n');
const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'policy-requests-')));
const cwd = path.join(root, 'project');

beforeAll(() => {
  mkdirSync(cwd);
  symlinkSync(root, path.join(cwd, 'link'));
});
afterAll(() => rmSync(root, { recursive: true }));

function allowed(file: string, calls: readonly string[], family?: string): readonly string[] {
  const policy = combine([{ name: 'user', policy: policyFile(fileText(file), file) }]);
  const place = { agent: 'agent', family, cwd, home: path.join(root, 'home'), canonical: canonicalPath };
  return calls.filter(
    (text) => decide(policy, permissionAction(place, { toolCall: { toolCallId: 't', ...JSON.parse(text) } })).verdict === 'allow',
  );
}

test(`the corpus has ${CALLS.length} requests`, () => {
  expect(new Set(CALLS).size).toBe(CALLS.length);
  expect(CALLS.length).toBeGreaterThan(100);
});

describe.each([undefined, 'claude', 'codex', 'gemini', 'opencode', 'copilot'])('no hostile request of family %s is allowed', (family) => {
  test.each(['standard', 'careful', 'ci', 'readonly'])('by the preset %s', (name) => {
    expect(allowed(`config/policies/${name}.yaml`, CALLS, family)).toEqual([]);
  });

  test('by a list that a user would write', () => {
    expect(allowed('test/policy/corpus/attack/list.yaml', CALLS, family)).toEqual([]);
  });
});

test('ordinary requests are allowed, so that the corpus measures something', () => {
  const ordinary = [
    '{"kind":"execute","title":"Look","rawInput":{"command":"git status","description":"x","timeout":1000}}',
    '{"kind":"read","rawInput":{"file_path":"src/a.ts","offset":1,"limit":2}}',
    '{"kind":"edit","rawInput":{"file_path":"src/a.ts","old_string":"a","new_string":"b","replace_all":true}}',
    '{"kind":"search","rawInput":{"pattern":"x","path":"src","output_mode":"content"}}',
  ];
  expect(allowed('config/policies/standard.yaml', ordinary)).toEqual(ordinary);
});
