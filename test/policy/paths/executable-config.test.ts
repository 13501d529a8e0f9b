// The files that make programs run something: every preset asks about changes to them, or refuses them.
import { describe, expect, test } from 'vitest';
import { commandAction, pathAction } from '../../../src/policy/actions/surfaces.ts';
import { decide } from '../../../src/policy/decide.ts';
import { combine } from '../../../src/policy/rules/layers.ts';
import { fileText, PLACE, policyFile } from '../support.ts';

const FILES = `
  .git .git/config .git/hooks/pre-commit .git/info/attributes .git/commondir .git/HEAD .git/worktrees/a/config.worktree
  .git/config.worktree .git/modules/a/config .git/rebase-merge/git-rebase-todo HEAD commondir bare.git/hooks/update .gitattributes .gitmodules
  .husky/pre-push .githooks/pre-commit package.json packages/a/package.json .npmrc .yarnrc.yml .yarn/releases/yarn.cjs .pnp.cjs
  pnpm-workspace.yaml pyproject.toml setup.py conftest.py requirements.txt requirements-dev.txt Cargo.toml build.rs .cargo/config.toml go.mod
  go.work Gemfile a.gemspec pom.xml build.gradle sub/deps.gradle a.csproj Directory.Build.props Makefile rules.mk CMakeLists.txt
  CMakePresets.json Dockerfile compose.yaml justfile WORKSPACE .bazelrc vite.config.ts .eslintrc.js .pre-commit-config.yaml lefthook.yml
  .mise.toml .envrc .tool-versions flake.nix .devcontainer/devcontainer.json .devcontainer.json .github/workflows/ci.yml .gitlab-ci.yml
  Jenkinsfile .vscode/tasks.json .idea/workspace.xml .zed/tasks.json a.code-workspace .nvim.lua .dir-locals.el .claude/settings.json
  .codex/config.toml .gemini/settings.json .kiro/hooks/a .mcp.json .cursorrules .mocharc.jsonc .prettierrc.toml .prettierrc.json5
  .eslintrc.mts tslint.json mypy.ini .pylintrc .coveragerc .pdbrc .rspec .rubocop.yml .irbrc .Rprofile .ghci ansible.cfg phpunit.xml
  .php-cs-fixer.php build.sbt .justfile Guardfile .bundle/config .lldbinit .gitpod.yml .gitea/workflows/ci.yml .teamcity/settings.kts
  .git/objects/info/alternates karma.conf.js jest.setup.ts vitest.workspace.ts anything.config.mts .anythingrc .anythingrc.toml gulpfile.mjs
  Gruntfile.js dangerfile.ts angular.json .storybook/main.ts .changeset/config.json .golangci.yaml .pre-commit-hooks.yaml package.json5
  package.yaml gradle/wrapper/gradle-wrapper.properties project/plugins.sbt helmfile.yaml build.zig dune-project .formatter.exs .hg/hgrc
  wrangler.toml knip.config.ts .kilocode/mcp.json .junie/mcp/mcp.json .amazonq/mcp.json crush.json .pi/settings.json`;
const ALL = FILES.trim().split(/\s+/);

describe.each(['standard', 'careful', 'ci', 'readonly', 'console'])('under %s no change goes through unasked', (name) => {
  const policy = combine([{ name: 'user', policy: policyFile(fileText(`config/policies/${name}.yaml`), name) }]);

  test('by an edit', () => {
    expect(ALL.filter((file) => decide(policy, pathAction(PLACE, 'edit', `/work/project/${file}`)).verdict === 'allow')).toEqual([]);
  });

  test('by a redirection', () => {
    expect(ALL.filter((file) => decide(policy, commandAction(PLACE, `echo x > ${file}`)).verdict === 'allow')).toEqual([]);
  });

  test('by an edit in place', () => {
    expect(ALL.filter((file) => decide(policy, commandAction(PLACE, `sed -n -i p ${file}`)).verdict === 'allow')).toEqual([]);
  });
});

test('ordinary files are none of them', () => {
  const policy = combine([{ name: 'user', policy: policyFile(fileText('config/policies/standard.yaml'), 'standard') }]);
  const files = [
    'src/a.ts',
    'README.md',
    'src/package.ts',
    'docs/makefile.md',
    'test/a.test.ts',
    'src/config.ts',
    'a.json',
    'head.ts',
    'src/rc.ts',
    'src/app-config.ts',
    'src/setup.ts',
    'data.config.json',
    '.changeset/brave-cats.md',
    'docs/gulpfile.md',
    'src/workspace.ts',
  ];
  expect(files.filter((file) => decide(policy, pathAction(PLACE, 'edit', `/work/project/${file}`)).verdict !== 'allow')).toEqual([]);
});
