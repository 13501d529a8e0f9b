// Everything a client and an agent can send to each other, in every spelling JSON allows, and the two ends that send it in step.

import { tokenOf } from './normalise.ts';
import type { Peer } from './peer.ts';

type Side = 'editor' | 'agent';

/** `%ID%` in a frame makes it a request; `%name%` is the id of the request left open under that name, as the sender knows it. */
export type Step = {
  readonly from: Side;
  readonly frame: string;
  /** The immediate answer of the other side. */
  readonly answer?: string;
  /** The request stays open under this name. */
  readonly opens?: string;
  /** The frame answers the request left open under this name. */
  readonly closes?: string;
};

/** Text that re-serialising would change, or a careless scanner misread. */
const META =
  '"_meta":{"traceparent":"00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01","big":9007199254740993,"one":1.0,"exp":1E+2,"huge":1e400,' +
  '"tiny":-1e-400,"zero":-0,"lone":"\\ud800 \\uDFFF","esc":"\\u00e9\\/\\u0000","raw":"é\u2028😀","10":"b","2":"a",' +
  '"fake":"\\"id\\":1,\\"sessionId\\":\\"x\\"","nested":{"id":-5,"method":"x","sessionId":"inner","result":null,"params":{"sessionId":"deep"}},"":[]}';

const ENVELOPES: readonly ((method: string, params: string) => string)[] = [
  (method, params) => `{"jsonrpc":"2.0","id":%ID%,"method":"${method}","params":${params}}`,
  (method, params) => `{"params":${params},"method":"${method}","id":%ID%,"jsonrpc":"2.0"}`,
  (method, params) => `{ "jsonrpc" : "2.0"\r,\t"method" :\r"${method}" , "params" : ${params} , "id"\t: %ID% }\r`,
  (method, params) =>
    `{"extra":{"id":-1,"method":"y"},"jsonrpc":"2.0","\\u0069d":%ID%,"m\\u0065thod":"${method.replaceAll('/', '\\/')}","par\\u0061ms":${params},"more":[1.0]}`,
];
const ANSWERS: readonly ((outcome: string) => string)[] = [
  (outcome) => `{"jsonrpc":"2.0","id":%ID%,${outcome}}`,
  (outcome) => `{${outcome},"id":%ID%,"jsonrpc":"2.0","extra":1e400}`,
  (outcome) => `{ "jsonrpc" :"2.0"\r, ${outcome}\t,"id" : %ID%\r}`,
  (outcome) => `{"jsonrpc":"2.0","i\\u0064":%ID%,"more":{"result":1},${outcome}}`,
];

const UPDATES: readonly string[] = [
  '"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"u"}',
  '"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AAAA","mimeType":"image/png"},"messageId":"m"',
  '"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"t"}',
  '"sessionUpdate":"user_message","messageId":"m","content":[]',
  '"sessionUpdate":"agent_message","messageId":"m","content":null',
  '"sessionUpdate":"agent_thought","messageId":"m"',
  '"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":"weird","rawInput":{"sessionId":"inner","id":1.0}',
  '"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":[{"type":"diff","path":"/a","newText":"b"}]',
  '"sessionUpdate":"tool_call_content_chunk","toolCallId":"t","content":{}',
  '"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]',
  '"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[]}',
  '"sessionUpdate":"plan_removed","planId":"p"',
  '"sessionUpdate":"available_commands_update","availableCommands":[{"name":"agent","description":"its own"}]',
  '"sessionUpdate":"current_mode_update","currentModeId":"code"',
  '"sessionUpdate":"current_mode_update","modeId":"code","currentModeId":"code"',
  '"sessionUpdate":"config_option_update","configOptions":[{"id":"model","x":1.0}]',
  '"sessionUpdate":"session_info_update","title":null',
  '"sessionUpdate":"usage_update","used":9007199254740993,"size":1e400',
  '"sessionUpdate":"notice","severity":"odd","title":"N"',
  '"sessionUpdate":"compaction_update","compactionId":"c","status":"in_progress"',
  '"sessionUpdate":"compaction_summary_chunk","compactionId":"c","content":{}',
  '"sessionUpdate":"state_update","state":"running","background":[{"type":"subagent","sessionId":"child"}]',
  '"sessionUpdate":"terminal_update","terminalId":"t"',
  '"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"AA=="',
  '"sessionUpdate":"subagent_update","sessionId":"child","title":"C"',
  '"sessionUpdate":"session_message","messageId":"m","senderSessionId":"child","recipientSessionId":"sess-1"',
  '"sessionUpdate":"session_message_chunk","messageId":"m","content":{}',
  '"sessionUpdate":"_vendor_kind","one":1.0',
  '"sessionUpdate":"kind_of_the_future","deep":{"sessionUpdate":"config_option_update","configOptions":[]}',
  '"noKind":true,"sessionUpdate":null',
];

/** How everything in one conversation is spelled; there are `SPELLINGS`. */
export const SPELLINGS = ENVELOPES.length;

const S = '"sessionId":"sess-1"';
const ESCAPED_S = '"session\\u0049d":"sess-\\u0031"';
const ERROR = '"error":{"code":-32002,"message":"Resource not found","data":{"sessionId":"sess-1","big":9007199254740993,"one":1.0}}';

export function conversation(spelling: number): readonly Step[] {
  const envelope = ENVELOPES[spelling] as (typeof ENVELOPES)[number];
  const answered = ANSWERS[spelling] as (typeof ANSWERS)[number];
  /** The members in braces, with `_meta` before or behind them. */
  const withMeta = (members: string) =>
    members === '' ? `{${META}}` : spelling % 2 === 0 ? `{${members},${META}}` : `{${META},${members}}`;
  /** `members` are those of params; `result` those of the result, or a whole outcome. */
  const request = (from: Side, method: string, members: string, result: string): Step => {
    const outcome = /^"(?:error|result)":/.test(result) ? result : `"result":${withMeta(result)}`;
    return { from, frame: envelope(method, withMeta(members)), answer: answered(outcome) };
  };
  const notify = (from: Side, method: string, members: string): Step => ({
    from,
    frame: envelope(method, withMeta(members)).replace(/,?\s*"(?:id|\\u0069d)"\s*:\s*%ID%\s*/, ''),
  });

  const fromClient: readonly Step[] = [
    request('editor', 'authenticate', '"methodId":"login"', ''),
    request('editor', 'auth/login', '"methodId":"login"', ''),
    request('editor', 'auth/status', '', '"state":"authenticated","accounts":[{"label":"me","active":true}]'),
    request('editor', 'providers/list', '', '"providers":[{"providerId":"p","supported":["x"],"required":false}]'),
    request('editor', 'providers/set', '"providerId":"p","apiType":"x","baseUrl":"https://example.org","headers":{"a":"b"}', ''),
    request('editor', 'providers/disable', '"providerId":"p"', ''),
    request('editor', 'proxy/initialize', '"protocolVersion":1', '"protocolVersion":1'),
    request('editor', 'proxy/successor', '"method":"session/prompt","params":{"sessionId":"inner"}', ''),
    notify('editor', 'proxy/successor', '"method":"session/cancel","params":{"sessionId":"inner"}'),
    request(
      'editor',
      'session/new',
      '"cwd":"/work","mcpServers":[{"name":"m","command":"/bin/true","args":[],"env":[],"future":1.0}],"additionalDirectories":["/x"],"future":[1.0]',
      `${S},"modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]},"models":{"currentModelId":"m","availableModels":[]},"configOptions":[]`,
    ),
    request('editor', 'session/load', `${S},"cwd":"/work","mcpServers":[]`, '"result":null'),
    request('editor', 'session/load', `${ESCAPED_S},"cwd":"/work","mcpServers":[]`, '"modes":null,"configOptions":null'),
    request('editor', 'session/resume', `${S},"cwd":"/work"`, '"configOptions":[]'),
    request('editor', 'session/fork', `${S},"cwd":"/work"`, '"sessionId":"sess-2"'),
    request(
      'editor',
      'session/list',
      '"cwd":"/work","cursor":"c1"',
      `"sessions":[{${S},"cwd":"/work","title":"\\u00e9","updatedAt":null}],"nextCursor":"c2"`,
    ),
    request('editor', 'session/set_mode', `${S},"modeId":"code"`, ''),
    request('editor', 'session/set_model', `${S},"modelId":"m"`, ''),
    request('editor', 'session/set_config_option', `${S},"configId":"model","value":"m2"`, '"configOptions":[]'),
    request(
      'editor',
      'session/set_config_option',
      `"type":"boolean","value":true,"configId":"fast",${ESCAPED_S}`,
      '"configOptions":[{"id":"fast"}]',
    ),
    request('editor', 'session/archive', S, ''),
    request('editor', 'session/unarchive', S, ''),
    request('editor', 'session/status', S, '"status":"open"'),
    request('editor', 'session/status', '"sessionId":"never-heard-of"', ERROR),
    request('editor', 'session/set_title', `${S},"title":"T"`, '"title":"T"'),
    request('editor', 'tool_call/cancel', `${S},"toolCallId":"t"`, ''),
    request('editor', 'terminal/cancel', `${S},"terminalId":"t"`, ''),
    request('editor', 'session/nonsense', S, '"error":{"code":-32601,"message":"Method not found"}'),
    request('editor', 'nonsense', '', '"error":{"code":-32601,"message":"Method not found","data":null}'),
    request('editor', '_vendor/of_session', S, '"one":1.0'),
    request('editor', '_vendor/of_nobody', '"a":[1.0]', '"result":[1.0,1e400]'),
    request(
      'editor',
      'session/prompt',
      `"prompt":[{"type":"text","text":"/agent other"}],${S}`,
      '"stopReason":"end_turn","usage":{"totalTokens":9007199254740993}',
    ),
    notify('editor', '_vendor/of_session', S),
    notify('editor', '_vendor/of_nobody', '"n":1.0'),
    notify('editor', 'session/nonsense', S),
    notify('editor', 'nonsense', ''),
  ];

  const fromAgent: readonly Step[] = [
    ...UPDATES.map((update, index) => notify('agent', 'session/update', `"update":{${update},${META}},${index % 3 === 2 ? ESCAPED_S : S}`)),
    notify('agent', 'session/update', '"sessionId":"child-of-its-own","update":{"sessionUpdate":"agent_message_chunk"}'),
    request('agent', 'fs/read_text_file', `${S},"path":"/a","line":1.0,"limit":9007199254740993`, '"content":"\\u00e9\\ud800"'),
    request('agent', 'fs/write_text_file', `"content":"\\/","path":"/a",${ESCAPED_S}`, '"result":null'),
    request('agent', 'terminal/create', `${S},"command":"ls","args":[],"env":[{"name":"A","value":"B"}]`, '"terminalId":"term-1"'),
    request('agent', 'terminal/output', `${S},"terminalId":"term-1"`, '"output":"","truncated":false'),
    request('agent', 'terminal/wait_for_exit', `${S},"terminalId":"term-1"`, '"exitCode":0'),
    request('agent', 'terminal/kill', `${S},"terminalId":"term-1"`, ''),
    request('agent', 'terminal/release', `${S},"terminalId":"term-1"`, ''),
    request('agent', 'terminal/output', `${S},"terminalId":"never-made"`, ERROR),
    request(
      'agent',
      'session/request_permission',
      `${S},"toolCall":{"toolCallId":"t","rawInput":{"n":1.0}},"options":[{"optionId":"y","name":"Y","kind":"odd"}]`,
      '"outcome":{"outcome":"selected","optionId":"y","extra":1.0}',
    ),
    request(
      'agent',
      'elicitation/create',
      `${S},"message":"m","mode":"form","requestedSchema":{}`,
      '"action":"accept","content":{"n":1.0}',
    ),
    request(
      'agent',
      'elicitation/create',
      '"requestId":%turn%,"message":"m","mode":"url","elicitationId":"e1","url":"https://example.org"',
      '"action":"decline"',
    ),
    notify('agent', 'elicitation/complete', '"elicitationId":"e1"'),
    request(
      'agent',
      'mcp/message',
      '"serverId":"srv","requestId":"r1","method":"tools/list","params":{}',
      '"result":{"result":{"tools":[1.0]}}',
    ),
    request('agent', 'proxy/successor', '"method":"x","params":[1.0]', ''),
    notify('agent', 'proxy/successor', '"method":"x"'),
    notify('agent', 'auth/status_update', '"state":"unauthenticated"'),
    request('agent', '_vendor/of_session', S, '"one":1.0'),
    request('agent', '_vendor/of_nobody', '"a":1.0', ERROR),
    notify('agent', '_vendor/of_session', S),
    notify('agent', '_vendor/of_nobody', '"n":1.0'),
    request('agent', 'session/of_the_future', S, '"error":{"code":-32601,"message":"Method not found"}'),
    request('agent', 'of_the_future', '', '"error":{"code":-32601,"message":"Method not found"}'),
  ];

  return [
    {
      from: 'editor',
      frame: `{"jsonrpc":"2.0","id":%ID%,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"future":{"x":1.0}},"clientInfo":{"name":"probe","version":"0"},${META}}}`,
      answer: `{"jsonrpc":"2.0","id":%ID%,"result":{"agentCapabilities":{"loadSession":true,"future":1.0,${META}},"protocolVersion":1,"authMethods":[{"id":"login","name":"L"}],${META}}}`,
    },
    ...fromClient,
    { from: 'editor', frame: envelope('session/prompt', `{"prompt":[{"type":"text","text":"go"}],${S},${META}}`), opens: 'turn' },
    ...fromAgent,
    {
      from: 'agent',
      frame: `{"jsonrpc":"2.0","id":%ID%,"method":"session/request_permission","params":{${S},"toolCall":{},"options":[]}}`,
      opens: 'question',
    },
    { from: 'agent', frame: `{"jsonrpc":"2.0","method":"$/cancel_request","params":{${META},"requestId":%question%}}` },
    { from: 'editor', frame: `{"jsonrpc":"2.0","id":%ID%,"error":{"code":-32800,"message":"cancelled","data":1.0}}`, closes: 'question' },
    {
      from: 'agent',
      frame: `{"jsonrpc":"2.0","id":%ID%,"method":"mcp/message","params":{"serverId":"srv","requestId":"r2","method":"tools/call"}}`,
      opens: 'tool',
    },
    notify('editor', 'mcp/message', '"serverId":"srv","requestId":"r2","method":"notifications/progress","params":{"progress":1.0}'),
    { from: 'editor', frame: `{"id":%ID%,"jsonrpc":"2.0","result":{"error":{"code":-1,"message":"m"}}}`, closes: 'tool' },
    notify('editor', 'session/cancel', S),
    { from: 'editor', frame: `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%turn%,${META}}}` },
    { from: 'agent', frame: `{"result":{"stopReason":"cancelled",${META}},"id":%ID%,"jsonrpc":"2.0"}`, closes: 'turn' },
    request('editor', 'session/close', S, ''),
    request('editor', 'session/delete', `${ESCAPED_S}`, ERROR),
    request('editor', 'logout', '', ''),
    request('editor', 'auth/logout', '', ''),
  ];
}

/** Every form of id. Each side uses all of them, and both use the same ones at the same time. */
const IDS = [
  '0',
  '"0"',
  '1.0',
  '-7',
  '9007199254740993',
  'null',
  '{"a":[1,{"b":null}]}',
  '[]',
  '""',
  '"\\u0061\\"\\ud800é"',
  'true',
  '1e2',
  '123456789012345678901234567890',
];

/** Plays the whole conversation, frame by frame. Both ends record what they see. */
export async function converse(editor: Peer, agent: Peer, steps: readonly Step[]): Promise<void> {
  const ends = { editor, agent };
  const open = new Map<string, Record<Side, string>>();
  const received = { editor: 0, agent: 0 };
  const heard = { editor: editor.seen.length, agent: agent.seen.length };
  const next = (side: Side) => {
    const index = heard[side]++;
    return ends[side].until((_, seen) => seen.index === index);
  };
  for (const { from, frame, answer, opens, closes } of steps) {
    const to = from === 'editor' ? 'agent' : 'editor';
    const named = frame.replace(/%([a-z]+)%/g, (_, name) => open.get(name)?.[from] ?? `"no ${name}"`);
    const id = closes === undefined ? (IDS[received[from]++ % IDS.length] as string) : (open.get(closes)?.[from] as string);
    ends[from].line(named.replace('%ID%', id));
    const arrived = (await next(to)).line;
    const seenId = tokenOf(arrived, 'id') ?? '"none"';
    if (opens !== undefined) open.set(opens, { [from]: id, [to]: seenId } as Record<Side, string>);
    if (answer !== undefined) {
      ends[to].line(answer.replace('%ID%', seenId));
      await next(from);
    }
  }
}
