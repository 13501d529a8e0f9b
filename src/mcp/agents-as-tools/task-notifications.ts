// `notifications/tasks`: a client of the 2026 era that listens to tasks hears of each change of their status. The SDK's subscriptions carry no
// notifications of extensions, so these are added to its streams (typescript-sdk#2569).
import { CLIENT_CAPABILITIES_META_KEY, type JSONRPCMessage, SUBSCRIPTION_ID_META_KEY, type Transport } from '@modelcontextprotocol/server';
import { fields, type JsonObject } from '../../json-object.ts';
import { TASKS_EXTENSION, type Tasks } from './tasks.ts';

type Listening = { readonly id: unknown; readonly taskIds: readonly string[] };

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** The tasks that a request listens to; undefined if it listens to none. */
function listeningIn(message: unknown): Listening | undefined {
  const { id, method, params } = fields(message);
  if (method !== 'subscriptions/listen') return undefined;
  const { notifications, _meta } = fields(params);
  const { taskIds } = fields(notifications);
  const { extensions } = fields(fields(_meta)[CLIENT_CAPABILITIES_META_KEY]);
  if (!Array.isArray(taskIds) || fields(extensions)[TASKS_EXTENSION] === undefined) return undefined;
  return { id, taskIds: taskIds.map(String) };
}

/** The SDK's acknowledgement of this subscription, with the tasks; undefined for any other message. */
function acknowledgement(message: unknown, { id, taskIds }: Listening): JSONRPCMessage | undefined {
  const { method, params } = fields(message);
  const { notifications, _meta, ...rest } = fields(params);
  if (method !== ACKNOWLEDGED || fields(_meta)[SUBSCRIPTION_ID_META_KEY] !== id) return undefined;
  return { jsonrpc: '2.0', method, params: { ...rest, _meta: { ...fields(_meta) }, notifications: { ...fields(notifications), taskIds } } };
}

/** Sends the changes of the tasks. Returns a function that stops it. */
function watch(tasks: Tasks, { id, taskIds }: Listening, send: (message: JSONRPCMessage) => void): () => void {
  return tasks.onChange((taskId, task: JsonObject) => {
    if (!taskIds.includes(taskId)) return;
    send({ jsonrpc: '2.0', method: 'notifications/tasks', params: { ...task, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } } });
  });
}

/** A stream of the SDK, with the notifications that the request asks for. */
export function withTaskNotifications(tasks: Tasks, body: unknown, signal: AbortSignal, response: Response): Response {
  const listening = listeningIn(body);
  if (!listening || !response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const event = (message: JSONRPCMessage) => encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  let beginning: string | undefined = '';
  let stop = () => {};
  const stream = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (beginning === undefined) return controller.enqueue(chunk);
      beginning += decoder.decode(chunk, { stream: true });
      const end = beginning.indexOf('\n\n');
      if (end === -1) return;
      const data = /^data: ?(.+)$/m.exec(beginning.slice(0, end))?.[1];
      const message = data === undefined ? undefined : acknowledgement(JSON.parse(data), listening);
      if (!message) return; // a comment that keeps the stream open
      controller.enqueue(event(message));
      controller.enqueue(encoder.encode(beginning.slice(end + 2)));
      beginning = undefined;
      stop = watch(tasks, listening, (change) => controller.enqueue(event(change)));
      signal.addEventListener('abort', stop, { once: true });
    },
    flush: () => stop(),
  });
  return new Response(response.body.pipeThrough(stream), { status: response.status, headers: response.headers });
}

/** A connection on which every message passes, and these notifications are added. */
export function taskNotifying(inner: Transport, tasks: Tasks): Transport {
  const subscriptions = new Map<unknown, { readonly listening: Listening; stop(): void }>();
  const end = (id: unknown) => {
    subscriptions.get(id)?.stop();
    subscriptions.delete(id);
  };
  const outer: Transport = {
    start() {
      inner.onmessage = (message, extra) => {
        const listening = listeningIn(message);
        if (listening) subscriptions.set(listening.id, { listening, stop: () => {} });
        const { method, params } = fields(message);
        if (method === 'notifications/cancelled') end(fields(params).requestId);
        outer.onmessage?.(message, extra);
      };
      inner.onerror = (error) => outer.onerror?.(error);
      inner.onclose = () => {
        for (const id of [...subscriptions.keys()]) end(id);
        outer.onclose?.();
      };
      return inner.start();
    },
    send(message, options) {
      for (const [id, { listening }] of subscriptions) {
        const acknowledged = acknowledgement(message, listening);
        if (!acknowledged) continue;
        const stop = watch(tasks, listening, (change) => void inner.send(change).catch(() => {})); // the client may have disconnected
        subscriptions.set(id, { listening, stop });
        return inner.send(acknowledged, options);
      }
      return inner.send(message, options);
    },
    close: () => inner.close(),
  };
  return outer;
}
