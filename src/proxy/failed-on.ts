// A bug of ours that a frame of the editor's has found: it must not cost other sessions, nor the agent whose answer let the frame go on.
import { failure } from '../errors.ts';
import type { OpenRequest } from './client/client-connection.ts';
import type { ProxyParts } from './parts.ts';

export function failedOn(
  proxy: Pick<ProxyParts, 'client' | 'context'>,
  request: OpenRequest | undefined,
  method: string,
  error: unknown,
): void {
  const why = String((error as Error).message);
  proxy.context.report(`failed on ${method}: ${why}`);
  if (request) proxy.client.fail(request, failure('INTERNAL', [method, why]));
}

/** For what waits in a lane: whoever releases that goes on with the others. */
export function contained(proxy: ProxyParts, request: OpenRequest | undefined, method: string, run: () => void): () => void {
  return () => {
    try {
      run();
    } catch (error) {
      failedOn(proxy, request, method, error);
    }
  };
}
