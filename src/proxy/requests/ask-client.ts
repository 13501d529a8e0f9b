// Requests of our own to the editor, with an answer that somebody waits for.
import type { Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import { notificationLine } from '../messages.ts';
import type { ProxyParts } from '../parts.ts';

/** The editor's own words on why it did not do it. */
export class ClientRefusal extends Error {
  override readonly name = 'EditorRefusal';
}

export function askClient(proxy: ProxyParts, method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DOMException('cancelled', 'AbortError'));
    const id = proxy.client.ownRequest(method, JSON.stringify(params), (answer) => {
      signal.removeEventListener('abort', cancelRequest);
      const read = resultOf(method, answer);
      if (read instanceof ClientRefusal) reject(read);
      else resolve(read.value);
    });
    const cancelRequest = () => {
      proxy.client.forgetOwn(id);
      proxy.client.line(notificationLine('$/cancel_request', `{"requestId":${id}}`));
      reject(new DOMException('cancelled', 'AbortError'));
    };
    signal.addEventListener('abort', cancelRequest, { once: true });
  });
}

function resultOf(method: string, answer: Frame): { readonly value: unknown } | ClientRefusal {
  const body = readBody(answer);
  if (!body.ok || answer.outcome === 'unclear') return new ClientRefusal(`the editor's answer to ${method} cannot be used`);
  if (answer.outcome === 'result') return { value: body.value };
  const message = (body.value as { message?: unknown } | null)?.message;
  return new ClientRefusal(typeof message === 'string' ? message : `the editor refused ${method}`);
}
