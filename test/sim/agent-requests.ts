// Agent requests to the client: permissions, files, terminals, forms, MCP calls, and unknown methods.

import { lentCall } from './host-tools.ts';
import type { AgentFrame, AgentSession, Fate } from './ledger.ts';
import type { Sim } from './sim.ts';
import type { Heard, Run } from './sim-agent.ts';

export type Questions = {
  /** The frame to wait for; undefined when it was lost, so that no answer can come. */
  ask(session: AgentSession | undefined, prompt?: Heard, method?: 'session/request_permission'): AgentFrame | undefined;
  answered(heard: Heard): void;
};

const YES = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];

type Action = {
  readonly method: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly about?: Record<string, unknown>;
  readonly fate?: Fate;
};

/** Those that wait for the user's answer where the policy asks, and for each other. */
export const isJudgedMethod = (method: string | undefined): boolean => /^(fs\/|terminal\/create$)/.test(method ?? '');

export function createQuestions(sim: Sim, run: Run): Questions {
  const { random, faults, policyModel, lent } = sim;
  const terminals = new Map<AgentSession | undefined, string[]>();
  const elicited: string[] = [];
  const withdrawn = new Set<unknown>();

  /** Files that the user was asked about and that have not been written since. */
  const toWrite = new Map<AgentSession | undefined, string[]>();
  const OPTIONS = [
    ...YES,
    { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  function permission(session: AgentSession | undefined): Action {
    const method = 'session/request_permission';
    const toolCallId = 'call1';
    if (!policyModel) return { method, body: { toolCall: { toolCallId }, options: YES } };
    if (policyModel.random.chance(0.5)) {
      const rawInput = { command: policyModel.random.pick(['ls a', 'make b', 'rm c']) };
      return { method, body: { toolCall: { toolCallId, kind: 'execute', rawInput }, options: OPTIONS } };
    }
    const file = key();
    toWrite.set(session, [...(toWrite.get(session) ?? []), file]);
    const rawInput = { file_path: `/w/${file}` };
    return { method, body: { toolCall: { toolCallId, kind: 'edit', rawInput }, options: OPTIONS }, about: { toWrite: file } };
  }
  /** Calls a host tool, which the proxy answers: the client never sees it. Sometimes one of another process, which is refused. */
  function call(session: AgentSession): Action | undefined {
    const own = run.lent.bySession.get(session);
    if (!lent || own === undefined || !lent.random.chance(lent.rates.calls)) return undefined;
    const [foreign] = lent.servers.filter((server) => lent.random.chance(0.05) && !run.lent.all.has(server));
    const before = lent.random.chance(0.2) ? run.lent.before.get(session) : undefined;
    const serverId = foreign ?? before ?? own;
    const isOwn = foreign === undefined;
    return {
      method: 'mcp/message',
      body: lentCall(lent, serverId, key(), sim, run.agent),
      about: { isPatched: true, mcpRequestId: key(), ...(isOwn ? { key: key(), isLent: true } : { foreignKey: key() }) },
      fate: 'never',
    };
  }
  /** Unique to one request, so that the proxy's own request about it can be identified. */
  const key = () => `${run.agent}.${run.number}.${run.nextQuestion}`;
  function compose(session: AgentSession | undefined, prompt: Heard | undefined): Action {
    if (!session) return { method: '_sim/ask', body: { word: 'now' } };
    const asked = policyModel?.random.chance(0.7) ? toWrite.get(session)?.shift() : undefined;
    if (asked !== undefined) return { method: 'fs/write_text_file', body: { path: `/w/${asked}`, content: 'x' }, about: { key: asked } };
    const called = call(session);
    if (called) return called;
    const own = terminals.get(session) ?? [];
    const terminalId = faults.happens('foreign terminal') && sim.terminals.length > 0 ? random.pick(sim.terminals) : random.pick(own);
    const kind = random.weighted([
      [6, 'permission'],
      [2, 'file'],
      [2, 'terminal'],
      [terminalId === undefined ? 0 : 4, 'terminal use'],
      [2, 'elicitation'],
      [1, 'mcp'],
      [1, 'vendor'],
    ]);
    switch (kind) {
      case 'permission':
        return permission(session);
      case 'file':
        return {
          method: random.pick(['fs/read_text_file', 'fs/write_text_file']),
          body: { path: policyModel ? `/w/${key()}` : '/w/a.txt', content: 'x' },
          about: { key: key() },
        };
      case 'terminal':
        return {
          method: 'terminal/create',
          body: policyModel ? { command: policyModel.random.pick(['ls', 'make', 'rm']), args: [key()] } : { command: 'ls' },
          about: { key: key() },
        };
      case 'terminal use': {
        const method = random.pick(['terminal/output', 'terminal/wait_for_exit', 'terminal/kill', 'terminal/release']);
        return { method, body: { terminalId }, about: { terminalId } };
      }
      case 'elicitation': {
        // Names that other agents use too.
        const elicitationId = random.chance(0.6) ? `e${random.int(1, 3)}` : undefined;
        const isAbout = prompt?.client !== undefined && random.chance(0.4);
        return {
          method: 'elicitation/create',
          body: {
            message: 'who?',
            ...(elicitationId !== undefined && { elicitationId }),
            ...(isAbout && { requestId: Number(prompt.idText) }),
          },
          about: { isPatched: true, elicitationId, ...(isAbout && { aboutClient: prompt.client }) },
        };
      }
      case 'mcp': {
        const requestId = `m${random.int(1, 3)}`;
        return {
          method: 'mcp/message',
          body: { serverId: 'tools', requestId, message: {} },
          about: { isPatched: true, mcpRequestId: requestId },
        };
      }
      default:
        return { method: '_sim/ask', body: { word: 'please' } };
    }
  }

  /** Perhaps while the user still decides. */
  function takeBackCall(): void {
    const called = [...run.questions].find(({ about }) => about.isLent === true && !withdrawn.has(about.key));
    if (!lent || !called || !lent.random.chance(0.3)) return;
    withdrawn.add(called.about.key);
    takeBack(called);
  }
  const takeBack = (asked: AgentFrame) =>
    run.mouth.say({
      ...{ kind: 'notification', as: 'params', method: '$/cancel_request', body: { requestId: JSON.parse(asked.idText as string) } },
      ...{ fate: 'may', about: { isPatched: true, withdraws: asked.serial } },
    });

  return {
    ask(session, prompt, only) {
      takeBackCall();
      if (elicited.length > 0 && random.chance(0.5)) {
        const elicitationId = elicited.shift() as string;
        run.mouth.say({
          ...{ kind: 'notification', as: 'params', method: 'elicitation/complete', body: { elicitationId } },
          about: { isPatched: true, elicitationId },
        });
      }
      const { method, body, about = {}, fate = 'must' } = only ? permission(session) : compose(session, prompt);
      const number = run.nextQuestion++;
      const id = random.chance(0.8) ? String(number) : `"q${number}"`;
      // Requests in a delegation are marked as such; when the delegation is over, nobody asks for it any more.
      const isDelegation = session?.isDelegation === true;
      const isJudged = policyModel?.isObserving === false && isJudgedMethod(method);
      const { frame, came } = run.mouth.say({
        kind: 'question',
        as: 'params',
        method,
        id,
        session,
        body,
        about: isDelegation ? { ...about, isPatched: true } : about,
        fate: isDelegation && fate === 'must' ? 'may' : fate,
        isOrdered: about.isLent !== true,
        isJudged,
      });
      if (came === 'lost') return undefined;
      run.questions.add(frame);
      if (faults.happens('takes question back')) takeBack(frame);
      return frame;
    },
    answered({ message, idText }) {
      const asked = [...run.questions].find((question) => question.idText === idText);
      if (!asked) return;
      run.questions.delete(asked);
      if (asked.method === 'terminal/create' && typeof message.result?.terminalId === 'string')
        terminals.set(asked.session, [...(terminals.get(asked.session) ?? []), message.result.terminalId]);
      if (typeof asked.about.elicitationId === 'string' && message.result?.action === 'accept') elicited.push(asked.about.elicitationId);
    },
  };
}
