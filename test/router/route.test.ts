// The routing table, in both directions.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FROM_AGENT, FROM_CLIENT, type Key, type Receiver, vendorOf } from '../../src/acp/methods.ts';
import { routeFromAgent, routeFromClient } from '../../src/router/route.ts';

type Kind = 'request' | 'notification';
const route = (method: string, kind: Kind, at: { singleAgent: boolean; hasSession?: boolean }) =>
  routeFromClient({ method, kind, hasSession: at.hasSession ?? false }, at.singleAgent);

type Row = readonly [method: string, kind: Kind, key: Key, singleAgent: Receiver, several: Receiver];

/** Each method as the table has it. A change there changes the routing, and must be made here too. */
const CLIENT_ROWS: readonly Row[] = [
  ['initialize', 'request', 'none', 'proxy', 'proxy'],
  ['authenticate', 'request', 'methodId', 'owner', 'named'],
  ['logout', 'request', 'none', 'owner', 'every'],
  ['session/new', 'request', 'agent choice', 'chosen', 'chosen'],
  ['session/load', 'request', 'sessionId', 'owner', 'owner'],
  ['session/resume', 'request', 'sessionId', 'owner', 'owner'],
  ['session/fork', 'request', 'sessionId', 'owner', 'owner'],
  ['session/list', 'request', 'none', 'owner', 'every'],
  ['session/delete', 'request', 'sessionId', 'owner', 'owner'],
  ['session/close', 'request', 'sessionId', 'owner', 'owner'],
  ['session/prompt', 'request', 'sessionId', 'owner', 'owner'],
  ['session/cancel', 'notification', 'sessionId', 'owner', 'owner'],
  ['session/set_mode', 'request', 'sessionId', 'owner', 'owner'],
  ['session/set_model', 'request', 'sessionId', 'owner', 'owner'],
  ['session/set_config_option', 'request', 'sessionId', 'owner', 'owner'],
  ['session/archive', 'request', 'sessionId', 'owner', 'owner'],
  ['session/unarchive', 'request', 'sessionId', 'owner', 'owner'],
  ['session/status', 'request', 'sessionId', 'owner', 'owner'],
  ['session/set_title', 'request', 'sessionId', 'owner', 'owner'],
  ['auth/status', 'request', 'none', 'owner', 'every'],
  ['providers/list', 'request', 'none', 'owner', 'nobody'],
  ['providers/set', 'request', 'none', 'owner', 'nobody'],
  ['providers/disable', 'request', 'none', 'owner', 'nobody'],
  ['proxy/initialize', 'request', 'none', 'owner', 'nobody'],
  ['proxy/successor', 'request', 'none', 'owner', 'nobody'],
  ['mcp/message', 'notification', 'serverId', 'requester', 'requester'],
  ['$/cancel_request', 'notification', 'requestId', 'requester', 'requester'],
];
const AGENT_ROWS: readonly Row[] = [
  ['session/update', 'notification', 'sessionId', 'client', 'client'],
  ['session/request_permission', 'request', 'sessionId', 'client', 'client'],
  ['fs/read_text_file', 'request', 'sessionId', 'client', 'client'],
  ['fs/write_text_file', 'request', 'sessionId', 'client', 'client'],
  ['terminal/create', 'request', 'sessionId', 'client', 'client'],
  ['terminal/output', 'request', 'terminalId', 'client', 'client'],
  ['terminal/wait_for_exit', 'request', 'terminalId', 'client', 'client'],
  ['terminal/kill', 'request', 'terminalId', 'client', 'client'],
  ['terminal/release', 'request', 'terminalId', 'client', 'client'],
  ['elicitation/create', 'request', 'sessionId', 'client', 'client'],
  ['elicitation/complete', 'notification', 'elicitationId', 'client', 'client'],
  ['auth/status_update', 'notification', 'none', 'client', 'client'],
  ['mcp/message', 'request', 'serverId', 'client', 'client'],
  ['proxy/successor', 'request', 'none', 'client', 'client'],
  ['$/cancel_request', 'notification', 'requestId', 'requester', 'requester'],
];

describe('a method of the protocol', () => {
  test('has a row in one of these tables', () => {
    expect(CLIENT_ROWS.map(([method]) => method).sort()).toEqual(Object.keys(FROM_CLIENT).sort());
    expect(AGENT_ROWS.map(([method]) => method).sort()).toEqual(Object.keys(FROM_AGENT).sort());
  });

  test.each(CLIENT_ROWS)(
    '%s (a %s, by %s) goes to %s with one agent, and to %s with several',
    (method, kind, key, singleAgent, several) => {
      for (const hasSession of [true, false])
        for (const [isSingleAgent, receiver] of [[true, singleAgent] as const, [false, several] as const])
          expect(route(method, kind, { singleAgent: isSingleAgent, hasSession })).toEqual(
            receiver === 'nobody' ? { to: 'nobody' } : { to: 'step', method, key, receiver },
          );
    },
  );

  test.each(CLIENT_ROWS)('%s sent as the other kind than %s is not that method', (method, kind) => {
    const other = kind === 'request' ? 'notification' : 'request';
    expect(route(method, other, { singleAgent: true })).toEqual({ to: 'singleAgent' });
    expect(route(method, other, { singleAgent: false, hasSession: true })).toEqual({ to: 'owner' });
    expect(route(method, other, { singleAgent: false })).toEqual({ to: other === 'notification' ? 'everyone' : 'nobody' });
  });

  test.each(AGENT_ROWS)(
    '%s of an agent (a %s, by %s) goes to %s with one agent, and to %s with several',
    (method, kind, key, singleAgent, several) => {
      expect(routeFromAgent({ method, kind })).toEqual({ kind, key, singleAgent, several });
    },
  );

  test.each(AGENT_ROWS)('%s of an agent sent as the other kind than %s passes', (method, kind) => {
    const other = kind === 'request' ? 'notification' : 'request';
    expect(routeFromAgent({ method, kind: other })).toEqual({ key: 'none', singleAgent: 'client', several: 'client' });
  });
});

describe('any other method', () => {
  test.each(['_acme/do', '_acme', 'future/method', 'constructor', '__proto__', ''])('%j goes to the only agent', (method) => {
    for (const kind of ['request', 'notification'] as const)
      for (const hasSession of [true, false]) expect(route(method, kind, { singleAgent: true, hasSession })).toEqual({ to: 'singleAgent' });
  });

  test.each(['_acme/do', 'future/method', 'constructor', '__proto__', ''])('%j of an agent goes to the client', (method) => {
    for (const kind of ['request', 'notification'] as const)
      expect(routeFromAgent({ method, kind })).toEqual({ key: 'none', singleAgent: 'client', several: 'client' });
  });

  test.each(['_acme/do', '_acme', 'future/method', 'toString'])('%j with a session goes to its owner', (method) => {
    for (const kind of ['request', 'notification'] as const)
      expect(route(method, kind, { singleAgent: false, hasSession: true })).toEqual({ to: 'owner' });
  });

  test.each(['_acme/do', 'future/method'])('%j as a notification without a session goes to all agents', (method) => {
    expect(route(method, 'notification', { singleAgent: false })).toEqual({ to: 'everyone' });
  });

  test('a vendor request without a session goes to an agent with that vendor', () => {
    expect(route('_acme/do/it', 'request', { singleAgent: false })).toEqual({ to: 'vendor', vendor: 'acme' });
  });

  test.each(['future/method', '_', '__proto__', 'valueOf'])('%j as a request without a session has no receiver', (method) => {
    expect(route(method, 'request', { singleAgent: false })).toEqual({ to: 'nobody' });
  });
});

test.each([
  ['_acme/do', 'acme'],
  ['_acme.dev/a/b', 'acme.dev'],
  ['_acme', undefined],
  ['_/x', undefined],
  ['acme/_do', undefined],
])('the vendor of %s is %s', (method, vendor) => {
  expect(vendorOf(method)).toBe(vendor);
});

describe("the table follows the protocol: in the SDK's schema", () => {
  type Definition = { readonly 'x-method'?: string; readonly 'x-side'?: 'agent' | 'client' | 'protocol' | 'proxy' };
  const definitionsIn = (file: string) => {
    const schema = path.resolve(import.meta.dirname, '../../node_modules/@agentclientprotocol/sdk/schema/v1', file);
    const { $defs } = JSON.parse(readFileSync(schema, 'utf8')) as { $defs: Record<string, Definition> };
    return Object.entries($defs).flatMap(([name, { 'x-method': method, 'x-side': side }]) =>
      method === undefined || side === undefined || name.endsWith('Response')
        ? []
        : [{ method, side, kind: name.endsWith('Notification') ? ('notification' as const) : ('request' as const) }],
    );
  };
  const fromClient: Readonly<Record<string, { kind: Kind }>> = FROM_CLIENT;
  const fromAgent: Readonly<Record<string, { kind: Kind }>> = FROM_AGENT;

  test.each(['schema.json', 'schema.unstable.json'])('%s, every method is in the table, with its direction and kind', (file) => {
    const definitions = definitionsIn(file);
    expect(definitions.length).toBeGreaterThan(20);
    for (const { method, side, kind } of definitions) {
      if (side === 'agent') expect(fromClient[method]?.kind, `${method} from the editor`).toBe(kind);
      if (side === 'client') expect(fromAgent[method]?.kind, `${method} from an agent`).toBe(kind);
      if (side === 'protocol') for (const table of [fromClient, fromAgent]) expect(table[method]?.kind, `${method} both ways`).toBe(kind);
      // For proxy chains only; other notifications to a successor pass like any notification.
      if (side === 'proxy') expect(fromClient, `${method} from the editor`).toHaveProperty([method]);
    }
  });

  test('methods that are in the table and not in the schema are known to be removed', () => {
    const inSchema = new Set(definitionsIn('schema.unstable.json').map(({ method }) => method));
    const gone = [...Object.keys(FROM_CLIENT), ...Object.keys(FROM_AGENT)].filter((method) => !inSchema.has(method));
    expect(gone).toEqual(['session/set_model']);
  });
});
