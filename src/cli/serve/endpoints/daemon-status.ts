// `/daemon`: who is connected, for the owner; a DELETE with `?client=N` disconnects one.
import type { GuardedEndpoint } from '../../../listener/gate.ts';
import { refuse } from '../../../listener/respond.ts';
import type { NetworkClients } from '../network-clients.ts';

export function daemonStatus({ list, disconnect, served }: NetworkClients): GuardedEndpoint {
  return {
    roles: ['owner'],
    handle({ method, url = '' }, response) {
      if (method === 'DELETE') {
        const number = Number(new URL(url, 'http://here').searchParams.get('client'));
        if (!disconnect(number)) return refuse(response, { status: 404, why: 'unknown client' });
      }
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ clients: list(true), sessions: served.sessions() }));
    },
  };
}
