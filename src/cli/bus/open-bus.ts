// The bus of a command: the address or a file from `--bus`, or the configuration; the credentials from files or the environment.
import { readFileSync } from 'node:fs';
import type { Bus } from '../../bus/bus.ts';
import { type BusConfig, busConfig } from '../../bus/config.ts';
import { CommandFailure } from '../failure.ts';
import { readInput, refuse, resolveConfig } from '../resolve-config.ts';

export type BusFlags = { readonly bus?: string | undefined };
export type BusCommandFlags = BusFlags & { readonly config?: string | undefined; readonly json?: true };

const HINT =
  'use nats://HOST:PORT, tls://HOST:PORT, ws://HOST:PORT/bus of a switchboard serve --bus local:, or a file of switchboard bus init';
const INVALID = 6;

/** The flag names another address, and everything else stays as the configuration has it; or it names a file with all settings. */
export async function busOf({ bus: flag }: BusFlags, configured: BusConfig | undefined): Promise<BusConfig | undefined> {
  if (flag === undefined) return configured;
  if (flag.endsWith('.json')) {
    const settings = await busFile(flag);
    return { ...settings, policy: settings.policy ?? configured?.policy }; // a file of bus init must not lift what is pinned
  }
  if (!/^(local:|(wss?|nats|tls):\/\/\S+)$/.test(flag)) throw new CommandFailure(2, `invalid bus address "${flag}"`, HINT);
  for (const one of flag.split(',').filter((address) => address !== 'local:'))
    if (URL.canParse(one) && new URL(one).password !== '')
      throw new CommandFailure(
        2,
        'the bus address must not contain a password',
        'put credentials into a file, and its path into "credentials" of the key "bus"',
      );
  return { ...(configured ?? busConfig(flag)), url: flag };
}

/** The settings of the key `bus`, in a file of their own. */
async function busFile(file: string): Promise<BusConfig> {
  const text = await readInput('the bus settings', file);
  const [{ busOptions }, { withBusFiles }] = await Promise.all([import('../../bus/options.ts'), import('../../config/layer.ts')]);
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new CommandFailure(
      INVALID,
      `${file} is no JSON: ${(error as Error).message}`,
      'it contains what the key "bus" of a configuration may contain',
    );
  }
  const { data, error } = busOptions.safeParse(withBusFiles(given, file));
  if (data === undefined) {
    const [{ path = [], message = '' } = {}] = error.issues;
    throw new CommandFailure(INVALID, `invalid bus settings in ${file}: ${[...path, message].join(': ')}`, 'see docs/scale-out.md');
  }
  return busConfig(data);
}

/** `name` is for people who look at the connections of a server. */
export async function connectBus(config: BusConfig, name: string): Promise<Bus> {
  const files = { 'the credentials': config.credentials, 'the certificate': config.tls.ca };
  for (const [what, file] of Object.entries(files)) if (file !== undefined) read(what, file);
  if (/^wss?:/.test(config.url)) {
    const { connectWebSocketBus } = await import('../../bus/websocket/websocket-bus.ts');
    const { ca } = config.tls;
    const url = new URL(config.url);
    if (url.pathname === '/') url.pathname = '/bus';
    return connectWebSocketBus({
      url: url.href,
      token: tokenOf(config),
      ...(ca !== undefined && { tls: { ca: read('the certificate', ca) } }),
    });
  }
  const { connectNats } = await import('../../bus/nats-bus.ts');
  return connectNats({ ...config, name });
}

/** Connects for one command. */
export async function usingBus(
  flags: BusCommandFlags,
  command: string,
  act: (bus: Bus, settings: BusConfig) => Promise<number>,
): Promise<number> {
  const { config } = await resolveConfig(flags);
  const settings = (await busOf(flags, config.bus)) ?? missingBus();
  if (settings.url === 'local:')
    throw new CommandFailure(2, 'local: is the bus inside one process', 'name the bus of several machines: --bus nats://HOST:4222');
  const bus = await connectBus(settings, `switchboard ${command}`);
  try {
    return await act(bus, settings);
  } finally {
    await bus.close();
  }
}

export function missingBus(): never {
  throw new CommandFailure(2, 'the command needs a bus', 'name it with --bus nats://HOST:4222, or set "bus" in the configuration');
}

function tokenOf({ tokenFile }: BusConfig): string {
  const token = (tokenFile === undefined ? process.env.SWITCHBOARD_TOKEN : read('the token', tokenFile).toString())?.trim();
  if (token !== undefined && token !== '') return token;
  throw new CommandFailure(
    2,
    'the bus wants a token, and SWITCHBOARD_TOKEN is not set',
    'create one where switchboard serve runs: switchboard token create NAME --role owner',
  );
}

function read(what: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    return refuse(what, file, error);
  }
}
