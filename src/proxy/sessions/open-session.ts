// session/new and session/fork.
import { META_KEY } from '../../acp/shapes.ts';
import { failure, ProxyError } from '../../errors.ts';
import { chooseAgent } from '../../router/route.ts';
import { detach, type Frame, textOf } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Patch } from '../../wire/writer.ts';
import type { Agent } from '../agents/agent.ts';
import { withServerList } from '../agents/legacy-frames.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts, ProxyParts } from '../parts.ts';
import { rootsFor } from '../requests/serve-workspace.ts';
import { errorPatches, toNative, toPublic, traceContextPatches } from '../rewrite.ts';
import { serversFor } from '../tools/session-servers.ts';
import { restartShown } from '../turns/shown-history.ts';
import { discardSession } from './close-session.ts';
import { announceCommand, withOurOptions } from './config-options.ts';
import { beginOpening, openedId, releaseEarly } from './early-frames.ts';
import { capabilityMissing, directoriesIn, isCwdUsable, missingFor, noteServers, record, recordOf } from './open-params.ts';
import type { Session } from './session.ts';

export function newSession(proxy: ProxyParts, request: ClientRequest, frame: Frame): void {
  const cwd = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'cwd'));
  const placed = (agent: Agent) => proxy.pool.processFor(agent, directoriesIn(frame.body && textOf(frame.bytes, frame.body)));
  if (!isCwdUsable(proxy, cwd)) return proxy.client.fail(request, failure('CWD_RELATIVE', [request.method]));
  if (proxy.pool.single) return openAt(proxy, placed(proxy.pool.single), request, frame, { cwd });
  const params = readBody(frame);
  if (!params.ok) return proxy.client.fail(request, failure('AMBIGUOUS', [params.reason]));
  const { _meta } = (params.value ?? {}) as Record<string, unknown>;
  const asked = (_meta as Record<string, { agent?: unknown } | null | undefined> | null | undefined)?.[META_KEY]?.agent;
  const chosen = chooseAgent(proxy.pool.choice, asked, cwd as string);
  if (chosen instanceof ProxyError) return proxy.client.fail(request, chosen);
  openAt(proxy, placed(proxy.pool.get(chosen) as Agent), request, frame, { cwd });
}

export function forkSession(proxy: ProxyParts, request: ClientRequest, session: Session, frame: Frame): void {
  const cwd = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'cwd')) ?? session.cwd;
  if (!isCwdUsable(proxy, cwd)) return proxy.client.fail(request, failure('CWD_RELATIVE', [request.method]));
  openAt(proxy, session.agent, request, frame, { cwd, parent: session });
}

/** Sends a request whose answer opens a session. */
function openAt(
  proxy: ProxyParts,
  agent: Agent,
  request: ClientRequest,
  frame: Frame,
  about: { readonly cwd: string | undefined; readonly parent?: Session },
): void {
  const settleOpening = beginOpening(proxy, agent);
  const owned = withServerList(detach(frame));
  const openParams = owned.body && textOf(owned.bytes, owned.body);
  const failed = (error: ProxyError) => void settleOpening(() => proxy.client.fail(request, error));
  agent.whenReady(() => {
    const missing = proxy.pool.single ? undefined : missingFor(agent, openParams);
    if (missing) return failed(capabilityMissing(request, agent, missing));
    const refused = proxy.context.enforcement?.refusesServers(agent, openParams);
    if (refused) return failed(refused);
    noteServers(agent, openParams);
    const native = toNative(about.parent);
    const roots = rootsFor(proxy, openParams) ?? about.parent?.roots;
    serversFor(proxy, agent, openParams, (servers) => {
      agent.forward(owned, {
        method: request.method,
        request,
        patches: (sent) => [...native(sent), ...servers.patches(sent, request.method), ...traceContextPatches(proxy, agent, sent, request)],
        onFail(error) {
          servers.revoke();
          failed(error);
        },
        onAnswer: (answer) =>
          settleOpening(() => {
            const nativeId = openedId(answer);
            if (nativeId === undefined) {
              servers.revoke();
              return proxy.client.pass(request, answer, errorPatches(proxy, agent, answer));
            }
            // The client withdrew the request while the agent was moved out of a refused mode: it has its answer and would never learn of
            // the session.
            if (request.isAnswered) {
              servers.revoke();
              return discardSession(proxy, agent, nativeId);
            }
            const by = { openParams, roots, agentLocked: about.parent !== undefined };
            agent.sessions.forgetParked(nativeId);
            let isRecorded = false;
            const claim = (recordId: string, isKnown: boolean): boolean => {
              const opened = { recordId, agent, nativeId, cwd: about.cwd, openParams, agentLocked: by.agentLocked, settings: undefined };
              isRecorded = proxy.context.log.claim(recordOf(opened, proxy.context.clock.now(), servers.toolServer), isKnown);
              return isRecorded;
            };
            const session = proxy.registry.open(agent, nativeId, about.cwd, by, claim);
            restartShown(proxy, session);
            if (!isRecorded) record(proxy, session);
            proxy.client.pass(request, answer, openedPatches(proxy, session, answer));
            releaseEarly(proxy, agent, nativeId);
            if (!proxy.pool.single) announceCommand(proxy, session);
            servers.bind(session, true);
          }),
      });
    });
  }, failed);
}

/** The public id, and with several agents our options, in an answer that opens a session. */
export function openedPatches(proxy: Parts<'pool'>, session: Session, answer: Frame): readonly Patch[] {
  const patches = toPublic(session, answer);
  if (proxy.pool.single || !answer.body) return patches;
  session.options.read(answer);
  return [...patches, ...withOurOptions(proxy, session, answer.bytes, answer.body)];
}
