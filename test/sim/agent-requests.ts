// Agent requests to the client: permissions, files, terminals, forms, MCP calls, and unknown methods.

import { hostToolCall } from './host-tools.ts';
import type { AgentFrame, AgentSession, Fate } from './ledger.ts';
import type { Sim } from './sim.ts';
import type { AgentInput, Run } from './sim-agent.ts';

export type AgentRequests = {
  /** The frame to wait for; undefined when it was lost, so that no answer can come. */
  ask(session: AgentSession | undefined, prompt?: AgentInput, method?: 'session/request_permission'): AgentFrame | undefined;
  answered(received: AgentInput): void;
};

const ALLOW = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];

type Action = {
  readonly method: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly about?: Record<string, unknown>;
  readonly fate?: Fate;
};

/** Those that wait for the user's answer where the policy asks, and for each other. */
export const isEvaluatedMethod = (method: string | undefined): boolean => /^(fs\/|terminal\/create$)/.test(method ?? '');

export function createAgentRequests(sim: Sim, run: Run): AgentRequests {
  const { random, faults, policyModel, hostTools } = sim;
  const terminals = new Map<AgentSession | undefined, string[]>();
  const elicited: string[] = [];
  const withdrawn = new Set<unknown>();

  /** Files that the user was asked about and that have not been written since. */
  const toWrite = new Map<AgentSession | undefined, string[]>();
  const OPTIONS = [
    ...ALLOW,
    { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  function permission(session: AgentSession | undefined): Action {
    const method = 'session/request_permission';
    const toolCallId = 'call1';
    if (!policyModel) return { method, body: { toolCall: { toolCallId }, options: ALLOW } };
    if (policyModel.random.chance(0.5)) {
      const rawInput = { command: policyModel.random.pick(['ls a', 'make b', 'rm c']) };
      // The title says what the request does, so it passes as it is.
      const title = `Run ${rawInput.command}`;
      return { method, body: { toolCall: { toolCallId, kind: 'execute', title, rawInput }, options: OPTIONS } };
    }
    const file = key();
    toWrite.set(session, [...(toWrite.get(session) ?? []), file]);
    const rawInput = { file_path: `/w/${file}` };
    const title = `Edit /w/${file}`;
    return { method, body: { toolCall: { toolCallId, kind: 'edit', title, rawInput }, options: OPTIONS }, about: { toWrite: file } };
  }
  /** Calls a host tool, which the proxy answers: the client never sees it. Sometimes one of another process, which is refused. */
  function call(session: AgentSession): Action | undefined {
    const own = run.hostTools.bySession.get(session);
    if (!hostTools || own === undefined || !hostTools.random.chance(hostTools.rates.calls)) return undefined;
    const [foreign] = hostTools.servers.filter((server) => hostTools.random.chance(0.05) && !run.hostTools.all.has(server));
    const before = hostTools.random.chance(0.2) ? run.hostTools.before.get(session) : undefined;
    const serverId = foreign ?? before ?? own;
    const isOwn = foreign === undefined;
    const isOfDelegation = run.hostTools.delegated.has(serverId);
    return {
      method: 'mcp/message',
      body: hostToolCall(hostTools, serverId, key(), sim, run.agent),
      about: {
        isPatched: true,
        mcpRequestId: key(),
        ...(isOwn ? { key: key(), isHostTool: true, isOfDelegation } : { foreignKey: key() }),
      },
      fate: 'never',
    };
  }
  /** Unique to one request, so that the proxy's own request about it can be identified. */
  const key = () => `${run.agent}.${run.number}.${run.nextRequest}`;
  function compose(session: AgentSession | undefined, prompt: AgentInput | undefined): Action {
    if (!session) return { method: '_sim/ask', body: { word: 'now' } };
    const agentRequest = policyModel?.random.chance(0.7) ? toWrite.get(session)?.shift() : undefined;
    if (agentRequest !== undefined)
      return { method: 'fs/write_text_file', body: { path: `/w/${agentRequest}`, content: 'x' }, about: { key: agentRequest } };
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
    const called = [...run.requests].find(({ about }) => about.isHostTool === true && !withdrawn.has(about.key));
    if (!hostTools || !called || !hostTools.random.chance(0.3)) return;
    withdrawn.add(called.about.key);
    takeBack(called);
  }
  const takeBack = (agentRequest: AgentFrame) =>
    run.sender.send({
      ...{ kind: 'notification', as: 'params', method: '$/cancel_request', body: { requestId: JSON.parse(agentRequest.idText as string) } },
      ...{ fate: 'may', about: { isPatched: true, withdraws: agentRequest.serial } },
    });

  return {
    ask(session, prompt, only) {
      takeBackCall();
      if (elicited.length > 0 && random.chance(0.5)) {
        const elicitationId = elicited.shift() as string;
        run.sender.send({
          ...{ kind: 'notification', as: 'params', method: 'elicitation/complete', body: { elicitationId } },
          about: { isPatched: true, elicitationId },
        });
      }
      const { method, body, about = {}, fate = 'must' } = only ? permission(session) : compose(session, prompt);
      const number = run.nextRequest++;
      const id = random.chance(0.8) ? String(number) : `"q${number}"`;
      // Requests in a delegation are marked as such; when the delegation is over, nobody asks for it any more.
      const isDelegation = session?.isDelegation === true;
      const isEvaluated = policyModel?.isObserving === false && isEvaluatedMethod(method);
      const { frame, came } = run.sender.send({
        kind: 'request',
        as: 'params',
        method,
        id,
        session,
        body,
        about: isDelegation ? { ...about, isPatched: true } : about,
        fate: isDelegation && fate === 'must' ? 'may' : fate,
        isOrdered: about.isHostTool !== true,
        isEvaluated,
      });
      if (came === 'lost') return undefined;
      run.requests.add(frame);
      if (faults.happens('withdraws request')) takeBack(frame);
      return frame;
    },
    answered({ message, idText }) {
      const agentRequest = [...run.requests].find((question) => question.idText === idText);
      if (!agentRequest) return;
      run.requests.delete(agentRequest);
      if (agentRequest.method === 'terminal/create' && typeof message.result?.terminalId === 'string')
        terminals.set(agentRequest.session, [...(terminals.get(agentRequest.session) ?? []), message.result.terminalId]);
      if (typeof agentRequest.about.elicitationId === 'string' && message.result?.action === 'accept')
        elicited.push(agentRequest.about.elicitationId);
    },
  };
}
