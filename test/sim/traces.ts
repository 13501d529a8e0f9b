// Frames of real agents, as recorded in test/recordings.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const DIR = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../recordings');

export type Traces = { readonly fromClient: readonly string[]; readonly fromAgent: readonly string[] };

export function readTraces(): Traces {
  const entries = readdirSync(DIR)
    .filter((name) => name.endsWith('.ndjson'))
    .flatMap((name) => readFileSync(path.join(DIR, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly dir: string; readonly msg: unknown });
  const framesOf = (dir: string) => entries.filter((entry) => entry.dir === dir).map(({ msg }) => JSON.stringify(msg));
  return { fromClient: framesOf('client->agent'), fromAgent: framesOf('agent->client') };
}
