// An MCP server with the tools, resources and prompts that the conformance suite names, for both eras. On stdio; with --http or --sse on 127.0.0.1,
// and then it prints its URL.
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  isInitializeRequest,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const EMPTY = { type: 'object', properties: {} };
const textResult = (text) => ({ content: [{ type: 'text', text }] });
const field = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const form = (message, properties, required) => inputRequired.elicit({ message, requestedSchema: field(properties, required) });
const sampling = (text, maxTokens) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
const codec = createRequestStateCodec({ key: randomBytes(32) });
const needs = async (_, inputRequests, state) => inputRequired({ inputRequests, ...(state && { requestState: await codec.mint(state) }) });
const NAME = { name: { type: 'string' } };
const capabilitiesOf = (mcpReq) => mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
const elicited = ({ action, content }) => textResult(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);

const TOOLS = {
  test_simple_text: () => textResult('This is a simple text response for testing.'),
  test_image_content: () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }),
  test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  test_embedded_resource: () => ({
    content: [
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
      },
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data","value":123}' },
      },
    ],
  }),
  async test_tool_with_logging(_, { mcpReq }) {
    for (const text of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', text);
      await pause();
    }
    return textResult('logged');
  },
  async test_logging_tool(_, { mcpReq }) {
    await mcpReq.log('info', 'a message');
    return textResult('logged');
  },
  test_error_handling: () => ({ ...textResult('This tool intentionally returns an error for testing'), isError: true }),
  async test_tool_with_progress(_, { mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await pause();
    }
    return textResult('progressed');
  },
  async test_sampling({ prompt }, { mcpReq }) {
    const answer = mcpReq.inputResponses?.sample;
    return answer ? textResult(`LLM response: ${answer.content?.text}`) : needs(mcpReq, { sample: sampling(prompt, 100) });
  },
  async test_elicitation({ message }, { mcpReq }) {
    const properties = {
      username: { type: 'string', description: "User's response" },
      email: { type: 'string', description: "User's email address" },
    };
    const answer = mcpReq.inputResponses?.ask;
    if (!answer) return needs(mcpReq, { ask: form(message, properties) });
    return textResult(`User response: action: ${answer.action}, content: ${JSON.stringify(answer.content)}`);
  },
  async test_elicitation_sep1034_defaults(_, { mcpReq }) {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    };
    const answer = mcpReq.inputResponses?.ask;
    return answer ? elicited(answer) : needs(mcpReq, { ask: form('Defaults', properties, []) });
  },
  async test_elicitation_sep1330_enums(_, { mcpReq }) {
    const options = ['option1', 'option2', 'option3'];
    const titled = ['First', 'Second', 'Third'].map((title, n) => ({ const: `value${n + 1}`, title: `${title} Option` }));
    const properties = {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    };
    const answer = mcpReq.inputResponses?.ask;
    return answer ? elicited(answer) : needs(mcpReq, { ask: form('Enums', properties, []) });
  },
  json_schema_2020_12_tool: () => textResult('valid'),
  test_missing_capability(_, { mcpReq }) {
    if (capabilitiesOf(mcpReq).sampling === undefined)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    return textResult('capable');
  },
  async test_streaming_elicitation(_, { mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken ?? 'none';
    await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    return mcpReq.inputResponses?.name ? textResult('done') : needs(mcpReq, { name: form('What is your name?', NAME) });
  },
  async test_input_required_result_elicitation(_, { mcpReq }) {
    const { content } = mcpReq.inputResponses?.user_name ?? {};
    return content ? textResult(`Hello, ${content.name}!`) : needs(mcpReq, { user_name: form('What is your name?', NAME) });
  },
  async test_input_required_result_sampling(_, { mcpReq }) {
    const answer = mcpReq.inputResponses?.capital_question;
    return answer
      ? textResult(String(answer.content?.text ?? ''))
      : needs(mcpReq, { capital_question: sampling('What is the capital of France?', 100) });
  },
  async test_input_required_result_list_roots(_, { mcpReq }) {
    const roots = mcpReq.inputResponses?.client_roots?.roots;
    return roots ? textResult(roots.map(({ uri }) => uri).join(', ')) : needs(mcpReq, { client_roots: inputRequired.listRoots() });
  },
  async test_input_required_result_request_state(_, { mcpReq }) {
    if (mcpReq.requestState() && mcpReq.inputResponses?.confirm) return textResult('state-ok');
    return needs(mcpReq, { confirm: form('Please confirm', { ok: { type: 'boolean' } }) }, { step: 1 });
  },
  async test_input_required_result_tampered_state(_, { mcpReq }) {
    if (mcpReq.requestState() && mcpReq.inputResponses?.confirm) return textResult('state-ok');
    return needs(mcpReq, { confirm: form('Please confirm', { ok: { type: 'boolean' } }) }, { step: 1 });
  },
  async test_input_required_result_multiple_inputs(_, { mcpReq }) {
    const { user_name, greeting, client_roots } = mcpReq.inputResponses ?? {};
    if (user_name && greeting && client_roots) return textResult('all there');
    const wanted = {
      user_name: form('What is your name?', NAME),
      greeting: sampling('Generate a greeting', 50),
      client_roots: inputRequired.listRoots(),
    };
    return needs(mcpReq, wanted, { step: 1 });
  },
  async test_input_required_result_multi_round(_, { mcpReq }) {
    const state = mcpReq.requestState();
    if (state?.step === 2 && mcpReq.inputResponses?.step2)
      return textResult(`${state.name} likes ${mcpReq.inputResponses.step2.content?.color}`);
    if (state?.step === 1 && mcpReq.inputResponses?.step1)
      return needs(
        mcpReq,
        { step2: form('Step 2: What is your favorite color?', { color: { type: 'string' } }) },
        { step: 2, name: mcpReq.inputResponses.step1.content?.name },
      );
    return needs(mcpReq, { step1: form('Step 1: What is your name?', NAME) }, { step: 1 });
  },
  async test_input_required_result_capabilities(_, { mcpReq }) {
    const { elicitation, sampling: samples } = capabilitiesOf(mcpReq);
    const wanted = { ...(elicitation && { ask: form('What is your name?', NAME) }), ...(samples && { sample: sampling('Hello', 10) }) };
    return Object.keys(mcpReq.inputResponses ?? wanted).length === 0 || mcpReq.inputResponses ? textResult('done') : needs(mcpReq, wanted);
  },
};
const SCHEMAS = {
  test_sampling: field({ prompt: { type: 'string' } }),
  test_elicitation: field({ message: { type: 'string' } }),
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'address', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    allOf: [{ anyOf: [{ required: ['name'] }, { required: ['address'] }, {}] }],
    if: { required: ['address'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { name: { minLength: 0 } } },
    else: {},
    additionalProperties: false,
  },
};
const user = (content) => ({ role: 'user', content });
const PROMPTS = {
  test_simple_prompt: { get: () => [user({ type: 'text', text: 'This is a simple prompt for testing.' })] },
  test_prompt_with_arguments: {
    args: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => [user({ type: 'text', text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` })],
  },
  test_prompt_with_embedded_resource: {
    args: ['resourceUri'],
    get: ({ resourceUri }) => [
      user({ type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } }),
      user({ type: 'text', text: 'Please process the embedded resource above.' }),
    ],
  },
  test_prompt_with_image: {
    get: () => [
      user({ type: 'image', data: PIXEL, mimeType: 'image/png' }),
      user({ type: 'text', text: 'Please analyze the image above.' }),
    ],
  },
  test_input_required_result_prompt: { get: (_, context) => [user({ type: 'text', text: `Use ${context}` })] },
};
const RESOURCES = {
  'test://static-text': { mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
  'test://static-binary': { mimeType: 'image/png', blob: PIXEL },
  'test://watched-resource': { mimeType: 'text/plain', text: 'watched' },
};

function fixture() {
  const server = new Server(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      requestState: { verify: codec.verify },
      cacheHints: { 'tools/list': { ttlMs: 1000, cacheScope: 'public' } },
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(TOOLS).map((name) => ({ name, description: name, inputSchema: SCHEMAS[name] ?? EMPTY })),
  }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, context) => {
    if (!Object.hasOwn(TOOLS, name)) throw new ProtocolError(-32602, `Unknown tool: ${name}`);
    return TOOLS[name](args, context);
  });
  server.setRequestHandler('resources/list', () => ({
    resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({ uri, name: uri.slice(7), mimeType })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    const found = id === undefined ? RESOURCES[uri] : { mimeType: 'application/json', text };
    if (!found) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, ...found }] };
  });
  server.setRequestHandler('resources/subscribe', () => ({}));
  server.setRequestHandler('resources/unsubscribe', () => ({}));
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(PROMPTS).map(([name, { args = [] }]) => ({
      name,
      description: `The prompt ${name}`,
      arguments: args.map((one) => ({ name: one, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', async ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    if (!Object.hasOwn(PROMPTS, name)) throw new ProtocolError(-32602, `Unknown prompt: ${name}`);
    const { content } = mcpReq.inputResponses?.user_context ?? {};
    if (name === 'test_input_required_result_prompt' && !content)
      return needs(mcpReq, { user_context: form('What context should the prompt use?', { context: { type: 'string' } }) });
    return { messages: PROMPTS[name].get(args, content?.context) };
  });
  server.setRequestHandler('completion/complete', () => ({ completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false } }));
  return server;
}

const bodyOf = async (request) => (await request.setEncoding('utf8').toArray()).join('');

function listen(handle, path) {
  const http = createServer((request, response) => void handle(request, response));
  http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}${path}\n`));
}

function serveHttp() {
  const modern = createMcpHandler(fixture, { legacy: 'reject' });
  const sessions = new Map();
  async function answer(request, parsedBody) {
    const id = request.headers.get('mcp-session-id');
    const known = sessions.get(id);
    if (known) return known.handleRequest(request, { parsedBody });
    if (id !== null)
      return new Response('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}', { status: 404 });
    if (!isInitializeRequest(parsedBody)) return modern.fetch(request, { parsedBody });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (minted) => void sessions.set(minted, transport),
    });
    await fixture().connect(transport);
    return transport.handleRequest(request, { parsedBody });
  }
  listen(async (request, response) => {
    const { host, origin } = request.headers;
    const isLocal = (value) => /^(https?:\/\/)?(127\.0\.0\.1|localhost)(:\d+)?$/.test(value);
    if (!isLocal(host ?? '') || (origin !== undefined && !isLocal(origin))) return response.writeHead(403).end();
    const text = await bodyOf(request);
    const abort = new AbortController();
    response.on('close', () => abort.abort());
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    let body;
    try {
      body = text === '' ? undefined : JSON.parse(text);
    } catch {
      return response.writeHead(400).end('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}');
    }
    const answered = await answer(new Request(`http://${host}/mcp`, { method: request.method, headers, signal: abort.signal }), body);
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (answered.body) for await (const chunk of answered.body) response.write(chunk);
    response.end();
  }, '/mcp');
}

function serveSse() {
  const transports = new Map();
  listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
    if (request.method === 'POST') return transports.get(searchParams.get('sessionId'))?.handlePostMessage(request, response);
    if (pathname !== '/sse') return response.writeHead(404).end();
    const transport = new SSEServerTransport('/messages', response);
    transports.set(transport.sessionId, transport);
    await fixture().connect(transport);
  }, '/sse');
}

if (process.argv.includes('--http')) serveHttp();
else if (process.argv.includes('--sse')) serveSse();
else serveStdio(fixture);
