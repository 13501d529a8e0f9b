// Plans in words: what an installation does, and what an update changes. Pure.
import type { Plan } from './plan.ts';

/** One fact on each line, in the same order for each plan, so that two plans can be compared line by line. */
export function describePlan({ name, version, source, args, env }: Plan): string {
  const what =
    source.kind === 'binary'
      ? [`archive: ${source.url}`, `sha256: ${source.sha256 ?? 'none'}`, `program: ${source.program}`]
      : [
          `${source.kind === 'npx' ? 'npm' : 'Python'} package: ${source.package}${source.wanted === undefined ? '' : `, version ${source.wanted}`}`,
          ...(source.program === undefined ? [] : [`program: ${source.program}`]),
        ];
  return [
    `name: ${name}`,
    `version: ${version}`,
    ...what,
    `arguments: ${args.length === 0 ? 'none' : args.map((one) => JSON.stringify(one)).join(' ')}`,
    ...Object.entries(env)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => `variable: ${key}=${value}`),
  ].join('\n');
}

/** Whether one version is older than another; false where that cannot be told. */
export function isOlder(one: string, other: string): boolean {
  const parts = (version: string) => version.split(/[-+]/, 1)[0]?.split('.').map(Number) ?? [];
  const [a, b] = [parts(one), parts(other)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return one.includes('-') && !other.includes('-');
}
