// Mutation testing, a folder at a time: `npm run mutate -- [router enforcement] [--mutate src/router/route.ts] [--concurrency 2]`.
// Each folder runs with its own tests only: a mutant that needs the whole proxy to be found takes seconds instead of a tenth of one, and a
// unit test says better what is wrong. Exits with 1 when a folder scores under the threshold of stryker.config.json.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import picomatch from 'picomatch';

const GROUPS = {
  router: { mutate: ['src/router/**/*.ts'], tests: ['test/router/**/*.test.ts'] },
  sessions: {
    mutate: ['src/proxy/sessions/{session-state,frame-queue,native-sessions}.ts'],
    tests: ['test/proxy/sessions/{session-state,frame-queue,native-sessions}.test.ts'],
  },
  policy: {
    mutate: ['src/policy/decide.ts', 'src/policy/rules/{covers,touches,rule-index,layers}.ts', 'src/policy/actions/grant.ts'],
    // Without the properties of whole policies: they take seconds for each mutant.
    tests: ['test/policy/{decide,decision,golden,corpus}.test.ts', 'test/policy/{rules,actions}/*.test.ts'],
  },
  enforcement: {
    mutate: ['src/proxy/enforcement/**/*.ts'],
    tests: ['test/proxy/enforcement/**/*.test.ts', 'test/proxy/duplicate-keys.test.ts'],
    // A mutant that drops an answer makes its test wait this long.
    testTimeoutMs: 4_000,
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { mutate: { type: 'string', multiple: true }, concurrency: { type: 'string', default: '2' } },
});
const { thresholds } = JSON.parse(readFileSync('stryker.config.json', 'utf8'));
const startedMs = performance.now();
const lines = [];
let isEnough = true;
for (const [name, { mutate, tests, testTimeoutMs = 20_000 }] of Object.entries(GROUPS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const chosen = values.mutate?.filter((file) => picomatch.isMatch(file, mutate)) ?? mutate;
  if (chosen.length === 0) continue;
  process.env.MUTATE_TESTS = tests.join(';');
  process.env.MUTATE_TEST_TIMEOUT_MS = String(testTimeoutMs);
  const groupMs = performance.now();
  const results = await new Stryker({
    mutate: chosen,
    concurrency: Number(values.concurrency),
    jsonReporter: { fileName: `node_modules/.cache/acp-switchboard/mutation-${name}.json` },
    tempDirName: `.stryker/${name}`,
  }).runMutationTest();
  const count = (...statuses) => results.filter(({ status }) => statuses.includes(status)).length;
  const found = count('Killed', 'Timeout');
  const all = found + count('Survived', 'NoCoverage');
  const score = (100 * found) / all;
  isEnough &&= score >= thresholds.break;
  lines.push(`${name}: ${found} of ${all} mutants found (${score.toFixed(1)} %) in ${seconds(groupMs)} s`);
}
for (const line of lines) console.log(line);
console.log(`in all ${seconds(startedMs)} s`);
process.exitCode = isEnough && lines.length > 0 ? 0 : 1;

function seconds(sinceMs) {
  return Math.round((performance.now() - sinceMs) / 1000);
}
