// The client of the tour: the SDK's client on the stdio of our command, with the files of one folder.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
} from '@agentclientprotocol/sdk';
import { ownCommand } from '../../app/package-files.ts';

const STOP_MS = 10_000;
const STDERR_LINES = 10;

export type ClientEvents = {
  update(notification: SessionNotification): void;
  permission(request: RequestPermissionRequest): RequestPermissionResponse;
};

export type Editor = {
  readonly agent: ClientContext;
  readonly pid: number;
  /** The last lines that the command wrote to stderr. */
  stderrTail(): readonly string[];
  /** Closes the command's stdin and waits for its exit; resolves to its exit code, or null if it had to be killed. */
  stop(): Promise<number | null>;
};

export function startClient(folder: string, env: NodeJS.ProcessEnv, args: readonly string[], on: ClientEvents): Editor {
  const own = ownCommand('acp', ...args); // as an editor starts it
  const child = spawn(own.command, own.args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.on('error', () => {}); // without a process the connection closes, and the pending request reports it
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));

  const { agent } = client({ name: 'switchboard-demo' })
    .onNotification(methods.client.session.update, ({ params }) => on.update(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => on.permission(params))
    .onRequest(methods.client.fs.readTextFile, async ({ params }) => ({ content: await read(inside(folder, params.path)) }))
    .onRequest(methods.client.fs.writeTextFile, async ({ params }) => void (await writeFile(inside(folder, params.path), params.content)))
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));

  return {
    agent,
    pid: child.pid ?? 0,
    stderrTail: () => stderr.trimEnd().split('\n').slice(-STDERR_LINES),
    async stop() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      const code = await exited;
      clearTimeout(timer);
      return code;
    },
  };
}

/** A client serves the files of its project and no others. */
function inside(folder: string, file: string): string {
  const relative = path.relative(folder, file);
  if (relative === '' || relative.startsWith('..') || path.isAbsolute(relative)) throw RequestError.invalidParams({ path: file });
  return file;
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw RequestError.resourceNotFound(file);
    throw error;
  }
}
