// A policy by its name: a file, or one of the presets that come with the switchboard.
import path from 'node:path';
import { errorCode, readOwn, type Source } from '../config/watch-files.ts';
import { escapeControls } from '../control-characters.ts';
import { didYouMean } from '../policy/format/nearest.ts';
import { SetupFailure } from './api.ts';
import { packageFile } from './package-files.ts';

export const PRESETS = ['careful', 'standard', 'ci', 'readonly'];

/** The file behind a name. A preset's name is always the preset: a repository may hold a file of that name. */
function policyFile(name: string, folder: string): string {
  return PRESETS.includes(name) ? packageFile('config', 'policies', `${name}.yaml`) : path.resolve(folder, name);
}

/** Reads the file behind a name as the user's own. */
export async function readPolicyText(name: string, folder = '.'): Promise<Source> {
  const file = policyFile(name, folder);
  try {
    return { ...(await readOwn(file)), file };
  } catch (error) {
    const hint = didYouMean(name, PRESETS) ?? `name a file, or a preset: ${PRESETS.join(', ')}`;
    throw new SetupFailure('POLICY_INVALID', `the policy ${escapeControls(name)} cannot be read (${errorCode(error)})`, hint);
  }
}
