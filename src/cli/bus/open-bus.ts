// The bus of a command: the address from `--bus` or the configuration, the credentials from files or the environment.
import { readFileSync } from 'node:fs';
import type { Bus } from '../../bus/bus.ts';
import { BusFailure } from '../../bus/bus.ts';
import { type BusConfig, busConfig } from '../../bus/config.ts';
import { CommandFailure } from '../failure.ts';
import { refuse } from '../resolve-config.ts';

export type BusFlags = { readonly bus?: string | undefined };

const HINT = 'use nats://HOST:PORT, tls://HOST:PORT, or ws://HOST:PORT/bus of a switchboard serve --bus local:';

/** The flag names another address; everything else stays as the configuration has it. */
export function busOf({ bus: flag }: BusFlags, configured: BusConfig | undefined): BusConfig | undefined {
  if (flag === undefined) return configured;
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

/** `name` is for people who look at the connections of a server. */
export async function connectBus(config: BusConfig, name: string): Promise<Bus> {
  try {
    if (/^wss?:/.test(config.url)) {
      const { connectWebSocketBus } = await import('../../bus/websocket/websocket-bus.ts');
      const { ca } = config.tls;
      const url = new URL(config.url);
      if (url.pathname === '/') url.pathname = '/bus';
      return await connectWebSocketBus({
        url: url.href,
        token: tokenOf(config),
        ...(ca !== undefined && { tls: { ca: read('the certificate', ca) } }),
      });
    }
    const { connectNats } = await import('../../bus/nats-bus.ts');
    return await connectNats({ ...config, name });
  } catch (error) {
    if (!(error instanceof BusFailure)) throw error;
    throw new CommandFailure(1, error.message, 'check the address after --bus, or the key "bus", and that the server is running there');
  }
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
