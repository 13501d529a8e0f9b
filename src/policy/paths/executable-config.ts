// `$executable-config`: files whose content makes a program run something. Writing one is as good as running a command.

/** The name that rules use for the list. */
export const EXECUTABLE_CONFIG = '$executable-config';

export const EXECUTABLE_CONFIG_GLOBS: readonly string[] = [
  // git: configuration, hooks, attributes (filters, textconv), another repository's place, and the parts of a bare layout.
  '**/.git',
  '**/.git/{config,config.worktree,commondir,HEAD,info/attributes,modules/**,hooks/**,worktrees/**}',
  // Steps of a rebase can be commands.
  '**/.git/{rebase-merge,rebase-apply,sequencer}/**',
  '**/{HEAD,commondir,config.worktree,packed-refs}',
  '**/{*.git/hooks,.husky,.githooks}/**',
  '**/.{gitattributes,gitconfig,gitmodules}',
  '**/.config/git/**',
  // Package managers: manifests with scripts, registries, plugins.
  '**/{package.json,.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,pnpm-workspace.yaml,bunfig.toml,deno.json,deno.jsonc,lerna.json,nx.json,turbo.json,.pnp.cjs,.pnp.loader.mjs}',
  '**/.yarn/{releases,plugins,sdks}/**',
  '**/{.pylintrc,pylintrc,.flake8,mypy.ini,.mypy.ini,.coveragerc,.pdbrc,.pythonrc.py,hatch.toml,pdm.toml,ansible.cfg}',
  '**/{pyproject.toml,setup.py,setup.cfg,tox.ini,noxfile.py,conftest.py,pytest.ini,sitecustomize.py,usercustomize.py,pip.conf,.pypirc,Pipfile,requirements*.txt,uv.toml,poetry.toml}',
  '**/*.pth',
  '**/{Cargo.toml,build.rs,rust-toolchain.toml,rust-toolchain,go.mod,go.work,Gemfile,gems.rb,Rakefile,Podfile,pubspec.yaml,stack.yaml,rebar.config,composer.json,pom.xml,mix.exs,Package.swift}',
  '**/{.rspec,.rubocop.yml,.irbrc,.pryrc,.simplecov,Guardfile,Capfile,Dangerfile,Brewfile,Fastfile,.Rprofile,.Renviron,.ghci,cabal.project,.ocamlinit,build.sbt,.sbtopts,.jvmopts}',
  '**/{phpunit.xml,phpunit.xml.dist,phpstan.neon,phpstan.neon.dist,psalm.xml,rector.php,.php-cs-fixer.php,.php-cs-fixer.dist.php}',
  '**/.bundle/config',
  '**/.cargo/{config,config.toml}',
  '**/{build.gradle,build.gradle.kts,settings.gradle,settings.gradle.kts,gradle.properties,gradlew,mvnw}',
  '**/.mvn/**',
  '**/*.{gemspec,cabal,csproj,fsproj,vbproj,vcxproj,sln,props,targets,gradle,cmake}',
  '**/{nuget.config,NuGet.Config,global.json,CMakePresets.json,CMakeUserPresets.json}',
  // Builds.
  '**/{Makefile,makefile,GNUmakefile,CMakeLists.txt,meson.build,SConstruct,Justfile,justfile,.justfile,Taskfile.yml,Taskfile.yaml,Taskfile.dist.yml,BUCK,.buckconfig,pants.toml,terragrunt.hcl,Earthfile,BUILD,BUILD.bazel,WORKSPACE,MODULE.bazel,.bazelrc,Tiltfile,Vagrantfile,Procfile,skaffold.yaml}',
  '**/*.mk',
  '**/{Dockerfile,Containerfile,docker-compose.yml,docker-compose.yaml,compose.yml,compose.yaml,.dockerignore}',
  // Linters, formatters and test runners load their configuration as code.
  '**/{vite,vitest,vitest.workspace,jest,babel,webpack,rollup,eslint,prettier,postcss,tailwind,playwright,cypress,next,nuxt,svelte,astro,esbuild,tsup,karma,metro,commitlint,lint-staged,stylelint,release}.config.{js,cjs,mjs,ts,cts,mts,json}',
  '**/{knip,svgo,unocss,nodemon,web-test-runner,vue,remix,drizzle,graphql,lint-staged,prettier}.config.{js,cjs,mjs,ts,mts,json,toml,yaml}',
  '**/.{eslintrc,prettierrc,babelrc,mocharc,lintstagedrc,commitlintrc,stylelintrc,releaserc,nycrc,c8rc,swcrc}{,.js,.cjs,.mjs,.ts,.cts,.mts,.json,.json5,.jsonc,.toml,.yml,.yaml}',
  '**/{tslint.json,nodemon.json,.terserrc.js,.tern-project}',
  '**/{.pre-commit-config.yaml,lefthook.yml,lefthook.yaml,.lefthook.yml,.overcommit.yml}',
  '**/.{ripgreprc,curlrc,wgetrc,lessfilter,psqlrc,sqliterc,gdbinit,lldbinit,tmux.conf,screenrc,terraformrc,inputrc,vimrc,exrc,nvimrc}',
  // Environments and version managers.
  '**/{.mise.toml,mise.toml,.tool-versions,.envrc,.direnvrc,.nvmrc,.node-version,.ruby-version,.python-version,flake.nix,shell.nix,default.nix,devbox.json}',
  '**/{.devcontainer,.mise,.direnv}/**',
  '**/.devcontainer.json',
  // Pipelines.
  '**/{.github,.gitlab,.circleci,.buildkite,.gitea,.forgejo,.semaphore,.teamcity,.tekton}/**',
  '**/{.gitlab-ci.yml,.travis.yml,azure-pipelines.yml,Jenkinsfile,bitbucket-pipelines.yml,renovate.json,.drone.yml,.woodpecker.yml,cloudbuild.yaml,buildspec.yml,netlify.toml,vercel.json,wrangler.toml,wrangler.jsonc,firebase.json,appveyor.yml,.appveyor.yml,.cirrus.yml,.gitpod.yml,.replit,codemagic.yaml,bitrise.yml}',
  // Editors and agents.
  '**/.{vscode,idea,zed,cursor,claude,codex,gemini,qwen,opencode,copilot,continue,cline,aider,windsurf,kiro,roo,augment,factory,amp,goose,fleet,helix,pi,crush,junie,kilocode,kimi,qoder,trae,vibe,amazonq,openhands,nova}/**',
  '**/*.{code-workspace,sublime-project}',
  '**/{.nvim.lua,.dir-locals.el,.lvimrc}',
  '**/{.mcp.json,.claude.json,opencode.json,opencode.jsonc,crush.json,.crush.json,.cursorrules,.goosehints,.windsurfrules,.clinerules,.aider.conf.yml,.editorconfig}',
];
