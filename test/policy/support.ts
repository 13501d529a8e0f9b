// Shared by the policy tests: a place, policies from text, and files of the repository.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Place } from '../../src/policy/actions/action.ts';
import { loadPolicy } from '../../src/policy/format/load.ts';
import { renderProblem } from '../../src/policy/format/problem.ts';
import type { Policy, PolicyFile } from '../../src/policy/policy.ts';
import { combine, type Layer } from '../../src/policy/rules/layers.ts';

export const PLACE: Place = { agent: 'agent', cwd: '/work/project', home: '/home/user' };

/** The text of a file below the repository's root. */
export function fileText(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');
}

export function policyFile(text: string, file = '/etc/policy.yaml'): PolicyFile {
  const { policy, problems } = loadPolicy(file, text);
  if (policy === undefined) throw new Error(problems.map(renderProblem).join('\n'));
  return policy;
}

/** One policy in the user's layer. `version: 1` is added. */
export function policyOf(text: string, name: Layer['name'] = 'user'): Policy {
  return combine([{ name, policy: policyFile(`version: 1\n${text}`) }]);
}

/** Lines of a corpus file; a line in double quotes is a JSON string, for what a text file cannot hold. */
export function corpus(name: string): string[] {
  return fileText(`test/policy/corpus/${name}`)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => (/^".*\\.*"$/.test(line) ? (JSON.parse(line) as string) : line));
}
