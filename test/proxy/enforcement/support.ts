// One agent and one session under a policy, without processes: the test plays client and agent, and sees every decision.
import type { Audit } from '../../../src/audit/audit.ts';
import type { AuditEntry } from '../../../src/audit/audit-line.ts';
import { createEnforcement, type EnforcementOptions } from '../../../src/proxy/enforcement/create-enforcement.ts';
import type { CreateEnforcement, Enforcement, PassOn } from '../../../src/proxy/enforcement/enforcement.ts';
import type { Session } from '../../../src/proxy/sessions/session.ts';
import { type Json, open } from '../../e2e/harness.ts';
import { execution, selected } from '../../e2e/policy-support.ts';
import { createStillClock, type InProcess, type StillClock } from '../../faults/in-process.ts';
import { type Actor, able, CWD, connection } from '../actors.ts';
import { memoryParts, policyInForce } from '../memory-enforcement.ts';

export const CANCELLED = { outcome: { outcome: 'cancelled' } };

export type UnderPolicy = Pick<InProcess, 'client' | 'notices' | 'connection'> & {
  readonly agent: Actor;
  readonly id: string;
  readonly clock: StillClock;
  readonly entries: AuditEntry[];
  /** What enforcement said of each request that it passed on, and of each that it made itself. */
  readonly passed: PassedOn[];
  /** Timers of the proxy that have neither fired nor been stopped. */
  timers(): number;
  /** Verdict, who answered and what was sent, of each decision so far. */
  decisions(): readonly (string | undefined)[][];
  /** Puts another policy in force. */
  replacePolicy(policy: object): void;
  breakAudit(): void;
  ask(command: string, more?: Json): Promise<Json>;
  update(update: Json): void;
  /** Resolves once the proxy has read all that the agent sent before. */
  settled(): Promise<void>;
  readonly enforcement: Enforcement;
  session(): Promise<Session>;
};

type PassedOn = NonNullable<Parameters<PassOn>[1]>;

export type PolicyOptions = Partial<EnforcementOptions> & { readonly prepare?: (agent: Actor) => void; readonly others?: readonly Actor[] };

/** The client allows every permission request once, until the test says otherwise. */
export async function underPolicy(policy: object, { prepare, others = [], ...options }: PolicyOptions = {}): Promise<UnderPolicy> {
  const entries: AuditEntry[] = [];
  let current = policyInForce({ version: 1, ...policy }, '1');
  let isBroken = false;
  const audit: Pick<Audit, 'record'> = {
    record: (entry) => (isBroken ? { isWritten: false, problem: 'full' } : { isWritten: true, seq: entries.push(entry) }),
  };
  const passed: PassedOn[] = [];
  let found: Session | undefined;
  let made: Enforcement | undefined;
  const create = createEnforcement({ ...memoryParts(), current: () => current, audit, ...options });
  const enforcement: CreateEnforcement = (host) => {
    const requests: typeof host.requests = {
      putOwn(request, params) {
        if (request.evaluated) passed.push({ about: request.evaluated });
        return host.requests.putOwn(request, params);
      },
      withdraw: (request) => host.requests.withdraw(request),
    };
    const inner = create(Object.create(host, { requests: { value: requests } }));
    made = inner;
    return {
      ...inner,
      agentRequest: (agent, session, frame, passOn) =>
        inner.agentRequest(agent, session, frame, (mine, more) => {
          passed.push(more ?? {});
          return passOn(mine, more);
        }),
      toolCall(session, frame) {
        found = session;
        inner.toolCall(session, frame);
      },
    };
  };
  const still = createStillClock();
  const running = new Set<object>();
  const clock: StillClock = {
    ...still,
    after(ms, callback) {
      const timer = {};
      running.add(timer);
      const stop = still.after(ms, () => {
        running.delete(timer);
        callback();
      });
      return () => {
        running.delete(timer);
        stop();
      };
    },
  };
  const agent = able('agent');
  prepare?.(agent);
  const { client, notices, connection: proxy } = await connection([agent, ...others], {}, { clock, enforcement });
  allowOnce(client);
  const { id } = await open(client, CWD, others.length > 0 ? 'agent' : undefined);
  const settled = async () => {
    agent.notify('session/update', { sessionId: id, update: { sessionUpdate: 'behind', n: ++behind } });
    const n = behind;
    await client.got('session/update', ({ update }) => update.n === n);
  };
  return {
    ...{ client, notices, connection: proxy, agent, id, clock, entries, passed, settled },
    timers: () => running.size,
    enforcement: made as unknown as Enforcement,
    decisions: () => entries.map(({ verdict, answeredBy, option }) => [verdict, answeredBy, option]),
    replacePolicy(next) {
      current = policyInForce({ version: 1, ...next }, '2');
    },
    breakAudit() {
      isBroken = true;
    },
    ask: (command, more) => agent.call('session/request_permission', execution(id, command, more)),
    update: (update) => agent.notify('session/update', { sessionId: id, update }),
    async session() {
      agent.notify('session/update', { sessionId: id, update: { sessionUpdate: 'tool_call', toolCallId: 'probe', status: 'pending' } });
      await settled();
      if (!found) throw new Error('no update of a tool call arrived');
      return found;
    },
  };
}

let behind = 0;

export function allowOnce(client: InProcess['client']): void {
  client.on('session/request_permission', ({ options }: Json) =>
    selected(options.find(({ kind }: Json) => kind === 'allow_once')?.optionId ?? 'none'),
  );
}
