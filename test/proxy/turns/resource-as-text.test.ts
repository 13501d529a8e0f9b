// Prompt content for agents without embedded resources.
import { describe, expect, test } from 'vitest';
import { degradeResource } from '../../../src/proxy/turns/resource-as-text.ts';

describe('an embedded resource for an agent that does not support them', () => {
  test('becomes text with its URI, if it is text', () => {
    const block = { type: 'resource', resource: { uri: 'file:///a/b.ts', text: 'const x = 1;\n', mimeType: 'text/typescript' } };
    expect(degradeResource(block)).toEqual({ type: 'text', text: '<context ref="file:///a/b.ts">\nconst x = 1;\n\n</context>' });
  });

  test('becomes a link, if it is not', () => {
    const block = { type: 'resource', resource: { uri: 'file:///a/b.png', blob: 'AAAA', mimeType: 'image/png' } };
    expect(degradeResource(block)).toEqual({ type: 'resource_link', uri: 'file:///a/b.png', name: 'b.png', mimeType: 'image/png' });
  });

  test('keeps its annotations and its _meta', () => {
    const kept = { annotations: { audience: ['user'] }, _meta: { k: 1 } };
    expect(degradeResource({ type: 'resource', resource: { uri: 'u', text: '' }, ...kept })).toMatchObject(kept);
    expect(degradeResource({ type: 'resource', resource: { uri: 'u', blob: '' }, ...kept })).toMatchObject(kept);
  });

  test('has a name even if its URI ends in a slash', () => {
    expect(degradeResource({ type: 'resource', resource: { uri: 'file:///a/', blob: '' } })).toMatchObject({ name: 'file:///a/' });
  });
});

test.each([
  { type: 'text', text: 'hello' },
  { type: 'resource_link', uri: 'u', name: 'n' },
  { type: 'image', data: '', mimeType: 'image/png' },
  { type: '_vendor', resource: {} },
  { type: 'resource' },
  { type: 'resource', resource: 'text' },
  null,
  'text',
  undefined,
])('%j is unchanged', (block) => {
  expect(degradeResource(block)).toBeUndefined();
});
