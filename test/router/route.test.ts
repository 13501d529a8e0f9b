import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FROM_AGENT, FROM_EDITOR, vendorOf } from '../../src/acp/methods.ts';
import { routeFromEditor } from '../../src/router/route.ts';

type Kind = 'request' | 'notification';
const route = (method: string, kind: Kind, at: { alone: boolean; hasSession?: boolean }) =>
  routeFromEditor({ method, kind, hasSession: at.hasSession ?? false }, at.alone);

/** Each method with whether the proxy has a step for it, alone and with several agents; else nobody can be meant by it. */
const TABLE: readonly (readonly [method: string, kind: Kind, alone: 'step' | 'nobody', several: 'step' | 'nobody'])[] = [
  ['initialize', 'request', 'step', 'step'],
  ['authenticate', 'request', 'step', 'step'],
  ['logout', 'request', 'step', 'step'],
  ['session/new', 'request', 'step', 'step'],
  ['session/load', 'request', 'step', 'step'],
  ['session/resume', 'request', 'step', 'step'],
  ['session/fork', 'request', 'step', 'step'],
  ['session/list', 'request', 'step', 'step'],
  ['session/delete', 'request', 'step', 'step'],
  ['session/close', 'request', 'step', 'step'],
  ['session/prompt', 'request', 'step', 'step'],
  ['session/cancel', 'notification', 'step', 'step'],
  ['session/set_mode', 'request', 'step', 'step'],
  ['session/set_model', 'request', 'step', 'step'],
  ['session/set_config_option', 'request', 'step', 'step'],
  ['session/archive', 'request', 'step', 'step'],
  ['session/unarchive', 'request', 'step', 'step'],
  ['session/status', 'request', 'step', 'step'],
  ['session/set_title', 'request', 'step', 'step'],
  ['auth/status', 'request', 'step', 'step'],
  ['providers/list', 'request', 'step', 'nobody'],
  ['providers/set', 'request', 'step', 'nobody'],
  ['providers/disable', 'request', 'step', 'nobody'],
  ['proxy/initialize', 'request', 'step', 'nobody'],
  ['proxy/successor', 'request', 'step', 'nobody'],
  ['mcp/message', 'notification', 'step', 'step'],
  ['$/cancel_request', 'notification', 'step', 'step'],
];

describe('a method of the protocol', () => {
  test('has a row in this table', () => {
    expect(TABLE.map(([method]) => method).sort()).toEqual(Object.keys(FROM_EDITOR).sort());
  });

  test.each(TABLE)('%s (a %s): alone %s, several %s', (method, kind, alone, several) => {
    for (const hasSession of [true, false]) {
      expect(route(method, kind, { alone: true, hasSession })).toEqual(alone === 'step' ? { to: 'step', method } : { to: 'nobody' });
      expect(route(method, kind, { alone: false, hasSession })).toEqual(several === 'step' ? { to: 'step', method } : { to: 'nobody' });
    }
  });

  test.each(TABLE)('%s in the clothes of the other kind than %s is not that method', (method, kind) => {
    const other = kind === 'request' ? 'notification' : 'request';
    expect(route(method, other, { alone: true })).toEqual({ to: 'alone' });
    expect(route(method, other, { alone: false, hasSession: true })).toEqual({ to: 'owner' });
    expect(route(method, other, { alone: false })).toEqual({ to: other === 'notification' ? 'everyone' : 'nobody' });
  });
});

describe('any other method', () => {
  test.each(['_acme/do', '_acme', 'future/method', 'constructor', '__proto__', ''])('%j goes to the one agent there is', (method) => {
    for (const kind of ['request', 'notification'] as const)
      for (const hasSession of [true, false]) expect(route(method, kind, { alone: true, hasSession })).toEqual({ to: 'alone' });
  });

  test.each(['_acme/do', '_acme', 'future/method', 'toString'])('%j with a session goes to its owner', (method) => {
    for (const kind of ['request', 'notification'] as const)
      expect(route(method, kind, { alone: false, hasSession: true })).toEqual({ to: 'owner' });
  });

  test.each(['_acme/do', 'future/method'])('%j as a notification without a session goes to everyone', (method) => {
    expect(route(method, 'notification', { alone: false })).toEqual({ to: 'everyone' });
  });

  test('a vendor’s request without a session goes where the vendor is known', () => {
    expect(route('_acme/do/it', 'request', { alone: false })).toEqual({ to: 'vendor', vendor: 'acme' });
  });

  test.each(['future/method', '_', '__proto__', 'valueOf'])('%j as a request without a session is nobody’s', (method) => {
    expect(route(method, 'request', { alone: false })).toEqual({ to: 'nobody' });
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

describe('the table keeps up with the protocol: in the schema of the SDK', () => {
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
  const fromEditor: Readonly<Record<string, { kind: Kind }>> = FROM_EDITOR;
  const fromAgent: Readonly<Record<string, { kind: Kind }>> = FROM_AGENT;

  test.each(['schema.json', 'schema.unstable.json'])('%s, every method is in it, on the right side and of the right kind', (file) => {
    const definitions = definitionsIn(file);
    expect(definitions.length).toBeGreaterThan(20);
    for (const { method, side, kind } of definitions) {
      if (side === 'agent') expect(fromEditor[method]?.kind, `${method} from the editor`).toBe(kind);
      if (side === 'client') expect(fromAgent[method]?.kind, `${method} from an agent`).toBe(kind);
      if (side === 'protocol') for (const table of [fromEditor, fromAgent]) expect(table[method]?.kind, `${method} both ways`).toBe(kind);
      // Between the links of a chain; a successor may also be told something, which passes like any notification.
      if (side === 'proxy') expect(fromEditor, `${method} from the editor`).toHaveProperty([method]);
    }
  });

  test('and what is in it without being there is known to have gone', () => {
    const inSchema = new Set(definitionsIn('schema.unstable.json').map(({ method }) => method));
    const gone = [...Object.keys(FROM_EDITOR), ...Object.keys(FROM_AGENT)].filter((method) => !inSchema.has(method));
    expect(gone).toEqual(['session/set_model']);
  });
});
