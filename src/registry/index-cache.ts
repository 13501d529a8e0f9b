// The index, fetched only by commands that ask for it, and kept with its ETag and age.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fields } from '../json-object.ts';
import { makeDirectory, replaceFile } from '../private-files.ts';
import { failed, fetchSafely } from './fetch.ts';
import { isLocalRegistry, urlProblem } from './plan.ts';
import { RegistryError } from './registry-error.ts';
import { type RegistryIndex, readIndex } from './schema.ts';

export type Index = RegistryIndex & {
  readonly url: string;
  /** When the registry last confirmed it. */
  readonly at: Date;
  /** `fetched` now, or `cached` earlier. */
  readonly from: 'fetched' | 'cached';
};

export type IndexCache = {
  /** As the registry has it now. Throws if it cannot be reached. */
  fresh(): Promise<Index>;
  /** What is here, whatever its age. */
  cached(): Index | undefined;
};

const MAX_BYTES = 16 * 2 ** 20;

export function createIndexCache(stateDir: string, url: string, now: () => number = Date.now): IndexCache {
  const problem = urlProblem(url, true);
  if (problem !== undefined) throw new RegistryError('REGISTRY_INVALID', `registry.url ${problem}`, 'set registry.url to an https address');
  const dir = path.join(stateDir, 'registry');
  const file = path.join(dir, 'index.json');
  const about = path.join(dir, 'index.about.json');

  function read(): { readonly index: RegistryIndex; readonly etag: string | undefined; readonly at: number } | undefined {
    try {
      const known = fields(JSON.parse(readFileSync(about, 'utf8')));
      // A torn pair would give the old text the new ETag.
      if (known.url !== url || known.bytes !== statSync(file).size) return undefined;
      const index = readIndex(readFileSync(file, 'utf8'));
      return { index, etag: typeof known.etag === 'string' ? known.etag : undefined, at: Number(known.at) || 0 };
    } catch {
      return undefined; // no cache, or not a valid one
    }
  }

  function keep(text: string, etag: string | undefined): void {
    makeDirectory(dir);
    replaceFile(file, text);
    replaceFile(about, JSON.stringify({ url, etag, at: now(), bytes: Buffer.byteLength(text) }));
  }

  return {
    cached() {
      const known = read();
      return known && { ...known.index, url, at: new Date(known.at), from: 'cached' };
    },
    async fresh() {
      const known = read();
      const headers = { accept: 'application/json', ...(known?.etag !== undefined && { 'if-none-match': known.etag }) };
      const { status, etag, body } = await fetchSafely(url, { maxBytes: MAX_BYTES, isLocal: isLocalRegistry(url), headers });
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      if (status === 304 && known) {
        keep(readFileSync(file, 'utf8'), known.etag);
        return { ...known.index, url, at: new Date(now()), from: 'fetched' };
      }
      if (status !== 200) throw failed(url, `the server answered ${status}`);
      const text = Buffer.concat(chunks).toString('utf8');
      const index = readIndex(text);
      keep(text, etag);
      return { ...index, url, at: new Date(now()), from: 'fetched' };
    },
  };
}
