// `switchboard agents test NAME --probe`: one turn in an empty directory, in which every permission request is refused. What the agent has done
// anyway, it does not ask about.
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { AsksFor } from '../../agents/asking.ts';
import { VERSION } from '../../app/package-files.ts';
import type { DescribedPermission } from '../../client/describe-permission.ts';
import { openAgentSessions } from '../../client/sessions.ts';
import { optionToDeny } from '../../policy/actions/permission-options.ts';
import { startInProcessProxy } from '../in-process-proxy.ts';
import type { AgentsFlags } from './agents.ts';

const FILE = 'probe-file.txt';
const COMMAND_FILE = 'probe-command.txt';
/** With whole paths: the tools of some agents take no others. */
const promptIn = (directory: string): string =>
  `This checks your permission requests. Create the file ${path.join(directory, FILE)} with the text "probe" with your file-editing tool, then run the shell command: touch ${path.join(directory, COMMAND_FILE)}. If one is refused, continue with the other.`;
/** Everything is put to the user, so that the agent starts as it does under a policy. */
const POLICY = { version: 1, default: 'ask' };
const TURN_MS = 120_000;

export type Probe = {
  /** Undefined if the agent did nothing that shows it. */
  readonly asksFor: AsksFor | undefined;
  /** What it asked for. */
  readonly asked: readonly string[];
  /** What it did without asking. */
  readonly unasked: readonly string[];
  readonly error?: string;
};

export async function probeAsking(name: string, flags: AgentsFlags): Promise<Probe> {
  const directory = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-probe-')));
  const policies = [{ layer: 'user', from: directory, policy: POLICY, isFromTrusted: true }] as const;
  const proxy = await startInProcessProxy({ ...flags, agent: name }, { policies, notify: () => {} });
  const sessions = openAgentSessions(proxy.fromProxy, proxy.toProxy, { name: 'switchboard-probe', version: VERSION });
  const asked: string[] = [];
  const { signal, abort } = withTimer();
  try {
    const { sessionId } = await sessions.open(directory, name);
    const permission = async ({ title, options }: DescribedPermission) => {
      asked.push(title);
      // Some agents end the turn on an answer without an option, and would not come to the command.
      return optionToDeny(options)?.optionId;
    };
    await sessions.prompt(sessionId, promptIn(directory), { signal, progress: () => {}, permission });
    return { ...verdict(directory, asked) };
  } catch (error) {
    return { ...verdict(directory, asked), error: (error as Error).message };
  } finally {
    abort();
    sessions.close();
    await proxy.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function withTimer(): { readonly signal: AbortSignal; abort(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TURN_MS);
  return { signal: controller.signal, abort: () => clearTimeout(timer) };
}

function verdict(directory: string, asked: readonly string[]): Probe {
  const unasked = [FILE, COMMAND_FILE].filter((file) => existsSync(path.join(directory, file)));
  const asksFor = unasked.length > 0 ? (asked.length > 0 ? 'some' : 'nothing') : asked.length > 0 ? 'everything' : undefined;
  return { asksFor, asked, unasked };
}

/** In one line. */
export function describeProbe({ asksFor, asked, unasked, error }: Probe): string {
  const facts = [
    ...(asked.length > 0 ? [`it asked: ${asked.join('; ')}`] : []),
    ...(unasked.length > 0 ? [`it wrote without asking: ${unasked.join(', ')}`] : []),
    ...(error === undefined ? [] : [error]),
  ];
  return `${asksFor === undefined ? 'unknown: it did nothing that needs permission' : ASKS[asksFor]}${facts.length > 0 ? ` (${facts.join('; ')})` : ''}`;
}

export const ASKS: Readonly<Record<AsksFor, string>> = {
  everything: 'asks for everything',
  some: 'asks for some actions',
  nothing: 'does not ask',
};
