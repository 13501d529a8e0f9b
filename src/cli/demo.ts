// `switchboard demo`: a tour of the real thing, our own command as an editor would start it, in a folder that is thrown away.
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { userConfigFile } from '../config/discover.ts';
import { VERSION } from '../switchboard/version.ts';
import { CommandFailure } from './command-failure.ts';
import { COMMAND_FILE, type Editor, startEditor } from './demo/editor.ts';
import { createPage, type Page, wantsColour } from './demo/page.ts';
import { createTour } from './demo/tour.ts';

const TOUR_MS = 60_000;

/** Walks through the tour; returns the exit code. */
export async function demo(): Promise<number> {
  const page = createPage((text) => void process.stdout.write(text), wantsColour(process.stdout.isTTY, process.env));
  const over = new AbortController();
  let root: string | undefined;
  let editor: Editor | undefined;
  try {
    root = await mkdtemp(path.join(await realpath(os.tmpdir()), 'switchboard-demo-'));
    const [project, home] = [path.join(root, 'project'), path.join(root, 'home')];
    await mkdir(project);
    await mkdir(home);
    page.plain(`switchboard ${VERSION}: a tour with its two embedded agents. No account, no key, no network.`);
    const tour = createTour(page, project);
    editor = startEditor(project, environment(home), tour.events);
    const walked = tour.walk(editor).then(() => {
      showNext(page);
      return 0;
    });
    return await Promise.race([walked, ...interruptions(over.signal)]);
  } catch (error) {
    throw failed(error, editor);
  } finally {
    over.abort();
    await editor?.stop();
    if (root !== undefined) await rm(root, { recursive: true, force: true });
  }
}

/** As on a machine where nothing has been configured: the embedded agents serve, and nobody's files are touched. */
function environment(home: string): NodeJS.ProcessEnv {
  const { SWITCHBOARD_CONFIG, XDG_CONFIG_HOME, ...rest } = process.env;
  return { ...rest, HOME: home, USERPROFILE: home, APPDATA: home, SWITCHBOARD_HOME: path.join(home, 'state') };
}

/** What can end the tour early, as exit codes. */
function interruptions(signal: AbortSignal): Promise<number>[] {
  const { SIGINT, SIGTERM } = os.constants.signals;
  return [
    once(process, 'SIGINT', { signal }).then(() => 128 + SIGINT),
    once(process, 'SIGTERM', { signal }).then(() => 128 + SIGTERM),
    // Whoever read the output has seen enough, as with `| head`.
    once(process.stdout, 'error', { signal }).then(() => 0),
    delay(TOUR_MS, undefined, { signal }).then(() => {
      throw new CommandFailure(1, `the tour stops here: it was not over after ${TOUR_MS} ms`);
    }),
  ];
}

function failed(error: unknown, editor: Editor | undefined): CommandFailure {
  const message = error instanceof CommandFailure ? error.message : `the tour stops here: ${(error as Error).message}`;
  const tail = editor?.stderrTail().join('\n  ');
  return new CommandFailure(1, message, tail ? `switchboard acp said:\n  ${tail}` : undefined);
}

function showNext(page: Page): void {
  const isInstalled = path.basename(process.argv[1] ?? '') === 'switchboard';
  const command = isInstalled ? 'switchboard' : `node ${path.relative(process.cwd(), COMMAND_FILE)}`;
  page.plain('\nTry next:');
  page.plain(`   your agents   copy config/switchboard.example.jsonc to ${userConfigFile({ ...process, home: os.homedir() })}`);
  page.plain(`   check them    ${command} config validate`);
  page.plain(`   your editor   let it start "${command} acp"; README.md has the lines for Zed and JetBrains`);
}
