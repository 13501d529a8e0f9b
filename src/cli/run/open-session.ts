// Opens or resumes a session, and sets its mode and options.

import { writeFile } from 'node:fs/promises';
import { isOffered } from '../../acp/shapes.ts';
import type { ParamsOf } from '../../client/acp-methods.ts';
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/client-error.ts';
import { errorCode } from '../../config/watch-files.ts';
import { fields, list } from '../../json-object.ts';
import { nearestOf } from '../../policy/format/nearest.ts';
import { createSessionStore } from '../../store/sessions/session-store.ts';
import { readTranscript, transcriptsDir } from '../../store/transcripts/transcript-files.ts';
import { CommandFailure } from '../failure.ts';
import { toWords } from '../records/render-transcript.ts';
import { latestSession } from '../records/sessions.ts';
import { surroundings } from '../resolve-config.ts';

export type Opened = {
  readonly sessionId: string;
  readonly modes: readonly string[];
  readonly options: readonly ConfigOption[];
  /** The agent cannot reopen the session: a text with the earlier conversation, for the first prompt. */
  readonly before?: string;
};
export type ConfigOption = {
  readonly id: string;
  readonly category: string | undefined;
  readonly type: string | undefined;
  readonly values: readonly string[];
};

type Fields = Readonly<Record<string, unknown>>;
const texts = (values: readonly unknown[], key: string): string[] =>
  values.flatMap((value) => (typeof fields(value)[key] === 'string' ? [fields(value)[key] as string] : []));

export async function openSession(client: Client, params: ParamsOf<'session/new'>): Promise<Opened> {
  const result = fields(await client.request('session/new', params));
  return opened(String(result.sessionId), result);
}

/** `--resume`: the session, and its agent if that is recorded. `latest` is the newest one with a prompt in this directory. */
export function sessionToResume(id: string, agent: string | undefined): { readonly sessionId: string; readonly agent: string | undefined } {
  if (id !== 'latest')
    return {
      sessionId: id,
      agent: createSessionStore(stateDir(), () => {})
        .records()
        .get(id)?.agent,
    };
  const latest = latestSession(process.cwd(), agent);
  if (latest) return latest;
  const whose = agent === undefined ? '' : ` of agent "${agent}"`;
  throw new CommandFailure(
    4,
    `there is no session${whose} in ${process.cwd()} to resume`,
    'to list sessions, run: switchboard sessions list',
  );
}

const stateDir = () => surroundings({}).stateDir;

export type TakingUp = {
  readonly agent: string;
  readonly capabilities: Fields;
  /** The agent repeats the conversation, or has done so. */
  readonly replaying: (isOn: boolean) => void;
};

/** By resume if the agent supports it, because nobody reads the replay; else by load; else in a new session that gets our transcript. */
export async function takeUpSession(
  client: Client,
  sessionId: string,
  params: ParamsOf<'session/new'>,
  { agent, capabilities, replaying }: TakingUp,
): Promise<Opened> {
  const canResume = isOffered(fields(capabilities.sessionCapabilities).resume);
  if (!canResume && capabilities.loadSession !== true) {
    const before = transcriptOf(sessionId, agent);
    return { ...(await openSession(client, params)), before };
  }
  replaying(true);
  try {
    return opened(sessionId, fields(await client.request(canResume ? 'session/resume' : 'session/load', { ...params, sessionId })));
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== -32002) throw error;
    throw unknownSession(sessionId);
  } finally {
    replaying(false);
  }
}

const unknownSession = (sessionId: string) =>
  new CommandFailure(4, `unknown session "${sessionId}"`, 'to list sessions, run: switchboard sessions list');

/** Agents have limited context: of a long conversation, the end counts. */
const MAX_TRANSCRIPT = 100_000;

function transcriptOf(sessionId: string, agent: string): string {
  const transcript = readTranscript(transcriptsDir(stateDir()), sessionId);
  const isKnown =
    transcript !== undefined ||
    createSessionStore(stateDir(), () => {})
      .records()
      .has(sessionId);
  if (!isKnown) throw unknownSession(sessionId);
  if (transcript === undefined)
    throw new CommandFailure(
      4,
      `session "${sessionId}" cannot be continued: agent "${agent}" supports neither session/load nor session/resume, and there is no transcript`,
      'run without --resume to open a new session',
    );
  const text = toWords(transcript);
  const isCut = text.length > MAX_TRANSCRIPT;
  return `This continues an earlier conversation. ${isCut ? 'The end of its' : 'Its'} transcript:\n\n${text.slice(-MAX_TRANSCRIPT)}\n\nThe next message follows.`;
}

/** `--save-session`. */
export async function saveSession(file: string, sessionId: string): Promise<void> {
  try {
    await writeFile(file, `${sessionId}\n`);
  } catch (error) {
    throw new CommandFailure(1, `cannot write the session id to ${file} (${errorCode(error)})`, 'check --save-session');
  }
}

function opened(sessionId: string, result: Fields): Opened {
  return {
    sessionId,
    modes: texts(list(fields(result.modes).availableModes), 'id'),
    options: list(result.configOptions).map((option) => {
      const { id, category, type, options } = fields(option);
      const values = list(options).flatMap((entry) => [entry, ...list(fields(entry).options)]);
      return {
        id: String(id),
        category: typeof category === 'string' ? category : undefined,
        type: typeof type === 'string' ? type : undefined,
        values: texts(values, 'value'),
      };
    }),
  };
}

/** `--mode`: sets the mode option if there is one, else uses the older method. */
export async function setMode(client: Client, { sessionId, modes, options }: Opened, mode: string): Promise<void> {
  const option = options.find(({ category }) => category === 'mode');
  const known = option?.values ?? modes;
  if (!known.includes(mode)) throw new CommandFailure(2, `unknown mode "${mode}"`, nearestOf(mode, known, 'modes'));
  if (option) await client.request('session/set_config_option', { sessionId, configId: option.id, value: mode });
  else await client.request('session/set_mode', { sessionId, modeId: mode });
}

/** `--option key=value`. */
export async function setOption(client: Client, { sessionId, options }: Opened, setting: string): Promise<void> {
  const at = setting.indexOf('=');
  const [id, value] = at === -1 ? [setting, ''] : [setting.slice(0, at), setting.slice(at + 1)];
  const option = options.find((one) => one.id === id);
  if (at === -1) throw new CommandFailure(2, `invalid option "${setting}"`, 'use KEY=VALUE');
  const ids = options.map((one) => one.id);
  if (!option) throw new CommandFailure(2, `unknown option "${id}"`, nearestOf(id, ids, 'options'));
  const isBoolean = option.type === 'boolean';
  const isKnown = isBoolean ? value === 'true' || value === 'false' : option.values.includes(value);
  if (!isKnown)
    throw new CommandFailure(
      2,
      `"${value}" is not a valid value for ${id}`,
      nearestOf(value, isBoolean ? ['true', 'false'] : option.values, 'values'),
    );
  const given = { sessionId, configId: id };
  if (isBoolean) await client.request('session/set_config_option', { ...given, type: 'boolean', value: value === 'true' });
  else await client.request('session/set_config_option', { ...given, value });
}
