// `switchboard policy check FILE`, and how the policy commands read a policy.
import { readPolicyText } from '../../app/read-policy.ts';
import { type Loaded, loadPolicy } from '../../policy/format/load.ts';
import { renderProblem } from '../../policy/format/problem.ts';
import type { PolicyFile } from '../../policy/policy.ts';
import { countExamples } from '../../policy/rules/examples.ts';
import { complain, complainAbout, print, printData } from './output.ts';

export async function policyCheck(file: string, flags: { readonly json?: true }): Promise<number> {
  const policy = await readPolicyOrComplain(file, flags);
  if (policy === undefined) return 6;
  const { warnings } = await readPolicy(file);
  const warningTexts = warnings.map(renderProblem);
  const counts = { rules: policy.rules.length, examples: countExamples(policy.rules) };
  if (flags.json) printData({ file: policy.file, ...counts }, warningTexts);
  else {
    for (const warning of warningTexts) complain(`warning: ${warning}`);
    print(`valid: ${policy.file} (${counts.rules} rules, ${counts.examples} examples)`);
  }
  return 0;
}

async function readPolicy(name: string): Promise<Loaded> {
  const { file, text } = await readPolicyText(name);
  return loadPolicy(file, text);
}

/** The policy, or undefined after reporting its problems. */
export async function readPolicyOrComplain(name: string, flags: { readonly json?: true }): Promise<PolicyFile | undefined> {
  const { policy, problems } = await readPolicy(name);
  if (policy !== undefined) return policy;
  complainAbout('POLICY_INVALID', problems, flags);
  return undefined;
}
