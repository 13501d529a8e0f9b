// Opens or resumes a session, and sets its mode and options.

import type { ParamsOf } from '../../client/acp-methods.ts';
import type { Client } from '../../client/client.ts';
import { ClientError } from '../../client/client-error.ts';
import { fields } from '../../json-object.ts';
import { nearestOf } from '../../policy/format/nearest.ts';
import { CommandFailure } from '../failure.ts';

export type Opened = { readonly sessionId: string; readonly modes: readonly string[]; readonly options: readonly ConfigOption[] };
export type ConfigOption = {
  readonly id: string;
  readonly category: string | undefined;
  readonly type: string | undefined;
  readonly values: readonly string[];
};

type Fields = Readonly<Record<string, unknown>>;
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (values: readonly unknown[], key: string): string[] =>
  values.flatMap((value) => (typeof fields(value)[key] === 'string' ? [fields(value)[key] as string] : []));

export async function openSession(client: Client, params: ParamsOf<'session/new'>): Promise<Opened> {
  const result = fields(await client.request('session/new', params));
  return opened(String(result.sessionId), result);
}

/** Uses resume if the agent supports it, because nobody reads the replay; else load. */
export async function takeUpSession(
  client: Client,
  sessionId: string,
  params: ParamsOf<'session/new'>,
  capabilities: Fields,
): Promise<Opened> {
  const canResume = fields(capabilities.sessionCapabilities).resume;
  const method = canResume !== undefined && canResume !== null && canResume !== false ? 'session/resume' : 'session/load';
  try {
    return opened(sessionId, fields(await client.request(method, { ...params, sessionId })));
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== -32002) throw error;
    throw new CommandFailure(4, `unknown session "${sessionId}"`, 'to list sessions, run: switchboard sessions list');
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
