// `$executable-config`: files whose content makes a program run something. Writing one is as good as running a command.

/** The name that rules use for the list. */
export const EXECUTABLE_CONFIG = '$executable-config';

export const EXECUTABLE_CONFIG_GLOBS: readonly string[] = [
  // git: configuration, hooks, attributes (filters, textconv), another repository's place, and the parts of a bare layout.
  '**/.git',
  '**/.git/{config,config.worktree,commondir,HEAD,info/attributes,objects/info/alternates,modules/**,hooks/**,worktrees/**}',
  // Steps of a rebase can be commands.
  '**/.git/{rebase-merge,rebase-apply,sequencer}/**',
  '**/{HEAD,commondir,config.worktree,packed-refs}',
  '**/{*.git/hooks,.husky,.githooks}/**',
  '**/.{gitattributes,gitconfig,gitmodules}',
  '**/.config/git/**',
  // Package managers: manifests with scripts, registries, plugins.
  '**/{package.json,.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,package.json5,package.yaml,pnpm-workspace.yaml,bunfig.toml,deno.json,deno.jsonc,lerna.json,nx.json,turbo.json,.pnp.cjs,.pnp.loader.mjs}',
  '**/.yarn/{releases,plugins,sdks}/**',
  '**/{.pylintrc,pylintrc,.flake8,mypy.ini,.mypy.ini,.coveragerc,.pdbrc,.pythonrc.py,hatch.toml,pdm.toml,ansible.cfg}',
  '**/{pyproject.toml,setup.py,setup.cfg,tox.ini,noxfile.py,conftest.py,pytest.ini,sitecustomize.py,usercustomize.py,pip.conf,.pypirc,Pipfile,requirements*.txt,uv.toml,poetry.toml}',
  '**/*.pth',
  '**/{Cargo.toml,build.rs,rust-toolchain.toml,rust-toolchain,go.mod,go.work,Gemfile,gems.rb,Rakefile,Podfile,pubspec.yaml,stack.yaml,rebar.config,composer.json,pom.xml,mix.exs,Package.swift}',
  '**/{.rspec,.rubocop.yml,.irbrc,.pryrc,.simplecov,Guardfile,Capfile,Dangerfile,Brewfile,Fastfile,.Rprofile,.Renviron,.ghci,cabal.project,.ocamlinit,build.sbt,.sbtopts,.jvmopts,.formatter.exs,.credo.exs,.iex.exs,Setup.hs,Setup.lhs,build.zig,build.zig.zon,Makefile.PL,Build.PL,dune,dune-project,dune-workspace}',
  '**/{phpunit.xml,phpunit.xml.dist,phpstan.neon,phpstan.neon.dist,psalm.xml,rector.php,.php-cs-fixer.php,.php-cs-fixer.dist.php}',
  '**/.bundle/config',
  '**/.cargo/{config,config.toml}',
  '**/{build.gradle,build.gradle.kts,settings.gradle,settings.gradle.kts,gradle.properties,gradlew,mvnw}',
  '**/{.mvn,gradle/wrapper}/**',
  '**/*.sbt',
  '**/*.{gemspec,cabal,csproj,fsproj,vbproj,vcxproj,sln,props,targets,gradle,cmake}',
  '**/{nuget.config,NuGet.Config,global.json,CMakePresets.json,CMakeUserPresets.json}',
  // Builds.
  '**/{Makefile,makefile,GNUmakefile,CMakeLists.txt,meson.build,SConstruct,Justfile,justfile,.justfile,Taskfile.yml,Taskfile.yaml,Taskfile.dist.yml,BUCK,.buckconfig,pants.toml,terragrunt.hcl,Earthfile,BUILD,BUILD.bazel,WORKSPACE,MODULE.bazel,.bazelrc,Tiltfile,Vagrantfile,Procfile,skaffold.yaml,helmfile.yaml,helmfile.yml,wscript}',
  '**/*.mk',
  '**/{Dockerfile,Containerfile,docker-compose.yml,docker-compose.yaml,compose.yml,compose.yaml,.dockerignore}',
  // Linters, formatters, bundlers and test runners load their configuration as code. What they are called has a form, so any tool counts.
  '**/*.{config,conf,setup,workspace}.{js,cjs,mjs,ts,cts,mts}',
  '**/{vite,vitest,vitest.workspace,jest,babel,eslint,prettier,playwright,cypress,commitlint,lint-staged,stylelint,release,svgo,nodemon,graphql}.config.{json,toml,yaml}',
  '**/.*rc{,.js,.cjs,.mjs,.ts,.cts,.mts,.json,.json5,.jsonc,.toml,.yml,.yaml}',
  '**/{gulpfile,Gulpfile,gruntfile,Gruntfile,dangerfile,Jakefile,jakefile,cakefile,Cakefile}{,.js,.cjs,.mjs,.ts,.cts,.mts,.coffee}',
  '**/{tslint.json,nodemon.json,angular.json,project.json,.tern-project,.golangci.yml,.golangci.yaml,.golangci.toml,.golangci.json}',
  '**/.storybook/**',
  '**/.changeset/config.json',
  '**/.hg/hgrc',
  '**/.jj/repo/config.toml',
  '**/{.pre-commit-config.yaml,.pre-commit-hooks.yaml,lefthook.yml,lefthook.yaml,.lefthook.yml,.overcommit.yml}',
  '**/.{lessfilter,gdbinit,lldbinit,tmux.conf}',
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
