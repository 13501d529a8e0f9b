// `switchboard policy trust FILE`: lets a project policy loosen as well as tighten, for its current content.
import path from 'node:path';
import { trustText } from '../../config/trust.ts';
import { errorCode, readForeign } from '../../config/watch-files.ts';
import { loadPolicy } from '../../policy/format/load.ts';
import { CommandFailure } from '../failure.ts';
import { surroundings } from '../resolve-config.ts';
import { complainAbout, inEnvelope, print, printData } from './output.ts';

export function policyTrust(name: string, flags: { readonly json?: true }): Promise<number> {
  return inEnvelope('TRUST', async () => {
    const { stateDir, cwd } = surroundings({});
    const file = path.resolve(cwd, name);
    // Read once, so that the checked text is the trusted one.
    const { text } = await readForeign(file).catch((error: unknown) => {
      throw new CommandFailure(6, `cannot read the policy ${file} (${errorCode(error)})`, 'name the policy file of the project');
    });
    const { policy, problems } = loadPolicy(file, text);
    if (policy === undefined) {
      complainAbout('POLICY_INVALID', problems, flags);
      return 6;
    }
    let hash: string;
    try {
      hash = await trustText(stateDir, file, text);
    } catch (error) {
      throw new CommandFailure(
        1,
        `cannot write to the state directory ${stateDir} (${errorCode(error)})`,
        'set SWITCHBOARD_HOME to a writable directory',
      );
    }
    const loosens = policy.rules.filter(({ verdict }) => verdict === 'allow');
    if (flags.json) printData({ file, sha256: hash, allows: loosens.map(({ id, line }) => ({ id, line })) });
    else {
      print(`trusted: ${file}`);
      for (const { id, line } of loosens) print(`  may allow: ${id} (line ${line})`);
      print(`Trust covers the current content (sha256 ${hash.slice(0, 16)}…); trust the file again after a change.`);
    }
    return 0;
  });
}
