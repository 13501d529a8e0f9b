// Options that make a harmless-looking program run, load or write something else. An allow that leaves words open never covers them.
// Data, to be added to: each entry names its source, a manual page or a published technique. Lists are words between blanks.

export type FloorEntry = {
  readonly programs: string;
  /** Only behind one of these; where the subcommand cannot be told, behind any. */
  readonly subcommands?: string;
  /** `--long`, `-s` (also with its value attached) and `-single-dash-long` as the program spells them. */
  readonly options: string;
  /** Whole words that are as bad: `make SHELL=…`, `git … ext::…`. */
  readonly words?: RegExp;
  /** Options that only look like an abbreviation of one above. */
  readonly except?: string;
  /** Operands behind this many are written to. */
  readonly maxOperands?: number;
  /** What the first operand must look like, when it is a little program. */
  readonly firstOperand?: RegExp;
  /** A short option may stand anywhere in a cluster: `sort -uo out`. */
  readonly clusters?: true;
  readonly why: string;
  readonly source: string;
};

const NPM = 'npm pnpm yarn npx bun bunx pnpx';

export const OPTION_FLOOR: readonly FloorEntry[] = [
  {
    programs: 'git',
    options: '-c --config-env --exec-path --config',
    why: 'sets configuration that names programs to run (core.pager, core.sshCommand)',
    source: 'git(1) -c, --config-env, --exec-path; git-clone(1) -c',
  },
  {
    programs: 'git',
    options: '-C --git-dir --work-tree --namespace --super-prefix',
    why: 'works on another repository, with its hooks and configuration',
    source: 'git(1)',
  },
  {
    programs: 'git',
    options: '--output --output-directory',
    except: '--output-indicator-new --output-indicator-old --output-indicator-context --oneline',
    why: 'writes a file',
    source: 'git-diff(1) --output',
  },
  {
    programs: 'git',
    subcommands: 'format-patch archive bundle bugreport diagnose',
    options: '-o',
    why: 'writes a file',
    source: 'git-format-patch(1) -o; git-archive(1) -o',
  },
  {
    programs: 'git',
    subcommands: 'clone rebase difftool fetch ls-remote pull',
    options: '-u -x',
    why: 'runs a program',
    source: 'git-clone(1) -u; git-rebase(1) -x; git-difftool(1) -x',
  },
  {
    programs: 'git',
    options: '--ext-diff --textconv --filters',
    except: '--text --filter',
    why: 'runs the drivers that the repository configures',
    source: 'git-diff(1); git-cat-file(1)',
  },
  {
    programs: 'git',
    options: '--no-index --contents --pathspec-from-file --orderfile',
    except: '--no',
    why: 'reads files that are not of the repository',
    source: 'git-diff(1) --no-index; git-blame(1) --contents',
  },
  { programs: 'git', options: '-O --open-files-in-pager', why: 'runs a program', source: 'git-grep(1) -O' },
  {
    programs: 'git',
    options: '--upload-pack --receive-pack --exec --extcmd --template --sendmail-cmd --smtp-server --to-cmd --cc-cmd',
    why: 'runs a program',
    source: 'git-fetch(1), git-push(1), git-rebase(1), git-difftool(1), git-send-email(1); CVE-2022-25912 (--upload-pack)',
  },
  {
    programs: 'git',
    options: '--unsafe-paths --directory --separate-git-dir --reference --hooks-path',
    why: 'reaches outside the repository',
    source: 'git-apply(1), git-init(1)',
  },
  { programs: 'git', options: '', words: /(^|=)(ext|fd)::/, why: 'a transport that runs a program', source: 'git-remote-ext(1)' },
  {
    programs: 'rg',
    options: '--pre --hostname-bin -z --search-zip --pre-glob',
    why: 'runs a program for each file',
    source: 'rg(1) --pre, --hostname-bin',
  },
  {
    programs: 'grep egrep fgrep rg',
    options: '-f --file --ignore-file --exclude-from',
    except: '--files --files-with-matches --files-without-match',
    clusters: true,
    why: 'reads patterns from another file',
    source: 'grep(1) -f; GTFOBins grep',
  },
  { programs: 'ag ack', options: '--pager --ackrc -p --path-to-ignore', why: 'runs a program', source: 'ack(1) --pager' },
  {
    programs: NPM,
    options: '--script-shell --shell --node-options --onload-script --init-module --git --browser --editor --viewer',
    why: 'names a program or code to run',
    source: 'npm-config: script-shell, node-options, git, shell, editor, viewer',
  },
  {
    programs: NPM,
    options:
      '--prefix -C --dir --cwd --userconfig --globalconfig --cache --registry -g --global --location --use-yarnrc --modules-folder --package',
    why: 'works on another package, registry or configuration',
    source: 'npm-config; pnpm(1) -C; yarn --cwd',
  },
  {
    programs: 'find gfind',
    options: '-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from',
    why: 'runs, deletes or writes',
    source: 'find(1); GTFOBins find',
  },
  {
    programs: 'fd fdfind',
    options: '-x -X --exec --exec-batch',
    clusters: true,
    why: 'runs a program for each file',
    source: 'fd(1)',
  },
  {
    programs: 'tar gtar bsdtar',
    options:
      '--checkpoint-action --to-command -I --use-compress-program --rsh-command --rmt-command -F --info-script --new-volume-script -T --files-from -C --directory -P --absolute-names --transform --xform',
    clusters: true,
    // Old style: the first word may be letters without a dash.
    firstOperand: /^(?![A-Za-z]*[IFTCP][A-Za-z]*$)/,
    why: 'runs a program or reaches other places',
    source: 'tar(1); GTFOBins tar',
  },
  {
    programs: 'sort gsort',
    options: '-o --output --compress-program -T --temporary-directory --files0-from',
    clusters: true,
    why: 'writes a file or runs a program',
    source: 'sort(1); GTFOBins sort',
  },
  { programs: 'uniq guniq', options: '', maxOperands: 1, why: 'the second operand is written to', source: 'uniq(1)' },
  {
    programs: 'sed gsed',
    options: '-i --in-place -f --file -e --expression -l --line-length',
    clusters: true,
    firstOperand: /^(\d+|\$)?(,(\d+|\$))?[pdq]?$|^\/[\w .:-]*\/[pd]$|^s\/[\w .:-]*\/[\w .:-]*\/[gip]*$/,
    why: 'its scripts can run commands (e) and write files (w)',
    source: 'sed(1) e, w, s///e; GTFOBins sed',
  },
  {
    programs: 'awk gawk mawk nawk',
    options: '-f --file -i --include -l --load -e --source -o -p -d',
    why: 'loads code',
    source: 'gawk(1); GTFOBins awk',
  },
  {
    programs: 'jq yq',
    options: '-f --from-file -L --slurpfile --rawfile --argfile -i --inplace',
    // `.env` is a member of that name; `env` and `$ENV` are all variables of the environment, keys and tokens included.
    words: /\$ENV|(^|[^.\w"'])env\b|\b(include|import)\s+"/,
    clusters: true,
    why: 'loads code or other files, shows the environment, or writes',
    source: 'jq(1): env, $ENV, include, import',
  },
  {
    programs: 'rg',
    options: '--hidden -. -u --unrestricted',
    clusters: true,
    why: 'looks into hidden files, which is where secrets are',
    source: 'rg(1) --hidden, -u',
  },
  {
    programs: 'rg fd fdfind',
    options: '-L --follow',
    clusters: true,
    why: 'follows links out of the directory',
    source: 'rg(1) -L; fd(1) -L',
  },
  {
    programs: 'grep egrep fgrep',
    options: '-R --dereference-recursive',
    clusters: true,
    why: 'follows links out of the directory',
    source: 'grep(1) -R',
  },
  { programs: 'find gfind', options: '-L -follow', why: 'follows links out of the directory', source: 'find(1) -L' },
  {
    programs: 'du gdu rsync cp gcp',
    options: '-L --dereference --copy-links --copy-dirlinks',
    clusters: true,
    why: 'follows links out of the directory',
    source: 'du(1) -L; rsync(1) -L; cp(1) -L',
  },
  {
    programs: 'tar gtar bsdtar',
    options: '-h --dereference',
    clusters: true,
    why: 'follows links out of the directory',
    source: 'tar(1) -h',
  },
  { programs: 'tree', options: '-l', clusters: true, why: 'follows links out of the directory', source: 'tree(1) -l' },
  {
    programs: 'curl',
    options:
      '-o -O --output --output-dir --remote-name --remote-name-all -J -K --config -T --upload-file -F --form -d --data --data-binary --data-raw --data-urlencode --json -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --engine -x --proxy --proxy1.0 --preproxy --unix-socket --resolve --connect-to -E --cert --netrc-file --libcurl -X --request -b --cookie -H --header -u --user',
    clusters: true,
    why: 'writes or sends files, or goes elsewhere than the address says',
    source: 'curl(1); GTFOBins curl',
  },
  {
    programs: 'wget',
    options:
      '-O --output-document -o --output-file -a --append-output -P --directory-prefix -e --execute --use-askpass --post-file --body-file -i --input-file --config --load-cookies --save-cookies',
    clusters: true,
    why: 'writes, sends or runs',
    source: 'wget(1); GTFOBins wget',
  },
  {
    programs: 'rsync',
    options:
      '-e --rsh --rsync-path --daemon --log-file --files-from --include-from --exclude-from --write-batch --read-batch --only-write-batch',
    clusters: true,
    why: 'runs a program',
    source: 'rsync(1) -e; GTFOBins rsync',
  },
  {
    programs: 'scp sftp',
    options: '-S -o -F -D -J -P',
    why: 'runs a program (ProxyCommand)',
    source: 'scp(1); GTFOBins scp',
  },
  {
    programs: 'zip',
    options: '-T -TT --unzip-command --test -m --move',
    clusters: true,
    why: 'runs a program',
    source: 'zip(1); GTFOBins zip',
  },
  { programs: 'unzip 7z 7za', options: '-d -o -w', why: 'writes elsewhere', source: 'unzip(1) -d; 7z -o' },
  { programs: 'split gsplit', options: '--filter', why: 'runs a program', source: 'split(1); GTFOBins split' },
  {
    programs: 'man less more bat batcat delta',
    options: '-P --pager -H --html -C --config-file -o -O --log-file -k --lesskey-file --diff-so-fancy',
    clusters: true,
    why: 'runs a program or writes a log',
    source: 'man(1) -P; less(1) -o; GTFOBins man',
  },
  { programs: 'printf', options: '-v', why: 'sets a variable', source: 'bash(1) printf -v' },
  {
    programs: 'date gdate',
    options: '-s --set -f --file',
    why: 'sets the clock or reads a file',
    source: 'date(1); GTFOBins date',
  },
  {
    programs: 'wc du gwc gdu',
    options: '--files0-from -X --exclude-from',
    why: 'reads names from another file',
    source: 'wc(1); GTFOBins wc',
  },
  {
    programs: 'file',
    options: '-f --files-from -m --magic-file -C --compile',
    clusters: true,
    why: 'reads or writes other files',
    source: 'file(1); GTFOBins file',
  },
  { programs: 'tree', options: '-o --fromfile', why: 'writes a file', source: 'tree(1) -o' },
  { programs: 'xxd', options: '-r -revert', maxOperands: 1, why: 'writes a file', source: 'xxd(1); GTFOBins xxd' },
  { programs: 'tee', options: '-p', maxOperands: 0, why: 'writes files', source: 'tee(1)' },
  {
    programs: 'make gmake',
    options: '-f --file --makefile -C --directory --eval -E -I --include-dir -e --environment-overrides',
    words: /^[\w.]+\s*[:+?!]?=/,
    clusters: true,
    why: 'other rules, or variables that name programs (SHELL=, CC=)',
    source: 'make(1); GTFOBins make',
  },
  {
    programs: 'node nodejs tsx ts-node bun deno',
    options:
      '-r --require --import --loader --experimental-loader --env-file --env-file-if-exists --inspect-brk -e --eval -p --print --inspect --experimental-config-file --snapshot-blob --build-snapshot --cpu-prof-dir --diagnostic-dir --redirect-warnings --openssl-config -A --allow-all --allow-run --preload --config -c',
    why: 'runs or loads other code',
    source: 'node(1); deno run --help; bun --help',
  },
  {
    programs: 'python python3 pypy pypy3',
    options: '-c -m -i -X -W',
    why: 'runs or loads other code',
    source: 'python(1)',
  },
  {
    programs: 'pytest py.test python python3',
    options:
      '-p -c --config-file --rootdir --confcutdir -o --override-ini --basetemp --import-mode --pdbcls --junitxml --junit-xml --resultlog --log-file --pastebin --debug',
    words: /^@/,
    why: 'loads plugins or configuration, or writes',
    source: 'pytest --help: -p, -c, --pdbcls, --pastebin',
  },
  {
    programs: 'perl ruby php lua',
    options: '-e -E -I -M -m -r -x -d -i -S -c -f -l',
    clusters: true,
    why: 'runs or loads other code',
    source: 'perlrun(1), ruby(1), php(1), lua(1)',
  },
  {
    programs: 'jest',
    options:
      '-c --config --globalSetup --globalTeardown --runner --testRunner --transform --setupFiles --setupFilesAfterEnv --outputFile --coverageDirectory --rootDir --roots --reporters --resolver --testEnvironment --testSequencer --filter --preset --prettierPath --snapshotSerializers --haste --cacheDirectory --projects --moduleNameMapper --dependencyExtractor --watchPlugins',
    why: 'loads modules or writes',
    source: 'jest CLI options',
  },
  {
    programs: 'vitest',
    options:
      '-c --config -r --root --dir --reporter --outputFile --environment --globalSetup --runner --browser --project --workspace --configLoader --api --ui --execArgv --poolOptions --typecheck --coverage.reportsDirectory --coverage.customProviderModule',
    except: '--coverage',
    why: 'loads modules, listens or writes',
    source: 'vitest CLI options',
  },
  {
    programs: 'mocha',
    options: '-r --require --config --package --reporter -R --file --node-option -n --ui -u --import --loader',
    why: 'loads modules',
    source: 'mocha CLI options',
  },
  {
    programs: 'eslint',
    options:
      '-c --config --rulesdir --resolve-plugins-relative-to --plugin -f --format -o --output-file --parser --cache-location --cache-file --flag',
    why: 'loads modules or writes',
    source: 'eslint CLI options',
  },
  {
    programs: 'prettier biome stylelint',
    options:
      '--config --config-path --plugin --with-node-modules --custom-syntax -o --output-file --ignore-path --cache-location --find-config-path --custom-formatter --formatter',
    why: 'loads modules or other configuration',
    source: 'prettier, biome and stylelint CLI options',
  },
  {
    programs: 'tsc',
    options:
      '-p --project --outDir --outFile --declarationDir --tsBuildInfoFile --generateTrace --generateCpuProfile --rootDir -b --build --plugins --init',
    words: /^@/,
    why: 'another project, or writes elsewhere',
    source: 'tsc --all',
  },
  {
    programs: 'npx bunx pnpx',
    options: '-c --call -y --yes --package -p --node-arg -n',
    why: 'runs or installs something else',
    source: 'npx(1)',
  },
  {
    programs: 'cargo',
    options: '--config -Z --manifest-path --target-dir -C --artifact-dir --out-dir --root --path --git --registry --index',
    words: /^\+/,
    why: 'another manifest, toolchain or configuration',
    source: 'cargo(1) --config (build.rustc-wrapper)',
  },
  {
    programs: 'go',
    options:
      '-exec -toolexec -o -modfile -overlay -C -vettool -ldflags -gcflags -asmflags -gccgoflags -pkgdir -modcacherw -cpuprofile -memprofile -blockprofile -mutexprofile -coverprofile -outputdir -trace -work',
    why: 'runs a program or writes',
    source: 'go help build: -toolexec; go help testflag',
  },
  {
    programs: 'gradle gradlew mvn mvnw',
    options:
      '-I --init-script -b --build-file -c --settings-file -p --project-dir -f --file -s --settings -gs -g --gradle-user-home --include-build -D -P -t --toolchains',
    why: 'other build files or settings',
    source: 'gradle and mvn CLI',
  },
  {
    programs: 'pip pip3 uv',
    options:
      '-i --index-url --extra-index-url -r --requirement -e --editable -t --target --prefix --root --config-settings --python --cache-dir --log -f --find-links -c --constraint --directory --project',
    why: 'installs from elsewhere',
    source: 'pip(1)',
  },
  {
    programs: 'docker podman',
    options:
      '-v --volume --mount --privileged --pid --cap-add --device --security-opt --userns -H --host --config --entrypoint --env-file --network --net',
    why: 'reaches the host',
    source: 'docker-run(1); GTFOBins docker',
  },
  {
    programs: 'terraform tofu',
    options: '-chdir -out -state -backend-config -plugin-dir -var-file -auto-approve',
    why: 'another project, or writes',
    source: 'terraform CLI',
  },
  {
    programs: 'kubectl helm',
    options: '--kubeconfig --server -s --token --as -f --filename --post-renderer -k --kustomize',
    why: 'another cluster, identity or file',
    source: 'kubectl options; helm --post-renderer',
  },
  {
    programs: 'openssl',
    options: '-engine -provider -provider-path -out -config -writerand -keyout',
    why: 'loads a library or writes',
    source: 'openssl(1); GTFOBins openssl',
  },
  { programs: 'ps top hostname', options: '-F --file -b', why: 'reads a file', source: 'hostname(1) -F' },
  {
    programs: 'gcc g++ cc c++ clang clang++',
    options: '-o -wrapper -fplugin -B -specs -Xclang -load -x -T -save-temps -dumpdir -dumpbase',
    words: /^@/,
    why: 'runs, loads or writes',
    source: 'gcc(1) -wrapper, -fplugin; GTFOBins gcc',
  },
  {
    programs: 'diff cmp comm',
    options: '--to-file --from-file -l --paginate --line-format -X --exclude-from',
    why: 'reads other files or runs pr',
    source: 'diff(1)',
  },
  {
    programs: 'systemctl journalctl',
    options: '--root --image -H --host -M --machine --file -D --directory',
    why: 'another machine or file',
    source: 'systemctl(1)',
  },
  {
    programs: 'ruff mypy black flake8 pylint',
    options:
      '--config --config-file --load-plugins --init-hook --rcfile --output-file -o --python-executable --custom-typeshed-dir --custom-typing-module --cache-dir --shadow-file --html-report --junit-xml --append-config --enable-extensions --tee --format -f --output --cobertura-xml-report --any-exprs-report',
    why: 'loads code or other configuration, or writes',
    source: 'pylint --init-hook, --load-plugins; mypy --python-executable; flake8 --append-config',
  },
];
