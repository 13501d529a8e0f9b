// `authenticate` names its agent in the method id; the agent gets its own id back.
import { failure } from '../../errors.ts';
import { splitMethodId } from '../../router/capabilities.ts';
import type { Frame } from '../../wire/frame.ts';
import { memberAt, stringAt } from '../../wire/json-path.ts';
import type { ClientRequest } from '../boundary.ts';
import type { Parts } from '../parts.ts';
import { errorPatches } from '../rewrite.ts';

export function authenticate(proxy: Parts<'pool' | 'client'>, request: ClientRequest, frame: Frame): void {
  const methodId = stringAt(frame.bytes, memberAt(frame.bytes, frame.body, 'methodId')) ?? '';
  const named = splitMethodId(methodId);
  const agent = named && proxy.pool.get(named.agent);
  if (!named || !agent) {
    const known = proxy.pool.all().flatMap(({ name, handshake }) => (handshake?.result.authMethods ?? []).map(({ id }) => `${name}/${id}`));
    return proxy.client.fail(request, failure('AUTH_METHOD_UNKNOWN', [methodId, known.join(', ') || 'none'], { methodId, known }));
  }
  const method = agent.handshake?.result.authMethods?.find(({ id }) => id === named.id);
  if (method?.type === 'terminal')
    return proxy.client.fail(
      request,
      failure('PARAMS', [request.method, `"${methodId}" is a login in a terminal: run the command with its args`], { methodId }),
    );
  agent.forward(frame, {
    method: request.method,
    request,
    patches: (sent) => [{ span: memberAt(sent.bytes, sent.body, 'methodId') as never, text: JSON.stringify(named.id) }],
    onAnswer: (answer) => proxy.client.pass(request, answer, errorPatches(proxy, agent, answer)),
    onFail: (error) => proxy.client.fail(request, error),
  });
}
