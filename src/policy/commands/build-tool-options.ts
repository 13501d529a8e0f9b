// Package managers, interpreters, test runners, compilers and containers: options that make a harmless-looking program run, load or write
// something else. Data, to be extended: each entry names its source, a manual page or a published technique. Blanks separate the items of a
// list.
import type { DangerousOption } from './dangerous-options.ts';

const NPM = 'npm pnpm yarn npx bun bunx pnpx';

export const BUILD_TOOL_OPTIONS: readonly DangerousOption[] = [
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
    programs: 'gcc g++ cc c++ clang clang++',
    options: '-o -wrapper -fplugin -B -specs -Xclang -load -x -T -save-temps -dumpdir -dumpbase',
    words: /^@/,
    why: 'runs, loads or writes',
    source: 'gcc(1) -wrapper, -fplugin; GTFOBins gcc',
  },
  {
    programs: 'ruff mypy black flake8 pylint',
    options:
      '--config --config-file --load-plugins --init-hook --rcfile --output-file -o --python-executable --custom-typeshed-dir --custom-typing-module --cache-dir --shadow-file --html-report --junit-xml --append-config --enable-extensions --tee --format -f --output --cobertura-xml-report --any-exprs-report',
    why: 'loads code or other configuration, or writes',
    source: 'pylint --init-hook, --load-plugins; mypy --python-executable; flake8 --append-config',
  },
];
