// The library: embeds the switchboard in another program. See docs/embedding.md.
import os from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { ReadableStream, WritableStream } from 'node:stream/web';
import { type ClientStreams, SetupFailure, type Switchboard, type SwitchboardEvent, type SwitchboardOptions } from './app/api.ts';
import { assemble } from './app/assemble.ts';
import { hostFunctions } from './app/configured-tools.ts';
import { frameEvents, listenerFor, type Notify } from './app/events.ts';
import { withDemoAgents } from './app/launch.ts';
import { type Config, type PolicySource, toConfig } from './config/config.ts';
import { EMPTY_LAYER } from './config/layer.ts';
import { loadConfig } from './config/load.ts';
import { ConfigError, type Problem } from './config/problems.ts';
import { stateDir as findStateDir } from './store/state-dir.ts';

export type * from './app/api.ts';
export { SetupFailure } from './app/api.ts';
export type * from './client/acp-methods.ts';
export { type Client, type ClientHandlers, createClient, type IncomingRequest } from './client/client.ts';
export { ClientError } from './client/client-error.ts';

/** Creates a switchboard. It starts nothing before a client needs it. Throws a SetupFailure that names the part that cannot be used. */
export async function createSwitchboard(options: SwitchboardOptions = {}): Promise<Switchboard> {
  const { onEvent = () => {}, tools = [], policy, policyMode, interactive } = options;
  const emit = (event: SwitchboardEvent) => {
    try {
      onEvent(event);
    } catch {
      // A failing listener must not fail a session.
    }
  };
  const notify: Notify = (text, level = 'warn') => emit({ type: 'notice', level, text });
  const stateDir =
    options.stateDir === undefined ? findStateDir(process.env, os.homedir(), process.platform) : path.resolve(options.stateDir);
  const { config, files } = await configOf(options, stateDir, notify);
  const assembled = await assemble({
    config: policy === undefined ? config : { ...config, policies: [...config.policies, hostPolicy(policy)] },
    files,
    stateDir,
    notify,
    policy: { ...(policyMode && { policyMode }), ...(interactive !== undefined && { isInteractive: interactive }) },
    tools: await hostFunctions(tools, config.hostTools.commands),
    events: listenerFor(emit),
    ...(options.frames === true && { extraObserver: (secrets) => frameEvents(secrets, emit) }),
  });
  return {
    connect(client) {
      const served = assembled.connect(nodeStreams(client));
      void served.connection.ended.then(served.close);
      return { closed: served.closed, close: served.close };
    },
    close: assembled.close,
  };
}

async function configOf(
  { config, configFile }: SwitchboardOptions,
  stateDir: string,
  notify: Notify,
): Promise<{ readonly config: Config; readonly files: readonly string[] }> {
  if (config !== undefined && configFile !== undefined)
    throw new SetupFailure('CONFIG_INVALID', 'both config and configFile are given', 'give one of them');
  const { env, platform } = process;
  const here = { env: { ...env, SWITCHBOARD_CONFIG: '' }, cwd: process.cwd(), home: os.homedir(), platform, stateDir };
  try {
    if (configFile !== undefined) return await loadConfig({ ...here, configFlag: configFile });
    if (config !== undefined) {
      const given = { file: 'config', text: JSON.stringify(config), identity: 'config' };
      return { ...(await loadConfig({ ...here, given })), files: [] };
    }
    notify('no configuration: using the embedded demo agents', 'info');
    return { config: withDemoAgents(toConfig(EMPTY_LAYER, new Map()), stateDir), files: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = configFile === undefined ? error.problems.map(inObject).join('\n') : error.message;
    throw new SetupFailure('CONFIG_INVALID', problems, 'docs/configuration.md has every key');
  }
}

/** An object has no lines, so its problems are located by path. */
function inObject({ path: at, message, hint }: Problem): string {
  const place = at === '' || message.startsWith(at) ? '' : `${at}: `;
  return `config: ${place}${message}${hint === undefined ? '' : `; ${hint}`}`;
}

/** A policy of the host may allow as well as forbid. Its files are relative to the working directory. */
const hostPolicy = (policy: PolicySource['policy']): PolicySource => ({ layer: 'user', from: 'options', policy, isFromTrusted: true });

function nodeStreams(client: ClientStreams): { readonly input: Readable; readonly output: Writable } {
  if ('input' in client) return client;
  return { input: Readable.fromWeb(client.readable as ReadableStream), output: Writable.fromWeb(client.writable as WritableStream) };
}
