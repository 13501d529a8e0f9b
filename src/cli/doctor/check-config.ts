// Checks whether the configuration and the policy are usable.

import { SetupFailure } from '../../app/api.ts';
import { readLayers } from '../../app/policy-layers.ts';
import { managedPolicyFile } from '../../config/config.ts';
import { disabledNames } from '../../config/layer.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../config/load.ts';
import { ConfigError, renderProblem } from '../../config/problems.ts';
import type { Layer } from '../../policy/rules/layers.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const WHOSE: Readonly<Record<Layer['name'], string>> = {
  bundle: 'of the policy bundle',
  managed: "your organisation's",
  user: 'yours',
  project: "the project's",
  'command-line': 'from the command line',
  remembered: 'remembered',
};

/** Without a usable configuration, the other checks are skipped. */
export async function checkConfig(here: LoadOptions): Promise<{ readonly findings: Finding[]; readonly loaded: LoadedConfig | undefined }> {
  try {
    const loaded = await loadConfig({ ...here, isPerAgent: true });
    const notices = loaded.notices.map((text) =>
      warning('config.ignored', 'part of a configuration file is ignored', text, 'switchboard config path'),
    );
    if (loaded.origin === 'none') {
      const none = warning('config', 'no configuration found', 'switchboard uses the built-in demo agents', 'switchboard init');
      return { findings: [none, ...notices], loaded: undefined };
    }
    const off = disabledNames(loaded.layer).map((name) =>
      warning(
        'agent.disabled',
        `agent "${name}" is switched off`,
        '"enabled": false in its entry',
        `remove "enabled" from agent_servers.${name} to use it`,
      ),
    );
    const unresolved = [...loaded.unresolved].flatMap(([name, problems]) =>
      problems.map((one) =>
        problem('agent.reference', `agent "${name}" cannot be used`, renderProblem(one), 'set the variable, or change the entry'),
      ),
    );
    return {
      findings: [
        ok('config', `the configuration is valid: ${loaded.files.join(', ')}`),
        ...notices,
        ...off,
        ...unresolved,
        ...(await checkPolicy(loaded, here)),
      ],
      loaded,
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.problems.map((one) =>
      problem('config', 'the configuration is invalid', renderProblem(one), 'fix it, then run: switchboard config validate'),
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
          ? 'no policy is configured: every permission request goes to your editor; the console has its own policy'
          : `the policy is valid: ${layers.map(({ name, policy }) => `${policy.file} (${WHOSE[name]})`).join(', ')}`,
      ),
      ...ignored,
    ];
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    return [
      problem(
        'policy',
        'the policy is invalid, so switchboard does not start',
        error.message,
        error.hint ?? 'switchboard policy check FILE',
      ),
    ];
  }
}
