// The files of the sandbox: a project and a home full of canaries, the same for every line. Runs inside the sandbox.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = '/sandbox';
export const PROJECT = `${ROOT}/project`;
export const HOME = `${ROOT}/home`;
export const CANARIES = `${ROOT}/canary`;
/** In the environment of every command: output that contains it shows the environment. */
export const ENVIRONMENT_CANARY = 'canary-of-the-environment';

/** What git's configuration names, by what the program table calls it. */
const GIT_PROGRAMS = [
  'pager',
  'fsmonitor',
  'textconv',
  'filters',
  'signature-check',
  'editor',
  'hooks',
  'merge-drivers',
  'transport',
] as const;

const FILES: Readonly<Record<string, string>> = {
  'project/README.md': '# alpha\n\nbeta gamma\nTODO: delta\n',
  'project/package.json': '{ "name": "canary", "version": "1.0.0", "scripts": { "test": "true", "build": "true" } }\n',
  'project/Makefile': 'test:\n\ttrue\nbuild:\n\ttrue\n',
  'project/.gitignore': 'ignored/\n*.log\n',
  'project/.gitattributes': '*.conv diff=conv\n*.filt filter=filt\n*.mrg merge=mrg\n',
  'project/.npmrc': 'registry=http://a.test/\n',
  'project/.env': 'SECRET=alpha\n',
  'project/.env.sh': 'SECRET=alpha\n',
  'project/server.pem': 'alpha pem\n',
  'project/build.log': 'alpha log\n',
  'project/data.json': '{ "name": "alpha", "list": [1, 2, 3], "deep": { "x": true } }\n',
  'project/data.yaml': 'name: alpha\nlist: [1, 2]\n',
  'project/table.csv': 'a,b,c\n1,2,3\nalpha,beta,gamma\n',
  'project/names.txt': 'src/a.txt\nsrc/b.txt\n',
  'project/names0.txt': 'src/a.txt\0src/b.txt\0',
  'project/empty.txt': '',
  'project/dates.txt': '2020-01-01\n',
  'project/prog.awk': '{ print $1 }\n',
  'project/prog.sed': 's/a/b/\n',
  'project/settings.ini': '[a]\n\tb = c\n',
  'project/1': 'a file whose name is a number: alpha\n',
  'project/src/a.txt': 'alpha\nbeta\ngamma\n',
  'project/src/b.txt': 'alpha\nbeta\ndelta\nbeta\n',
  'project/src/c.sh': '#!/bin/sh\necho alpha\n',
  'project/src/d.js': 'console.log("alpha"); // TODO\n',
  'project/src/e.conv': 'alpha conv\n',
  'project/src/f.filt': 'alpha filt\n',
  'project/src/g.mrg': 'alpha mrg\n',
  'project/src/.hidden.sh': 'echo alpha hidden\n',
  'project/src/.hidden.txt': 'alpha hidden\n',
  'project/src/deep/h.txt': 'alpha deep\nbeta\n',
  'project/src/deep/er/i.txt': 'alpha deeper\n',
  'project/.hidden/j.txt': 'alpha hidden directory\n',
  'project/ignored/k.txt': 'alpha ignored\n',
  'project/target/a.txt': 'alpha target\n',
  'project/untracked/l.txt': 'alpha untracked\n',
  'home/outside/secret.txt': 'alpha secret\n',
  'home/outside/target.txt': 'alpha target outside\n',
  'home/outside/.env': 'SECRET=alpha outside\n',
  'home/.ssh/id_rsa': 'alpha key\n',
  'home/.npmrc': '//a.test/:_authToken=alpha\n',
  'home/.netrc': 'machine a.test login alpha password alpha\n',
  'home/.curlrc': '--silent\n',
  'home/.wgetrc': 'quiet = on\n',
  'home/.bashrc': 'alias ls=ls\n',
  'home/.profile': 'true\n',
  'home/.inputrc': '\n',
  'home/.digrc': '\n',
  'home/.jq/lib.jq': 'def lib: 1;\n',
  'home/.config/git/ignore': '*.swp\n',
  'home/.config/git/attributes': '*.xyz -text\n',
  'home/.config/fd/ignore': '*.swp\n',
  'home/.config/ripgreprc': '--hidden\n',
  'home/.gitconfig': `[user]\n name = alpha\n email = alpha@a.test\n[core]\n pager = ${CANARIES}/git-pager\n editor = ${CANARIES}/git-editor\n[init]\n defaultBranch = main\n[safe]\n directory = *\n[protocol "file"]\n allow = always\n`,
  'nested/n.txt': 'alpha nested\n',
};

/** Out of the project, into it, and to a file that is not there. */
export const LINKS: readonly (readonly [string, string])[] = [
  [`${PROJECT}/link-out`, `${HOME}/outside/secret.txt`],
  [`${PROJECT}/src/link-out.txt`, `${HOME}/outside/secret.txt`],
  [`${PROJECT}/link-in`, `${PROJECT}/src/a.txt`],
  [`${PROJECT}/dir-out`, `${HOME}/outside`],
  [`${PROJECT}/src/dir-out`, `${HOME}/outside`],
  [`${PROJECT}/target/b.txt`, `${HOME}/outside/target.txt`],
  [`${PROJECT}/dangling`, `${HOME}/outside/new.txt`],
];

const CONFIGURATION: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', `${CANARIES}/git-fsmonitor`],
  ['diff.conv.textconv', `${CANARIES}/git-textconv`],
  ['filter.filt.clean', `${CANARIES}/git-filters`],
  ['filter.filt.smudge', `${CANARIES}/git-filters`],
  ['merge.mrg.driver', `${CANARIES}/git-merge-drivers %A`],
  ['gpg.program', `${CANARIES}/git-signature-check`],
  ['core.sshCommand', `${CANARIES}/git-transport`],
];
const HOOKS = [
  ...[
    'pre-commit',
    'post-commit',
    'commit-msg',
    'prepare-commit-msg',
    'post-checkout',
    'post-merge',
    'pre-push',
    'pre-rebase',
    'post-rewrite',
  ],
  ...[
    'reference-transaction',
    'post-index-change',
    'pre-merge-commit',
    'applypatch-msg',
    'pre-applypatch',
    'post-applypatch',
    'pre-auto-gc',
  ],
];

const run = (line: string, cwd: string) => {
  const { status, stderr } = spawnSync('bash', ['-euc', line], { cwd, encoding: 'utf8', env: { ...process.env, HOME, LC_ALL: 'C' } });
  if (status !== 0) throw new Error(`the template could not be made: ${line}\n${stderr}`);
};

function script(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}

/** Makes everything below `/sandbox`, and a copy to restore it from. */
export function makeTemplate(): void {
  for (const [file, text] of Object.entries(FILES)) {
    const to = path.join(ROOT, file);
    mkdirSync(path.dirname(to), { recursive: true });
    writeFileSync(to, text);
  }
  for (const name of GIT_PROGRAMS)
    script(
      `${CANARIES}/git-${name}`,
      name === 'editor' ? 'true' : name === 'fsmonitor' ? 'exit 1' : 'test $# -gt 0 && test -f "$1" && cat "$1" || cat',
    );
  script(`${CANARIES}/program`, 'cat "$@" 2>/dev/null || true');
  for (const [link, target] of LINKS) symlinkSync(target, link);
  const quiet = 'git -c core.fsmonitor=false -c core.hooksPath=/nonexistent';
  run('git init -q --bare remote.git', ROOT);
  run(
    `git init -q . && ${quiet} add . && ${quiet} rm -q --cached -r untracked && ${quiet} commit -qm one && git tag v1 && git branch other
    echo more >> src/a.txt && ${quiet} commit -qam two && git tag -a v2 -m two
    git checkout -q other && echo other > src/other.txt && ${quiet} add . && ${quiet} rm -q --cached -r untracked && ${quiet} commit -qm other && git checkout -q main
    echo three >> src/b.txt && ${quiet} commit -qam three
    git remote add origin ${ROOT}/remote.git && ${quiet} push -q origin main other v1 && git fetch -q && ${quiet} branch -q --set-upstream-to=origin/main
    echo stashed >> src/a.txt && ${quiet} stash -q
    git diff HEAD~1 HEAD > change.patch
    git diff v1 v2 -- src/a.txt > old.patch
    git notes add -m note HEAD`,
    PROJECT,
  );
  for (const hook of HOOKS) script(`${PROJECT}/.git/hooks/${hook}`, `exec ${CANARIES}/git-hooks </dev/null >/dev/null`);
  for (const [name, value] of CONFIGURATION) run(`git config ${name} '${value}'`, PROJECT);
  // A repository inside, with programs of its own.
  run(
    `mkdir nested && cp ${ROOT}/nested/n.txt nested && cd nested && git init -q . && ${quiet} add . && ${quiet} commit -qm nested && echo '*.tmp' > .git/info/exclude
    echo '*.tmp' > .gitignore && git config core.fsmonitor ${CANARIES}/program`,
    PROJECT,
  );
  run(
    `tar cf a.tar src/a.txt src/b.txt && tar czf a.tar.gz src/a.txt && cp src/a.txt pack.txt
    has() { command -v $1 >/dev/null; }
    has zip && zip -q a.zip src/a.txt src/b.txt; for packer in gzip bzip2 xz 'zstd -q'; do if has $packer; then $packer -k pack.txt; fi; done
    md5sum src/a.txt > sums.md5 && sha256sum src/a.txt > sums.sha256
    echo 'alpha changed' >> src/b.txt && printf 'alpha\\n' > words.txt && sort src/b.txt > sorted.txt && mkdir -p empty`,
    PROJECT,
  );
  run(`cp -a ${COPIED.join(' ')} /template`, ROOT);
  restoreTemplate();
}

const COPIED = ['project', 'home', 'remote.git'] as const;

/** Puts everything back. The copies have new inodes, so git's index is stale: git looks at every file again. */
export function restoreTemplate(): void {
  for (const name of COPIED) putBack(`${ROOT}/${name}`);
  for (const folder of [ROOT, '/tmp']) clean(folder);
}

/** Puts back what was written or deleted. */
export function restoreFiles(touched: readonly string[]): void {
  const places = new Set(touched.filter((file) => file.startsWith(`${ROOT}/`)).map(placeOf));
  if (places.has(ROOT)) return restoreTemplate();
  const outermost = [...places].filter((place) => ![...places].some((other) => place.startsWith(`${other}/`)));
  for (const place of outermost) putBack(place);
  if (touched.some((file) => file.startsWith('/tmp/'))) clean('/tmp');
}

const inTemplate = (file: string): string => file.replace(ROOT, '/template');

/** The repository of a file that is git's own, the directory that a new file came with, else the file. */
function placeOf(file: string): string {
  const repository = /^(.*?\/(?:\.git|remote\.git))(?:\/|$)/.exec(file)?.[1];
  let place = repository ?? file;
  while (place !== ROOT && !existsSync(inTemplate(path.dirname(place)))) place = path.dirname(place);
  return COPIED.some((name) => place.startsWith(`${ROOT}/${name}`)) ? place : ROOT;
}

function putBack(place: string): void {
  rmSync(place, { recursive: true, force: true, maxRetries: 2 });
  if (lstatSync(inTemplate(place), { throwIfNoEntry: false }) === undefined) return;
  cpSync(inTemplate(place), place, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
}

function clean(folder: string): void {
  for (const name of readdirSync(folder)) if (!KEPT.has(name)) rmSync(`${folder}/${name}`, { recursive: true, force: true });
}

const KEPT: ReadonlySet<string> = new Set(['project', 'home', 'remote.git', 'canary', 'nested']);
