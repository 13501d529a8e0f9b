// What does not pass through us, by way and revision, with the reason. `npm run interop` fails when one of these passes, too.
const SCHEMA =
  'the scenario wants $schema and $defs (in 2026-07-28 also allOf, if, then and else at the root); model APIs refuse them (portable-schema.ts names the reports)';

const bySchema = { 'json-schema-2020-12': SCHEMA };
const both = { '2025-11-25': bySchema, '2026-07-28': bySchema };

export const LIMITS = { stdio: both, http: { '2025-11-25': bySchema }, sse: { '2025-11-25': bySchema }, acp: both, gateway: both };
