// A policy by its name: a file, or one of the presets that come with the switchboard.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { printable } from '../../config/problems.ts';
import { errorCode, readOwn, type Source } from '../../config/read-text.ts';
import { type Loaded, loadPolicy } from '../../policy/load.ts';
import { didYouMean } from '../../policy/nearest.ts';
import type { PolicyFile } from '../../policy/policy.ts';
import { CommandFailure } from '../command-failure.ts';
import { complainAbout, printError } from './output.ts';

export const PRESETS = ['careful', 'standard', 'ci', 'readonly'];

/** The file behind a name. A preset's name is always the preset: a repository may hold a file of that name. */
export function policyFile(name: string, folder = '.'): string {
  return PRESETS.includes(name) ? presetFile(name) : path.resolve(folder, name);
}

/** Reads the file behind a name as the user's own. */
export async function readPolicyText(name: string, folder?: string): Promise<Source> {
  const file = policyFile(name, folder);
  try {
    return { ...(await readOwn(file)), file };
  } catch (error) {
    const hint = didYouMean(name, PRESETS) ?? `name a file, or a preset: ${PRESETS.join(', ')}`;
    throw new CommandFailure(6, `the policy ${printable(name)} cannot be read (${errorCode(error)})`, hint);
  }
}

export async function readPolicy(name: string): Promise<Loaded> {
  const { file, text } = await readPolicyText(name);
  return loadPolicy(file, text);
}

/** The policy, or undefined when its problems have been told. */
export async function readPolicyOrComplain(name: string, { json }: { readonly json?: true }): Promise<PolicyFile | undefined> {
  const { policy, problems } = await readPolicy(name);
  if (policy !== undefined) return policy;
  if (json) printError('POLICY_INVALID', `${problems.length} problems`, 'see data', problems);
  complainAbout(problems);
  return undefined;
}

// The bundle lies in dist/, the source three folders deep; both below the package.
function presetFile(name: string): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  for (let depth = 0; depth < 4; depth++) {
    const file = path.join(folder, 'config', 'policies', `${name}.yaml`);
    if (existsSync(file)) return file;
    folder = path.dirname(folder);
  }
  return `${name}.yaml`;
}
