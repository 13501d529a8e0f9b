// `switchboard policy check FILE`

import { renderPolicyProblem } from '../../policy/format/problem.ts';
import { countExamples } from '../../policy/rules/examples.ts';
import { complain, print, printData } from './output.ts';
import { readPolicy, readPolicyOrComplain } from './read-policy.ts';

export async function policyCheck(file: string, flags: { readonly json?: true }): Promise<number> {
  const policy = await readPolicyOrComplain(file, flags);
  if (policy === undefined) return 6;
  const { warnings } = await readPolicy(file);
  const said = warnings.map(renderPolicyProblem);
  const counts = { rules: policy.rules.length, examples: countExamples(policy.rules) };
  if (flags.json) printData({ file: policy.file, ...counts }, said);
  else {
    for (const warning of said) complain(`warning: ${warning}`);
    print(`valid: ${policy.file} (${counts.rules} rules, ${counts.examples} examples)`);
  }
  return 0;
}
