// A bug of ours that a frame of the editor's has found: it must not cost other sessions, nor the agent whose answer let the frame go on.
import { failure } from '../errors.ts';
import type { OpenRequest } from './client/client-connection.ts';
import type { Hub } from './hub.ts';

export function failedOn(hub: Pick<Hub, 'client' | 'report'>, request: OpenRequest | undefined, method: string, error: unknown): void {
  const why = String((error as Error).message);
  hub.report(`failed on ${method}: ${why}`);
  if (request) hub.client.fail(request, failure('INTERNAL', [method, why]));
}

/** For what waits in a lane: whoever releases that goes on with the others. */
export function contained(hub: Hub, request: OpenRequest | undefined, method: string, run: () => void): () => void {
  return () => {
    try {
      run();
    } catch (error) {
      failedOn(hub, request, method, error);
    }
  };
}
