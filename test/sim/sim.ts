// What the parts of one simulated history share.
import type { Limits } from '../../src/wire/frame.ts';
import type { VirtualClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { HostTools } from './host-tools.ts';
import type { Ledger } from './ledger.ts';
import type { Oracle } from './oracle.ts';
import type { PolicyModel } from './policy-model.ts';
import type { Random } from './random.ts';

export type Sim = {
  readonly random: Random;
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly clock: VirtualClock;
  readonly limits: Limits;
  readonly cancelMs: number;
  /** The names of the agents, in their order. */
  readonly agents: readonly string[];
  readonly oracle: Oracle;
  /** The policy of this history, if it has one. */
  readonly policyModel: PolicyModel | undefined;
  /** The host tools of this history, if any. */
  readonly hostTools: HostTools | undefined;
  /** Terminals that the client has created, and for which request. */
  readonly terminals: string[];
  readonly trace: (text: string) => void;
};

/** The fields of a message that the simulator reads. */
export type Message = {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Body;
  readonly result?: Body;
  readonly error?: Body & { readonly code?: number; readonly message?: string; readonly data?: Body };
};

export type Body = { readonly [key: string]: unknown };

/** The number that a peer of the simulator put into a frame. */
export function serialIn({ params, result, error }: Message): unknown {
  const meta = (params ?? result)?._meta as { sim?: unknown } | undefined;
  const serial = meta?.sim ?? error?.data?.sim;
  return typeof serial === 'string' && /^\d+$/.test(serial) ? Number(serial) : serial;
}
