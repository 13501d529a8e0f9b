// A policy that stands above the user's.
import path from 'node:path';

/** Where an organisation puts its policy: a place that only an administrator can write to. */
export function managedPolicyFile(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string {
  if (platform === 'win32') return path.win32.join(env.ProgramData ?? 'C:\\ProgramData', 'acp-switchboard', 'policy.yaml');
  if (platform === 'darwin') return '/Library/Application Support/acp-switchboard/policy.yaml';
  return '/etc/acp-switchboard/policy.yaml';
}
