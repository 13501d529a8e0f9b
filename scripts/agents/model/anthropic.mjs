// The Messages API: what the agent sends, and how the reply is streamed.
import { eventStream, pause, sendJson, uniqueId } from './stream.mjs';

export function read(body) {
  const items = (body.messages ?? []).flatMap(({ role, content }) => {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const calls = parts.flatMap((part) => {
      if (part.type === 'tool_use') return [{ role: 'call', name: part.name, text: '' }];
      return part.type === 'tool_result' ? [{ role: 'result', text: JSON.stringify(part.content) }] : [];
    });
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    return text === '' ? calls : [...calls, { role, text }];
  });
  const tools = (body.tools ?? []).map(({ name, description, input_schema: schema }) => ({ name, description, schema }));
  return { items, tools, responseSchema: body.output_config?.format?.schema ?? body.output_format?.schema };
}

export const refuse = (response, message) => sendJson(response, { type: 'error', error: { type: 'invalid_request_error', message } }, 400);

export async function reply(response, body, { think, texts, call, delayMs }) {
  const use = call && { type: 'tool_use', id: uniqueId('toolu'), name: call.tool.name, input: call.args };
  const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const stop_reason = call ? 'tool_use' : 'end_turn';
  const content = [{ type: 'text', text: texts.join('') }, ...(use ? [use] : [])];
  const message = {
    id: uniqueId('msg'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content,
    stop_reason,
    stop_sequence: null,
    usage,
  };
  if (!body.stream) return sendJson(response, message);
  const events = eventStream(response);
  const send = (type, more) => events.send({ type, ...more }, type);
  let index = 0;
  const block = async (content_block, deltas) => {
    send('content_block_start', { index, content_block });
    for (const delta of deltas) {
      if (!events.isOpen()) return;
      send('content_block_delta', { index, delta });
      if (delayMs) await pause(delayMs);
    }
    send('content_block_stop', { index: index++ });
  };
  send('message_start', { message: { ...message, content: [], stop_reason: null } });
  if (think && body.thinking && body.thinking.type !== 'disabled')
    await block({ type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking: think },
      { type: 'signature_delta', signature: 'c2NyaXB0' },
    ]);
  await block(
    { type: 'text', text: '' },
    texts.map((text) => ({ type: 'text_delta', text })),
  );
  if (use) await block({ ...use, input: {} }, [{ type: 'input_json_delta', partial_json: JSON.stringify(use.input) }]);
  send('message_delta', { delta: { stop_reason, stop_sequence: null }, usage });
  send('message_stop', {});
  events.end();
}
