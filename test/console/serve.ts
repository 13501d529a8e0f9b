// The built `switchboard serve` in its own process with a temporary home: the embedded agents, and one that the test controls.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createScriptedAgents, type ScriptedAgent, type Traits } from '../e2e/scripted-agent.ts';
import { removeDirectory } from '../remove-directory.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BIN = path.join(ROOT, 'bin', 'switchboard.js');
const DEMO = path.join(ROOT, 'dist', 'demo-agent.js');

export type Serving = {
  readonly link: string;
  readonly origin: string;
  readonly project: string;
  /** The temporary directory with the configuration and everything else. */
  readonly root: string;
  readonly mime: ScriptedAgent;
  readonly child: ChildProcess;
  readonly output: () => string;
  stop(): Promise<number | null>;
};

/** Extra configuration; agents are added to the usual ones. */
export type More = { readonly agent_servers?: object; readonly [key: string]: unknown };

/** `files` are written next to the configuration. */
export async function serve(
  traits: Traits = {},
  more: More = {},
  env: NodeJS.ProcessEnv = {},
  files: Readonly<Record<string, string>> = {},
  bin = BIN,
): Promise<Serving> {
  const root = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-console-'));
  const [home, project] = ['home', 'project'].map((name) => path.join(root, name)) as [string, string];
  for (const directory of [home, project]) mkdirSync(directory);
  const scriptedAgentServer = createScriptedAgents(path.join(root, 'scripted-agents'));
  const mime = scriptedAgentServer.agent('mime', { title: 'Mime', ...traits });
  const demo = (name: string) => ({ command: process.execPath, args: [DEMO, '--name', name, '--state', path.join(root, name)] });
  const config = path.join(root, 'config.json');
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(root, name), text);
  const agents = { sketcher: demo('sketcher'), builder: demo('builder'), mime: mime.server };
  writeFileSync(config, JSON.stringify({ host_tools: { enabled: false }, ...more, agent_servers: { ...agents, ...more.agent_servers } }));
  const child = spawn(process.execPath, [bin, 'serve', '--config', config], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: root, SWITCHBOARD_HOME: path.join(root, 'state'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const link = await new Promise<string>((resolve, reject) => {
    const collect = (data: unknown) => {
      output += String(data);
      const [found] = /http:\/\/\S+/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    void exited.then(() => reject(new Error(`serve has ended: ${output}`)));
  });
  return {
    link,
    origin: new URL(link).origin,
    project,
    root,
    mime,
    child,
    output: () => output,
    async stop() {
      child.kill('SIGINT');
      const code = await exited;
      await scriptedAgentServer.stop();
      await removeDirectory(root);
      return code;
    },
  };
}
