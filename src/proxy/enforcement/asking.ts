// A request of an agent's that a policy has a say in, with everything its surface needs.
import { fields } from '../../json-object.ts';
import type { Frame } from '../../wire/frame.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import type { Agent } from '../agents/agent.ts';
import type { ProxyParts } from '../parts.ts';
import type { Session } from '../sessions/session.ts';
import type { PassOn } from './enforcement.ts';

export type Asking = {
  readonly proxy: ProxyParts;
  readonly agent: Agent;
  readonly session: Session | undefined;
  readonly frame: Frame;
  /** Its `params`, read; what parsers read differently never gets here. */
  readonly params: unknown;
  readonly passOn: PassOn;
};

export type Params = Readonly<Record<string, unknown>>;

export const paramsOf = ({ params }: Asking): Params => fields(params);

export const surfaceOf = ({ proxy, agent, session, frame }: Asking) => ({ proxy, agent, session, surface: frame.method as string });

/** The request as it came, for the record. */
export const textOf = ({ frame }: Asking): Buffer => frame.bytes.subarray(frame.start, frame.end);

export const idOf = ({ frame }: Asking): string => idTextOf(frame);
