// Why a sandbox refuses a path, for people; undefined if it does not.
import { isWithin, type Profile } from './profile.ts';

export function refusalOf({ places, temporary }: Profile, path: string, isWrite: boolean): string | undefined {
  const inside = places.filter((place) => isWithin(place.path, path));
  const nearest = inside.reduce<(typeof inside)[number] | undefined>((a, b) => (a && a.path.length >= b.path.length ? a : b), undefined);
  if (nearest?.kind === 'hide') return `hidden (${nearest.why})`;
  if (!isWrite || nearest?.kind === 'write' || nearest?.kind === 'pin') return undefined;
  if (nearest?.kind === 'protect') return `read-only (${nearest.why})`;
  if (nearest === undefined && temporary.some((directory) => isWithin(directory, path))) return undefined;
  return 'outside the directories that the agent may write; to allow it, add it to sandbox.write';
}
