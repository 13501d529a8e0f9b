// Requests of our own to the editor, with an answer that somebody waits for.
import type { Frame } from '../../wire/frame.ts';
import { readBody } from '../../wire/scanner/strict-parse.ts';
import type { Hub } from '../hub.ts';
import { notificationLine } from '../messages.ts';

/** The editor's own words on why it did not do it. */
export class EditorRefusal extends Error {
  override readonly name = 'EditorRefusal';
}

export function askEditor(hub: Hub, method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DOMException('cancelled', 'AbortError'));
    const id = hub.editor.ownRequest(method, JSON.stringify(params), (answer) => {
      signal.removeEventListener('abort', takeBack);
      const read = resultOf(method, answer);
      if (read instanceof EditorRefusal) reject(read);
      else resolve(read.value);
    });
    const takeBack = () => {
      hub.editor.forgetOwn(id);
      hub.editor.line(notificationLine('$/cancel_request', `{"requestId":${id}}`));
      reject(new DOMException('cancelled', 'AbortError'));
    };
    signal.addEventListener('abort', takeBack, { once: true });
  });
}

function resultOf(method: string, answer: Frame): { readonly value: unknown } | EditorRefusal {
  const body = readBody(answer);
  if (!body.ok || answer.outcome === 'unclear') return new EditorRefusal(`the editor's answer to ${method} cannot be used`);
  if (answer.outcome === 'result') return { value: body.value };
  const message = (body.value as { message?: unknown } | null)?.message;
  return new EditorRefusal(typeof message === 'string' ? message : `the editor refused ${method}`);
}
