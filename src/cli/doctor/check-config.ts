// The configuration and the policy: can both be used as they stand?

import { readLayers } from '../../app/policy-layers.ts';
import { SetupFailure } from '../../app/setup-failure.ts';
import { managedPolicyFile } from '../../config/config.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../config/load.ts';
import { ConfigError, renderProblem } from '../../config/problems.ts';
import type { Layer } from '../../policy/rules/layers.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const WHOSE: Readonly<Record<Layer['name'], string>> = {
  managed: "your organisation's",
  user: 'yours',
  project: "the project's",
  'command-line': 'of the command line',
  remembered: 'remembered',
};

/** Without a configuration that can be used there is no more to check of it. */
export async function checkConfig(here: LoadOptions): Promise<{ readonly findings: Finding[]; readonly loaded: LoadedConfig | undefined }> {
  try {
    const loaded = await loadConfig(here);
    const notices = loaded.notices.map((text) => warning('config.ignored', 'a part of a file is ignored', text, 'switchboard config path'));
    if (loaded.origin === 'none') {
      const none = warning('config', 'there is no configuration', 'the embedded demo agents serve', 'switchboard init');
      return { findings: [none, ...notices], loaded: undefined };
    }
    return {
      findings: [ok('config', `the configuration is valid: ${loaded.files.join(', ')}`), ...notices, ...(await checkPolicy(loaded, here))],
      loaded,
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.problems.map((one) =>
      problem('config', 'the configuration is not valid', renderProblem(one), 'mend it, then: switchboard config validate'),
    );
    return { findings, loaded: undefined };
  }
}

async function checkPolicy({ config: { policies } }: LoadedConfig, { stateDir, platform, env }: LoadOptions): Promise<Finding[]> {
  try {
    const { layers, notices } = await readLayers({ policies, flag: undefined, managedFile: managedPolicyFile(platform, env), stateDir });
    const ignored = notices.map((text) => warning('policy.ignored', 'a policy is ignored', text, 'switchboard policy check FILE'));
    const none = layers.length === 0;
    return [
      ok(
        'policy',
        none
          ? 'no policy is configured: every question goes to your editor; the console has a policy of its own'
          : `the policy is valid: ${layers.map(({ name, policy }) => `${policy.file} (${WHOSE[name]})`).join(', ')}`,
      ),
      ...ignored,
    ];
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    return [
      problem(
        'policy',
        'the policy is not valid, so the switchboard does not start',
        error.message,
        error.hint ?? 'switchboard policy check FILE',
      ),
    ];
  }
}
