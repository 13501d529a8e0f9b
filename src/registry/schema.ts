// The registry's index. Unknown fields are kept; an entry that cannot be used is left out with the reason, and the others stay.
import * as z from 'zod';
import { withoutControls } from '../control-characters.ts';
import { fields } from '../json-object.ts';
import { RegistryError } from './registry-error.ts';

const text = (max: number) =>
  z
    .string()
    .max(max)
    .transform((given) => withoutControls(given).replace(/\s+/g, ' ').trim());
const args = z.array(z.string().max(4096)).max(100);
const env = z.record(z.string().max(200), z.string().max(8192));
const start = { args: args.optional(), env: env.optional() };

/** `cmd` names the program, for packages with several. */
const packageDistribution = z.looseObject({ package: z.string().min(1).max(300), cmd: z.string().min(1).max(300).optional(), ...start });
const binaryTarget = z.looseObject({
  archive: z.string().min(1).max(4096),
  cmd: z.string().min(1).max(1000),
  sha256: z
    .string()
    .regex(/^(?:sha256:)?[0-9a-fA-F]{64}$/)
    .transform((given) => given.replace(/^sha256:/, '').toLowerCase())
    .optional(),
  ...start,
});
const distribution = z.looseObject({
  npx: packageDistribution.optional(),
  uvx: packageDistribution.optional(),
  binary: z.record(z.string().max(100), binaryTarget).optional(),
});
const version = z
  .string()
  .max(100)
  .regex(/^\d+(?:\.\d+)*(?:[-+.][\w.+-]+)?$/);
const agent = z.looseObject({
  id: z
    .string()
    .max(100)
    .regex(/^[a-z][a-z0-9-]*$/),
  name: text(200),
  version,
  description: text(2000).optional(),
  repository: text(1000).optional(),
  website: text(1000).optional(),
  license: text(200).optional(),
  authors: z.array(text(500)).max(100).optional(),
  distribution,
  preview: z.looseObject({ version, distribution }).optional(),
});

export type Distribution = z.infer<typeof distribution>;
export type PackageDistribution = z.infer<typeof packageDistribution>;
export type RegistryAgent = z.infer<typeof agent>;
export type RegistryIndex = {
  readonly agents: readonly RegistryAgent[];
  readonly skipped: readonly { readonly id: string; readonly why: string }[];
};

const MAX_AGENTS = 5000;

export function readIndex(json: string): RegistryIndex {
  const bad = (why: string) =>
    new RegistryError('REGISTRY_INVALID', `the registry's index is not valid: ${why}`, 'check registry.url, or try again later');
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw bad('it is not JSON');
  }
  const listed = fields(value).agents;
  if (!Array.isArray(listed)) throw bad('it has no list "agents"');
  if (listed.length > MAX_AGENTS) throw bad(`it lists more than ${MAX_AGENTS} agents`);
  const counts = new Map<unknown, number>();
  for (const one of listed) counts.set(fields(one).id, (counts.get(fields(one).id) ?? 0) + 1);
  const agents: RegistryAgent[] = [];
  const skipped: { id: string; why: string }[] = [];
  for (const one of listed) {
    const parsed = agent.safeParse(one);
    const id = withoutControls(String(fields(one).id ?? 'without an id')).slice(0, 100);
    if (!parsed.success) skipped.push({ id, why: reasonOf(parsed.error) });
    else if ((counts.get(parsed.data.id) ?? 0) > 1) skipped.push({ id, why: 'the index has several entries with this id' });
    else agents.push(parsed.data);
  }
  return { agents, skipped };
}

function reasonOf({ issues: [issue] }: z.ZodError): string {
  return issue ? withoutControls(`${issue.path.map(String).join('.')}: ${issue.message}`).slice(0, 300) : 'it is not valid';
}
