// The highest version of a policy bundle that this machine has used, on disk: a restart must not accept an older one.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { makeDirectory, replaceFile } from '../../private-files.ts';
import type { SeenVersion } from './accept.ts';

export type SeenVersions = {
  /** Undefined if there was none. Throws if the file cannot be read: then nobody knows what is older. */
  highest(): SeenVersion | undefined;
  /** Throws if it cannot be stored. */
  raise(seen: SeenVersion): void;
};

const content = z.record(z.string(), z.object({ version: z.number().int(), sha256: z.string() }));

export function seenVersions(stateDir: string, tenant: string): SeenVersions {
  const file = path.join(stateDir, 'policy-bundles.json');
  function all(): z.infer<typeof content> {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw new Error(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
    try {
      return content.parse(JSON.parse(text));
    } catch {
      throw new Error(`${file} is damaged, so nobody knows which policy bundles are older; remove it to accept any version once`);
    }
  }
  return {
    highest: () => all()[tenant],
    raise(seen) {
      const before = all();
      if ((before[tenant]?.version ?? 0) >= seen.version) return;
      try {
        makeDirectory(stateDir);
        replaceFile(file, `${JSON.stringify({ ...before, [tenant]: seen })}\n`);
      } catch (error) {
        throw new Error(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
      }
    },
  };
}
