// `switchboard demo`: a tour with the real command, as an editor starts it, in a temporary folder.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ownCommand, VERSION } from '../../app/package-files.ts';
import { CommandFailure } from '../failure.ts';
import { type Editor, startClient } from './client.ts';
import { createPage, type Page } from './page.ts';
import { onePolicy, POLICY } from './policy-step.ts';
import { createClientListener, createStage, type Place, type Stage } from './stage.ts';
import { crash, hostTool, records, theEnd, twoAgents } from './steps.ts';
export type DemoFlags = { readonly fast?: boolean };

const TOUR_MS = 120_000;
const LATE_SIGNAL_MS = 200;

/** Walks through the tour; returns the exit code. */
export async function demo(flags: DemoFlags): Promise<number> {
  const over = new AbortController();
  const isTerminal = process.stdout.isTTY === true;
  const page = createPage({
    write: (text) => void process.stdout.write(text),
    isTerminal,
    columns: process.stdout.columns,
    env: process.env,
    isPaced: isTerminal && !flags.fast,
    signal: over.signal,
  });
  let root: string | undefined;
  let editor: Editor | undefined;
  let ends: readonly Promise<number>[] = [];
  try {
    root = await mkdtemp(path.join(await realpath(os.tmpdir()), 'switchboard-demo-'));
    const place = await furnish(root, over.signal);
    const listener = createClientListener();
    editor = startClient(place.project, place.env, ['--policy', place.policy], listener);
    const walked = walk(page, createStage(page, editor, listener, place));
    ends = interruptions(over.signal);
    return await Promise.race([walked, ...ends]);
  } catch (error) {
    // The terminal also sends Ctrl-C to the command that the tour runs, and its end may be noticed before our own signal.
    const late = await Promise.race([...ends.slice(0, 2), delay(LATE_SIGNAL_MS, undefined)]);
    if (late !== undefined) return late;
    over.abort();
    await editor?.stop(); // its last messages come after the end of the connection
    throw failed(error, editor);
  } finally {
    over.abort();
    await editor?.stop();
    if (root !== undefined) await rm(root, { recursive: true, force: true });
  }
}

async function walk(page: Page, stage: Stage): Promise<number> {
  page.title(`switchboard ${VERSION}: one editor connection, two agents`);
  page.plain('This runs the real command with its demo agents in a temporary folder.');
  page.plain('It needs no account, API key or network.');
  // Looks like a real token; random each time.
  const secret = `ghp_${randomBytes(15).toString('hex')}`;
  const steps = [
    () => twoAgents(stage, secret),
    () => onePolicy(stage),
    () => hostTool(stage),
    () => crash(stage),
    () => theEnd(stage),
    () => records(stage, secret),
  ];
  for (const step of steps) {
    await step();
    await page.shown();
  }
  showNext(page);
  await page.shown();
  return 0;
}

/** As on a machine without a configuration: uses the embedded agents, and touches no files of the user. */
async function furnish(root: string, signal: AbortSignal): Promise<Place> {
  const [project, home, policy] = [path.join(root, 'project'), path.join(root, 'home'), path.join(root, 'policy.yaml')];
  await mkdir(project);
  await mkdir(home);
  await writeFile(policy, POLICY);
  const { SWITCHBOARD_CONFIG, XDG_CONFIG_HOME, ...rest } = process.env;
  const env = { ...rest, HOME: home, USERPROFILE: home, APPDATA: home, SWITCHBOARD_HOME: path.join(home, 'state') };
  return { project, policy, env, signal };
}

/** Events that end the tour early, as exit codes. */
function interruptions(signal: AbortSignal): Promise<number>[] {
  const { SIGINT, SIGTERM } = os.constants.signals;
  return [
    once(process, 'SIGINT', { signal }).then(() => 128 + SIGINT),
    once(process, 'SIGTERM', { signal }).then(() => 128 + SIGTERM),
    // The reader closed the output, as with `| head`.
    once(process.stdout, 'error', { signal }).then(() => 0),
    delay(TOUR_MS, undefined, { signal }).then(() => {
      throw new CommandFailure(1, `the tour failed: it took longer than ${TOUR_MS} ms`);
    }),
  ];
}

function failed(error: unknown, editor: Editor | undefined): CommandFailure {
  const message = error instanceof CommandFailure ? error.message : `the tour failed: ${(error as Error).message}`;
  const tail = editor?.stderrTail().join('\n  ');
  return new CommandFailure(1, message, tail ? `output of switchboard acp:\n  ${tail}` : undefined);
}

function showNext(page: Page): void {
  const isInstalled = path.basename(process.argv[1] ?? '') === 'switchboard';
  const { command: program, args } = ownCommand();
  const [script] = args;
  const relative = script === undefined ? program : `node ${path.relative(process.cwd(), script)}`;
  const command = isInstalled ? 'switchboard' : relative;
  page.plain('');
  page.title('Next steps');
  const next = [
    ['run "/plan a shed"', 'prompt these agents from the terminal'],
    ['serve --open', 'open the web console'],
    ['init', 'set up your agents and your editor'],
    ['--help', 'show all commands'],
  ];
  for (const [words = '', what = ''] of next) page.command(`${command} ${words.padEnd(18)}`, what);
}
