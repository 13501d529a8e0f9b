// `/daemon/queue?session=ID`: the prompts of a session that wait for the end of its turn, for the owner. With `&prompt=N`, a DELETE removes one and
// a PUT gives it the body as its text.
import type { GuardedEndpoint } from '../../../listener/gate.ts';
import { type BodyLimits, readBody, refuse } from '../../../listener/respond.ts';
import type { NetworkClients } from '../network-clients.ts';

export function promptQueue({ queue }: Pick<NetworkClients, 'queue'>, bodyLimits: (principal: string) => BodyLimits): GuardedEndpoint {
  return {
    roles: ['owner'],
    async handle(request, response, { name }) {
      const { method, url = '' } = request;
      const { searchParams } = new URL(url, 'http://here');
      const [sessionId, id] = [searchParams.get('session') ?? '', searchParams.get('prompt') ?? ''];
      if (method === 'PUT' || method === 'DELETE') {
        const body = method === 'PUT' ? await readBody(request, bodyLimits(name)) : undefined;
        if (body && 'status' in body) return refuse(response, body);
        if (!queue.changeQueued({ sessionId, id }, body?.toString()))
          return refuse(response, { status: 404, why: 'this prompt does not wait' });
      }
      const prompts = queue
        .queuedPrompts()
        .flatMap((one) => (one.sessionId === sessionId ? [{ number: Number(one.id), text: one.text }] : []));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ prompts }));
    },
  };
}
