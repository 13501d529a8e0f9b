// docker, docker compose and kubectl: looking is understood, most of the rest is known and asked about. A container or a cluster can do
// anything with what it is given. The credentials that they read at home are not stated: they show nothing of them.
import type { Options, Program, Subcommand } from '../../program.ts';
import { optionList } from '../option-list.ts';

const OTHER_DAEMON = 'unclear:another daemon, cluster or account' as const;
const RUNS = 'unclear:runs a program in a container' as const;
const CHANGES = 'unclear:changes containers, images or the cluster' as const;

const LIST_OPTIONS: Options = optionList({
  none: '-a --all, -q --quiet, --no-trunc, --digests, --tree, -l --latest, -s --size',
  pattern: '-f --filter=',
  text: '--format=',
  number: '-n --last=',
});
const list: Subcommand = { options: LIST_OPTIONS, operands: [{ rest: 'text' }] };
const inspect: Subcommand = { options: optionList({ none: '-s --size', text: '-f --format=, --type=' }), operands: [{ rest: 'text' }] };
const LOG_OPTIONS: Options = optionList({
  none: '--details, -f --follow, -t --timestamps, --no-color, --no-log-prefix',
  text: '-n --tail=',
  date: '--since=, --until=',
});
const logs: Subcommand = { options: LOG_OPTIONS, operands: [{ rest: 'text' }] };
const changes: Subcommand = { parse: 'words', operands: [{ rest: CHANGES, none: [{ kind: 'run', program: 'docker' }] }] };
const runs: Subcommand = { parse: 'words', operands: [{ rest: RUNS, min: 1 }] };
const builds: Subcommand = {
  options: optionList({
    none: '--no-cache, --pull, -q --quiet, --rm, --force-rm, --compress, --load',
    text: '-t --tag=, --target=, --platform=, --label=',
    'env-or-value': '--build-arg=',
    'one:auto,plain,tty,rawjson,quiet': '--progress=',
    'project:Dockerfile': '-f --file=',
    write: '--iidfile=, -o --output=, --metadata-file=',
    [OTHER_DAEMON]: '--network=, --add-host=, --security-opt=, --secret=, --ssh=, --allow=, --builder=, --cache-from=, --push',
  }),
  operands: [{ rest: 'walk', max: 1 }],
  opensAddresses: true,
  unasked: [{ kind: 'project', name: 'Dockerfile' }, { kind: 'connect' }],
};

const changesCluster: Subcommand = { parse: 'words', operands: [{ rest: CHANGES, min: 1 }] };
const SELECT: Options = optionList({
  none: '-A --all-namespaces, -R --recursive',
  text: '-l --selector=',
  number: '--chunk-size=',
  read: '-f --filename=, -k --kustomize=',
});

export const CONTAINER_PROGRAMS: readonly Program[] = [
  {
    name: 'docker',
    manual: 'docker(1), docker 28.2; docker compose 2 (not checked against the program)',
    parse: 'cobra',
    before: optionList({
      none: '-v --version, -D --debug, --help',
      'one:debug,info,warn,error,fatal': '--log-level=',
      [OTHER_DAEMON]: '-H --host=, -c --context=, --config=, --tls, --tlsverify, --tlscacert=, --tlscert=, --tlskey=',
    }),
    operands: [{ max: 0 }],
    commands: {
      ps: list,
      images: list,
      logs,
      inspect,
      top: { operands: [{ rest: 'text' }] },
      port: { operands: [{ rest: 'text' }] },
      diff: { operands: [{ rest: 'text', max: 1 }] },
      stats: { options: { ...LIST_OPTIONS, '--no-stream': 'none' }, operands: [{ rest: 'text' }] },
      history: { options: { ...LIST_OPTIONS, '-H --human': 'none' }, operands: [{ rest: 'text', max: 1 }] },
      version: { options: { '-f --format=': 'text' }, operands: [{ max: 0 }] },
      info: { options: { '-f --format=': 'text' }, operands: [{ max: 0 }] },
      container: { commands: { ls: { ...list, aliases: ['list', 'ps'] }, inspect, logs } },
      image: { commands: { ls: { ...list, aliases: ['list'] }, inspect, history: list } },
      network: { commands: { ls: { ...list, aliases: ['list'] }, inspect } },
      volume: { commands: { ls: { ...list, aliases: ['list'] }, inspect } },
      system: {
        commands: {
          df: { options: { '-v --verbose': 'none', '--format=': 'text' }, operands: [{ max: 0 }] },
          info: { operands: [{ max: 0 }] },
        },
      },
      context: { commands: { ls: list, show: { operands: [{ max: 0 }] } } },
      build: builds,
      buildx: { commands: { build: builds, ls: list, version: { operands: [{ max: 0 }] } } },
      run: runs,
      exec: runs,
      ...Object.fromEntries(
        [
          'start',
          'stop',
          'restart',
          'kill',
          'rm',
          'rmi',
          'pull',
          'push',
          'tag',
          'cp',
          'commit',
          'save',
          'load',
          'login',
          'logout',
          'create',
        ].map((name) => [name, changes]),
      ),
      compose: {
        options: optionList({
          none: '--all-resources, --compatibility, --dry-run',
          'project:services': '-f --file=',
          names: '--project-directory=',
          text: '-p --project-name=, --profile=',
          'one:auto,always,never': '--ansi=',
          'one:auto,tty,plain,json,quiet': '--progress=',
          'unclear:variables come from a file': '--env-file=',
        }),
        commands: {
          ps: { options: { ...LIST_OPTIONS, '--services': 'none', '--status=': 'text' }, operands: [{ rest: 'text' }] },
          ls: list,
          images: list,
          logs,
          top: { operands: [{ rest: 'text' }] },
          version: { options: { '--short': 'none', '-f --format=': 'text' }, operands: [{ max: 0 }] },
          config: {
            options: optionList({ none: '-q --quiet, --services, --volumes, --images, --profiles', write: '-o --output=' }),
            // Otherwise it shows the values of variables, those of `.env` among them.
            needs: [['-q', '--services', '--volumes', '--images', '--profiles']],
            operands: [{ rest: 'text' }],
          },
          up: {
            options: optionList({
              none: '-d --detach, --build, --no-build, --force-recreate, --no-deps, --wait, --remove-orphans, --quiet-pull, --no-recreate, -V --renew-anon-volumes',
              number: '-t --timeout=, --wait-timeout=',
            }),
            operands: [{ rest: 'text' }],
            unasked: [{ kind: 'project', name: 'services of compose' }, { kind: 'connect' }],
          },
          build: {
            options: optionList({ none: '--no-cache, --pull, -q --quiet' }),
            operands: [{ rest: 'text' }],
            unasked: [{ kind: 'project', name: 'Dockerfile' }, { kind: 'connect' }],
          },
          down: {
            options: optionList({ none: '--remove-orphans', number: '-t --timeout=', [CHANGES]: '-v --volumes, --rmi=' }),
            operands: [{ rest: 'text' }],
            unasked: [{ kind: 'project', name: 'services of compose' }],
          },
          restart: {
            options: { '-t --timeout=': 'number' },
            operands: [{ rest: 'text' }],
            unasked: [{ kind: 'project', name: 'services of compose' }],
          },
          stop: {
            options: { '-t --timeout=': 'number' },
            operands: [{ rest: 'text' }],
            unasked: [{ kind: 'project', name: 'services of compose' }],
          },
          exec: runs,
          run: runs,
        },
      },
    },
    ambient: ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'COMPOSE_FILE', 'COMPOSE_PROJECT_NAME'],
  },
  {
    name: 'kubectl',
    manual: 'kubectl help, kubectl 1.32',
    parse: 'cobra',
    before: optionList({
      text: '-n --namespace=, --request-timeout=',
      number: '-v --v=',
      [OTHER_DAEMON]: `
        --context=, --cluster=, --kubeconfig=, -s --server=, --token=, --user=, --as=, --as-group=, --certificate-authority=,
        --client-certificate=, --client-key=, --insecure-skip-tls-verify[=], --cache-dir=, --tls-server-name=`,
      none: '-h --help',
    }),
    operands: [{ max: 0 }],
    commands: {
      get: {
        options: {
          ...SELECT,
          ...optionList({
            none: '--show-labels, --show-kind, --show-managed-fields, --no-headers, -w --watch, --watch-only, --ignore-not-found, --output-watch-events',
            text: '--field-selector=, -L --label-columns=, --sort-by=, --subresource=',
            // jsonpath-file and the like read files.
            'one:json,yaml,wide,name,kyaml': '-o --output=',
            'unclear:a template can come from a file': '--template=, --raw=',
          }),
        },
        operands: [{ rest: 'text' }],
        unasked: [{ kind: 'connect' }],
      },
      describe: {
        options: { ...SELECT, '--show-events[=]': 'one:true,false' },
        operands: [{ rest: 'text' }],
        unasked: [{ kind: 'connect' }],
      },
      logs: {
        options: optionList({
          none: '--all-containers, --all-pods, -f --follow, --ignore-errors, --prefix, -p --previous, --timestamps',
          text: '-c --container=, -l --selector=, --since=, --pod-running-timeout=',
          number: '--tail=, --limit-bytes=, --max-log-requests=',
          date: '--since-time=',
        }),
        operands: [{ rest: 'text' }],
        unasked: [{ kind: 'connect' }],
      },
      top: {
        commands: Object.fromEntries(
          ['pods', 'pod', 'nodes', 'node'].map((name) => [
            name,
            {
              options: { ...SELECT, '--containers': 'none', '--sort-by=': 'text' },
              operands: [{ rest: 'text' as const }],
              unasked: [{ kind: 'connect' as const }],
            },
          ]),
        ),
      },
      explain: {
        options: { '--recursive': 'none', '--api-version=': 'text' },
        operands: [{ rest: 'text' }],
        unasked: [{ kind: 'connect' }],
      },
      version: {
        options: { '--client[=]': 'one:true,false', '-o --output=': 'one:json,yaml' },
        operands: [{ max: 0 }],
        unasked: [{ kind: 'connect' }],
      },
      'cluster-info': { operands: [{ max: 0 }], unasked: [{ kind: 'connect' }] },
      'api-resources': {
        options: optionList({
          none: '--no-headers, --cached',
          'one:true,false': '--namespaced[=]',
          text: '--api-group=, --verbs=',
          'one:wide,name': '-o --output=',
        }),
        operands: [{ max: 0 }],
        unasked: [{ kind: 'connect' }],
      },
      config: {
        commands: {
          'current-context': { operands: [{ max: 0 }] },
          'get-contexts': { options: { '--no-headers': 'none', '-o --output=': 'one:name' }, operands: [{ rest: 'text' }] },
        },
      },
      rollout: {
        commands: {
          status: {
            options: { '-w --watch[=]': 'one:true,false', '--timeout=': 'text' },
            operands: [{ rest: 'text' }],
            unasked: [{ kind: 'connect' }],
          },
          history: { operands: [{ rest: 'text' }], unasked: [{ kind: 'connect' }] },
        },
      },
      diff: { options: SELECT, operands: [{ max: 0 }], unasked: [{ kind: 'connect' }, { kind: 'run', program: 'diff' }] },
      ...Object.fromEntries(
        [
          'apply',
          'create',
          'delete',
          'edit',
          'patch',
          'replace',
          'scale',
          'set',
          'label',
          'annotate',
          'expose',
          'run',
          'exec',
          'attach',
          'cp',
          'port-forward',
          'proxy',
          'debug',
          'drain',
          'cordon',
          'uncordon',
          'taint',
        ].map((name) => [name, changesCluster]),
      ),
    },
    opensAddresses: true,
    ambient: ['KUBECONFIG', 'KUBECTL_EXTERNAL_DIFF', 'KUBE_EDITOR'],
  },
];
