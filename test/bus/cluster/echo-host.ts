// A host whose agent echoes, and an edge that is connected to it.
import { randomUUID } from 'node:crypto';
import type { Bus } from '../../../src/bus/bus.ts';
import { systemBusClock } from '../../../src/bus/clock.ts';
import { type Edge, startEdge } from '../../../src/bus/cluster/edge.ts';
import { type Host, startHost } from '../../../src/bus/cluster/host.ts';
import type { Sink, Source } from '../../../src/wire/byte-stream.ts';

export type EchoHost = Host & { readonly ends: string[] };

export async function echoHost(
  bus: Bus,
  tenant: string,
  name = 'h1',
  more: Partial<Parameters<typeof startHost>[0]> = {},
): Promise<EchoHost> {
  const ends: string[] = [];
  const host = await startHost({
    bus,
    tenant,
    host: name,
    labels: {},
    agents: ['echo'],
    served: () => ({ fs: 'agent', terminal: 'agent' }),
    allowsDirectory: () => true,
    capacity: 100,
    version: '0',
    clock: systemBusClock,
    sessions: () => [],
    adopt: () => {},
    onSession: () => {},
    ended: async (why) => void ends.push(why),
    report: () => {},
    serve: echo,
    ...more,
  });
  return Object.assign(Object.create(host, { ends: { value: ends } }));
}

/** Writes back what it reads; stops reading while the other end does not read. */
export function echo({ input, output }: { readonly input: Source; readonly output: Sink }): { close(): Promise<void> } {
  input.on('data', (chunk) => void (output.write(chunk) || input.pause()));
  output.on('drain', () => input.resume());
  input.on('end', () => output.end());
  return { close: async () => {} };
}

export const newTenant = (): string => `t${randomUUID().slice(0, 8)}`;

export const edgeOn = (bus: Bus, tenant: string, more: Partial<Parameters<typeof startEdge>[0]> = {}): Promise<Edge> =>
  startEdge({ bus, tenant, principal: 'someone', clock: systemBusClock, random: Math.random, report: () => {}, ...more });

export const TO_ECHO = { agent: 'echo', labels: {}, process: 'echo', sessionId: undefined };
