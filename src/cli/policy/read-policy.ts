// A policy as the policy commands read it: checked, and its problems told.

import { readPolicyText } from '../../app/read-policy.ts';
import { type Loaded, loadPolicy } from '../../policy/format/load.ts';
import type { PolicyFile } from '../../policy/policy.ts';
import { complainAbout } from './output.ts';

export async function readPolicy(name: string): Promise<Loaded> {
  const { file, text } = await readPolicyText(name);
  return loadPolicy(file, text);
}

/** The policy, or undefined when its problems have been told. */
export async function readPolicyOrComplain(name: string, flags: { readonly json?: true }): Promise<PolicyFile | undefined> {
  const { policy, problems } = await readPolicy(name);
  if (policy !== undefined) return policy;
  complainAbout('POLICY_INVALID', problems, flags);
  return undefined;
}
