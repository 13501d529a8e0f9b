// Secrets of many kinds in many carriers, generated from a seed, so that secret scanners do not report this file.
import { type Random, seeded } from '../sim/random.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const HEX = `${DIGITS}abcdef`;
const of = (random: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[random.int(0, alphabet.length - 1)]).join('');
const alnum = (random: Random, length: number) => of(random, LETTERS + DIGITS, length);
const base64 = (random: Random, bytes: number) => Buffer.from(Array.from({ length: bytes }, () => random.int(0, 255))).toString('base64');
const segment = (random: Random, value: object) => Buffer.from(JSON.stringify({ ...value, n: random.int(0, 1e9) })).toString('base64url');

/** Kinds that are recognised by their form. */
export const KINDS: Readonly<Record<string, (random: Random) => string>> = {
  openai: (r) => `sk-${alnum(r, 48)}`,
  'openai project': (r) => `sk-proj-${alnum(r, 60)}_${alnum(r, 30)}`,
  anthropic: (r) => `sk-ant-api03-${alnum(r, 80)}-${alnum(r, 10)}`,
  'github classic': (r) => `ghp_${alnum(r, 36)}`,
  'github app': (r) => `ghs_${alnum(r, 36)}`,
  'github fine-grained': (r) => `github_pat_${alnum(r, 22)}_${alnum(r, 59)}`,
  gitlab: (r) => `glpat-${alnum(r, 20)}`,
  google: (r) => `AIza${alnum(r, 35)}`,
  'google oauth': (r) => `ya29.${alnum(r, 60)}`,
  'aws key id': (r) => `AKIA${of(r, LETTERS.slice(0, 26) + DIGITS, 16)}`,
  'slack bot': (r) => `xoxb-${of(r, DIGITS, 12)}-${of(r, DIGITS, 12)}-${alnum(r, 24)}`,
  'slack webhook': (r) => `https://hooks.slack.com/services/T${alnum(r, 8)}/B${alnum(r, 8)}/${alnum(r, 24)}`,
  stripe: (r) => `sk_live_${alnum(r, 24)}`,
  sendgrid: (r) => `SG.${alnum(r, 22)}.${alnum(r, 43)}`,
  npm: (r) => `npm_${alnum(r, 36)}`,
  pypi: (r) => `pypi-AgEIcHlwaS5vcmc${alnum(r, 70)}`,
  huggingface: (r) => `hf_${alnum(r, 34)}`,
  groq: (r) => `gsk_${alnum(r, 52)}`,
  jwt: (r) => `${segment(r, { alg: 'HS256' })}.${segment(r, { sub: 'somebody' })}.${alnum(r, 43)}`,
  telegram: (r) => `${of(r, '123456789', 10)}:AA${alnum(r, 33)}`,
  digitalocean: (r) => `dop_v1_${of(r, HEX, 64)}`,
  shopify: (r) => `shpat_${of(r, HEX, 32)}`,
  linear: (r) => `lin_api_${alnum(r, 40)}`,
  vault: (r) => `hvs.${alnum(r, 90)}`,
  databricks: (r) => `dapi${of(r, HEX, 32)}`,
  'private key': (r) =>
    `-----BEGIN RSA ${'PRIVATE'} KEY-----\n${Array.from({ length: 6 }, () => base64(r, 48)).join('\n')}\n-----END RSA ${'PRIVATE'} KEY-----`,
};

/** Kinds that are found only if their value is known. */
export const FORMLESS: Readonly<Record<string, (random: Random) => string>> = {
  password: (r) => `${alnum(r, 6)}!"/${alnum(r, 6)} ü+`,
  'a short one': (r) => alnum(r, 8),
  base64: (r) => base64(r, 40),
};

/** What contains a secret. `pieces` are consecutive texts of one message. */
export type Carried = { readonly text?: string; readonly json?: unknown; readonly pieces?: readonly string[] };

const chunk = (text: string) => ({
  jsonrpc: '2.0',
  method: 'session/update',
  params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
});
const request = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params: { sessionId: 's', ...params } });
const cut = (text: string, random: Random, into: number): string[] => {
  const places = Array.from({ length: into - 1 }, () => random.int(1, text.length - 1)).sort((a, b) => a - b);
  return [0, ...places].map((from, k) => text.slice(from, places[k] ?? text.length));
};

export const CARRIERS: Readonly<Record<string, (secret: string, random: Random) => Carried>> = {
  'a line of stderr': (secret) => ({ text: `[debug] login with ${secret} failed` }),
  'a chunk of a message': (secret) => ({ json: chunk(`I found ${secret} in your file.`) }),
  'the beginning of a line': (secret) => ({ json: chunk(`look:\n${secret}\n`) }),
  'code in a message': (secret) => ({ json: chunk(`\`\`\`js\nconst client = new Client("${secret}");\n\`\`\``) }),
  'a diff': (secret) => ({ json: request('fs/write_text_file', { path: '/x', content: `+const x = '${secret}';\n` }) }),
  'output of a terminal': (secret) => ({ json: { jsonrpc: '2.0', id: 1, result: { output: `\u001b[1mFOO\u001b[0m=${secret}\r\n` } } }),
  'input of a tool': (secret) => ({ json: request('session/request_permission', { toolCall: { rawInput: { deep: [{ x: secret }] } } }) }),
  'a variable of an MCP server': (secret) => ({
    json: request('session/new', { mcpServers: [{ name: 'm', command: 'c', args: [], env: [{ name: 'X', value: secret }] }] }),
  }),
  'a header of an MCP server': (secret) => ({
    json: request('session/new', {
      mcpServers: [{ type: 'http', url: 'http://x', headers: [{ name: 'X-Y', value: `Bearer ${secret}` }] }],
    }),
  }),
  'a word behind an option': (secret) => ({ json: request('terminal/create', { command: 'x', args: ['--api-key', secret] }) }),
  'an option with its word': (secret) => ({ json: request('terminal/create', { command: 'x', args: [`--token=${secret}`] }) }),
  'a query of an address': (secret) => ({ text: `GET https://host/path?page=1&access_token=${encodeURIComponent(secret)}&x=y` }),
  'JSON inside JSON': (secret) => ({ json: chunk(JSON.stringify({ outer: JSON.stringify({ inner: secret }) })) }),
  'a key of an object': (secret) => ({ json: request('_vendor/x', { map: { [secret]: true } }) }),
  'an answer to a question': (secret) => ({ json: { jsonrpc: '2.0', id: 1, result: { action: 'accept', content: { what: secret } } } }),
  'a login': (secret) => ({ json: { jsonrpc: '2.0', id: 1, method: 'authenticate', params: { methodId: 'k', _meta: { x: secret } } } }),
  'an error': (secret) => ({ json: { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no', data: { why: `401 for ${secret}` } } } }),
  'two chunks': (secret, random) => ({ pieces: cut(`so it is ${secret}, they say`, random, 2) }),
  'many chunks': (secret, random) => ({ pieces: cut(`so it is ${secret}, they say`, random, 12) }),
};

/** Carriers in which only a known value can be found. */
export const DISGUISES: Readonly<Record<string, (secret: string, random: Random) => Carried>> = {
  'base64, at any offset': (secret, random) => ({
    text: `data ${Buffer.from(`${'u'.repeat(random.int(0, 5))}${secret}${'v'.repeat(random.int(0, 5))}`).toString('base64')}`,
  }),
  'base64 of an address': (secret) => ({ json: chunk(Buffer.from(`x:${secret}`).toString('base64url')) }),
  hex: (secret) => ({ text: `0x${Buffer.from(secret).toString('hex')}` }),
  'a JSON string with escaped slashes': (secret) => ({ text: JSON.stringify({ x: secret }).replaceAll('/', '\\/') }),
};

export const SEEDS = [1, 2, 3, 4, 5] as const;

export type Case = { readonly kind: string; readonly carrier: string; readonly secret: string; readonly carried: Carried };

export function cases(kinds: typeof KINDS, carriers: typeof CARRIERS): readonly Case[] {
  return SEEDS.flatMap((seed) =>
    Object.entries(kinds).flatMap(([kind, make], k) =>
      Object.entries(carriers).map(([carrier, carry], c) => {
        const random = seeded(seed * 10_000 + k * 100 + c);
        const secret = make(random);
        return { kind, carrier, secret, carried: carry(secret, random) };
      }),
    ),
  );
}
