// A cover belongs to a file, not to a name. Finds covered files that were replaced since the sandbox started, and new ones.
import { lstatSync } from 'node:fs';
import type { Place, Profile } from '../profile/profile.ts';

const covers = ({ places }: Profile): readonly Place[] => places.filter(({ kind }) => kind === 'hide' || kind === 'protect');

/** `again` compiles the profile once more. At `review` covers lie on the layer, where a replaced file keeps its cover. Returns the paths that the running sandbox does not cover. */
export function watchCovers(profile: Profile, again: () => Profile | undefined): (isThorough: boolean) => readonly string[] {
  const before = new Map(covers(profile).map(({ path }) => [path, idOf(path)]));
  return (isThorough) => {
    const replaced = (profile.level === 'review' ? [] : [...before]).flatMap(([path, id]) => {
      const now = idOf(path);
      return now !== undefined && now !== id ? [path] : [];
    });
    if (!isThorough) return replaced;
    const now = again();
    const added = now ? covers(now).flatMap(({ path }) => (before.has(path) ? [] : [path])) : [];
    return [...replaced, ...added];
  };
}

function idOf(path: string): string | undefined {
  try {
    const { dev, ino } = lstatSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
