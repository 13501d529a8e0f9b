// A scripted stand-in for the model APIs that real agents use, on loopback. It refuses tools that a strict API would refuse.
import http from 'node:http';
import * as anthropic from './anthropic.mjs';
import * as chat from './chat.mjs';
import * as gemini from './gemini.mjs';
import * as responses from './responses.mjs';
import { isOurs, nextReply, resultsIn } from './script.mjs';
import { sendJson } from './stream.mjs';
import { brokenRule } from './tool-rules.mjs';

const APIS = [
  [/\/messages$/, anthropic],
  [/\/chat\/completions$/, chat],
  [/\/responses$/, responses],
  [/:(?:streamG|g)enerateContent$/, gemini],
];
const MODEL = {
  id: 'scripted',
  type: 'model',
  object: 'model',
  display_name: 'Scripted',
  created_at: '2026-01-01T00:00:00Z',
  owned_by: 'none',
};

/** `toolsSeen`: our tools that the model was offered. `refusals`: the rules that tools broke. `results`: the last result of each tool, as the model got it. `calls`: the tools that the model called. */
export async function startModel() {
  const toolsSeen = new Set();
  const refusals = new Set();
  const results = new Map();
  const calls = [];
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url.split('?')[0];
      answer(path, textToJson(Buffer.concat(chunks).toString()), response).catch((error) => {
        if (response.headersSent) response.end();
        else sendJson(response, { error: { message: String(error) } }, 500);
      });
    });
  });
  async function answer(path, body, response) {
    const api = APIS.find(([pattern]) => pattern.test(path))?.[1];
    if (!api) {
      if (path.endsWith('/count_tokens')) return sendJson(response, { input_tokens: 10 });
      if (path.endsWith(':countTokens')) return sendJson(response, { totalTokens: 10 });
      if (path.endsWith('/models')) return sendJson(response, { object: 'list', data: [MODEL], has_more: false });
      return sendJson(response, { error: { type: 'not_found_error', message: 'not scripted' } }, 404);
    }
    const read = api.read(body);
    for (const { name, ns } of read.tools) if (isOurs(name) || isOurs(ns)) toolsSeen.add(name);
    for (const { name, text } of resultsIn(read.items)) results.set(name, text);
    const broken = brokenRule(read.tools);
    if (broken !== undefined) {
      refusals.add(broken);
      return api.refuse(response, broken);
    }
    const reply = nextReply(read);
    if (reply.call) calls.push(reply.call.tool.name);
    await api.reply(response, api === gemini ? { stream: path.includes(':stream') } : body, reply);
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, toolsSeen, refusals, results, calls, close };
}

function textToJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
