// A decision about a shell command under a hundred rules: parse, analyse, decide. A permission request waits for it.
import { load, timed } from '../lib/in-process.mjs';

const LINES = [
  'cd packages/app && npm test -- --run src/router',
  'git diff --stat HEAD~3 -- src | head -40',
  'grep -rn "createWriter(" src test --include=*.ts',
  'FOO=1 timeout 60 node scripts/build.mjs; echo done $(date +%s)',
];

/** Rules of every kind that do not match. */
function hundredRules() {
  const deny = Array.from(
    { length: 50 },
    (_, n) => `  - { id: deny${n}, action: execute, command: ["forbidden${n} --now ..."], reason: no }`,
  );
  const ask = Array.from({ length: 25 }, (_, n) => `  - { id: ask${n}, path: ["/srv/shared${n}/**"], action: [edit, delete] }`);
  const allow = Array.from({ length: 25 }, (_, n) => `  - { id: allow${n}, action: execute, command: ["tool${n} ..."] }`);
  return ['version: 1', 'default: ask', 'deny:', ...deny, 'ask:', ...ask, 'allow:', ...allow].join('\n');
}

export default {
  name: 'policy',
  title: 'Policy: a decision about a shell command, 100 rules (should take less than 50 µs on an idle machine; no goal)',
  metrics: { us: { title: 'CPU µs', digits: 1 } },
  async measure({ isShort, workDir }) {
    const { loadPolicy, combine, commandAction, decide } = await load(workDir, {
      loadPolicy: 'policy/format/load.ts',
      combine: 'policy/rules/layers.ts',
      commandAction: 'policy/actions/surfaces.ts',
      decide: 'policy/decide.ts',
    });
    const { policy: file, problems } = loadPolicy('/bench/policy.yaml', hundredRules());
    if (file === undefined) throw new Error(`the policy of the bench is wrong: ${problems[0]?.message}`);
    const policy = combine([{ name: 'user', policy: file }]);
    const place = { agent: 'a0', cwd: '/work/project', home: '/home/user' };
    const verdict = (n) => decide(policy, commandAction(place, LINES[n % LINES.length])).verdict;
    if (verdict(0) !== 'ask') throw new Error('the policy of the bench decides something unexpected');
    return { ours: { us: timed(verdict, { rounds: isShort ? 10 : 30, callsPerRound: 2000 }) } };
  },
};
