// `switchboard config`: the files in use, their validity, and trust in a project file.
import path from 'node:path';
import { joinWords } from '../../agents/shell-words.ts';
import { type Config, managedPolicyFile } from '../../config/config.ts';
import { discover, userConfigFile } from '../../config/discover.ts';
import { disabledNames, layerOf } from '../../config/layer.ts';
import { type LoadOptions, loadConfig } from '../../config/load.ts';
import { isTrusted, programsOf, trust } from '../../config/trust.ts';
import { escapeControls } from '../../control-characters.ts';
import { hideArgs } from '../../setup/hide-secrets.ts';
import { CommandFailure } from '../failure.ts';
import { notice } from '../output.ts';
import { type ConfigFlags, surroundings } from '../resolve-config.ts';

/** Prints one line per file, the one with precedence last: the path, a tab, and its role. */
export async function configPath(flags: ConfigFlags): Promise<number> {
  const here = surroundings(flags);
  const { origin, own, project, notices } = await discover(here);
  for (const text of notices) notice(text);
  const says = { flag: 'from --config', env: 'from $SWITCHBOARD_CONFIG', search: 'your own' }[origin];
  if (own) print(`${escapeControls(own.file)}\t${says}`);
  if (project) {
    const standing = (await isTrusted(here.stateDir, project.text)) ? 'trusted' : 'not trusted: only default_agent and routes apply';
    print(`${escapeControls(project.file)}\tproject file, ${standing}`);
  }
  if (!own) notice(`you have no configuration of your own; its place is ${userConfigFile(here)}`);
  if (!own && !project) notice(`found no switchboard.jsonc or switchboard.json in ${here.cwd} or above`);
  return 0;
}

/** Throws a ConfigError with every problem, or a SetupFailure for the policy. */
export async function configValidate(file: string | undefined, flags: ConfigFlags): Promise<number> {
  const here = file === undefined ? surroundings(flags) : { ...surroundings({ config: file }), configBy: 'the command line' };
  const { config, files, notices, origin, layer } = await loadConfig(here);
  for (const text of notices) notice(text);
  if (origin === 'none') {
    notice('no configuration found, so there is nothing to check; switchboard would use the built-in demo agents');
    return 0;
  }
  const policies = await checkPolicies(config.policies, here);
  const names = config.agents.map(({ name }) => (name === config.defaultAgent ? `${name} (default)` : name));
  print(`valid: ${escapeControls(files.join(', '))}`);
  print(`agents: ${names.join(', ')}`);
  const off = disabledNames(layer);
  if (off.length > 0) print(`disabled: ${off.join(', ')}`);
  if (policies.length > 0) print(`policy: ${escapeControls(policies.join(', '))}`);
  return 0;
}

/** Checks the policies that the configuration uses, like `switchboard policy check`; throws if one is invalid. */
async function checkPolicies(policies: Config['policies'], { stateDir, platform, env }: LoadOptions): Promise<readonly string[]> {
  const { readLayers } = await import('../../app/policy-layers.ts');
  const { loadPolicy } = await import('../../policy/format/load.ts');
  const { renderProblem } = await import('../../policy/format/problem.ts');
  const { layers, notices } = await readLayers({ policies, flag: undefined, managedFile: managedPolicyFile(platform, env), stateDir });
  for (const text of notices) notice(text);
  return layers.map(({ name, policy, text }) => {
    for (const warning of loadPolicy(policy.file, text).warnings) notice(`warning: ${renderProblem(warning)}`);
    return `${policy.file} (${name}, ${policy.rules.length} rule${policy.rules.length === 1 ? '' : 's'})`;
  });
}

/** Trusts the current content of the file. */
export async function configTrust(file: string): Promise<number> {
  const { stateDir, cwd } = surroundings({});
  const target = path.resolve(cwd, file);
  let trusted: Awaited<ReturnType<typeof trust>>;
  try {
    trusted = await trust(stateDir, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandFailure(
      1,
      `cannot write to the state directory ${stateDir} (${code})`,
      'set SWITCHBOARD_HOME to a writable directory',
    );
  }
  print(`trusted: ${escapeControls(target)}`);
  print(`Trust covers the current content (sha256 ${trusted.hash.slice(0, 16)}…); trust the file again after a change.`);
  const { parseDocument } = await import('../../config/parse.ts');
  const programs = programsOf(layerOf(parseDocument(target, trusted.text)));
  if (programs.length > 0) print('The file may now start:');
  for (const { for: whose, words } of programs) print(escapeControls(`  ${joinWords(hideArgs(words))}  (${whose})`));
  return 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
