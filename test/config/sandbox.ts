// A user's home, a project and a state directory on a real disk, removed after the test.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problems.ts';

export type Sandbox = ReturnType<typeof createSandbox>;

export function createSandbox() {
  const root = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-config-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = path.join(root, 'home');
  const project = path.join(root, 'project');
  const stateDir = path.join(root, 'state');
  mkdirSync(home);
  mkdirSync(project);

  return {
    root,
    home,
    project,
    stateDir,
    userFile: path.join(home, '.config', 'acp-switchboard', 'config.jsonc'),
    /** Writes a file and the directories it needs; content that is not a string becomes JSON. */
    write(file: string, content: unknown): string {
      const target = path.resolve(root, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
      return target;
    },
    load(overrides: Partial<Parameters<typeof loadConfig>[0]> = {}): Promise<LoadedConfig> {
      return loadConfig({ env: {}, cwd: project, home, stateDir, platform: 'linux', ...overrides });
    },
    /** Loads `content` as the file given by `--config`. */
    loadFile(content: unknown, env: NodeJS.ProcessEnv = {}): Promise<LoadedConfig> {
      return this.load({ configFlag: this.write('given.jsonc', content), env });
    },
  };
}

/** The error that the load must end with. */
export async function configError(loading: Promise<unknown>): Promise<ConfigError> {
  const outcome = await loading.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof ConfigError) return outcome;
  throw new Error('expected a ConfigError', { cause: outcome });
}
