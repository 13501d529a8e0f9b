// Whose files an agent on another machine works on, as its card says it.
import path from 'node:path';
import { expect, test } from 'vitest';

const { filesOf }: { filesOf: (remote: { transport: string; files: string }) => string } = await import(
  path.resolve(import.meta.dirname, '../../console/components/agents/labels.ts')
);

test.each([
  ['bus', 'none', 'those of its host'],
  ['ssh', 'none', 'its own'],
  ['ws', 'same', 'same paths as here'],
  ['http', 'map', 'as here, under other paths'],
])('over %s with files: %s', (transport, files, expected) => {
  expect(filesOf({ transport, files })).toBe(expected);
});
