// Regenerates the screenshots of the console in docs/images, in both themes: node scripts/console-images.mjs [NAME …], after a build.
// Needs Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const POLICY = `version: 1
default: ask

deny:
  - { id: secrets, path: ["**/.env", "**/*.key"], reason: nobody reads these }

allow:
  - read($cwd/**)
  - id: look-around
    action: execute
    command: ["ls|cat|head|wc|rg ..."]
    path: "$cwd/**"

agents:
  "*": { on_violation: log }
`;

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const images = path.join(root, 'docs', 'images');
const place = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'switchboard-images-'));
const project = path.join(place, 'ada', 'garden');
mkdirSync(project, { recursive: true });
mkdirSync(images, { recursive: true });
writeFileSync(path.join(project, 'shed.md'), '# The shed\n\n- 2 m by 3 m\n- a window to the south\n- a green door\n');

const configs = path.join(place, 'ada', '.config');
mkdirSync(path.join(configs, 'acp-switchboard'), { recursive: true });
writeFileSync(path.join(configs, 'acp-switchboard', 'console-policy.yaml'), POLICY);

const garden = Array.from({ length: 24 }, (_, n) => `  bed${n + 1}: { length: ${1 + (n % 4)} },`);
const code = (lines) => `${lines.join('\n')}\n`;
const beds = (from, to) => garden.slice(from, to);
writeFileSync(
  path.join(project, 'garden.ts'),
  code([
    "export const shed = { door: 'green' };",
    'export const beds = {',
    ...beds(0, 12),
    '  // paths',
    ...beds(12),
    '};',
    'water(beds, 2);',
  ]),
);

const demo = (name) => ({
  command: process.execPath,
  args: [path.join(root, 'dist', 'demo-agent.js'), '--name', name, '--state', path.join(place, name)],
});
const gardener = { command: process.execPath, args: [path.join(root, 'scripts', 'picture-agent.mjs')] };
const config = path.join(place, 'config.json');
writeFileSync(config, JSON.stringify({ agent_servers: { sketcher: demo('sketcher'), builder: demo('builder'), gardener } }));
const serving = spawn(process.execPath, [path.join(root, 'bin', 'switchboard.js'), 'serve', '--config', config], {
  cwd: project,
  env: {
    PATH: process.env.PATH,
    HOME: place,
    XDG_CONFIG_HOME: configs,
    SWITCHBOARD_HOME: path.join(place, 'state'),
  },
  stdio: ['ignore', 'pipe', 'ignore'],
});
const exited = once(serving, 'exit');
let browser;
try {
  const link = await new Promise((resolve, reject) => {
    let output = '';
    serving.stdout.on('data', (data) => {
      output += data;
      const [found] = /http:\S+/.exec(output) ?? [];
      if (found) resolve(found);
    });
    void exited.then(() => reject(new Error(`serve has ended: ${output}`)));
  });
  const { origin } = new URL(link);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run', '--disable-sync'],
  });
  const context = await browser.newContext({ viewport: { width: 1120, height: 700 }, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole('heading', { name: 'Sessions' }).waitFor();

  async function begin(agent) {
    await page.goto(`${origin}/#/new`);
    await page.getByRole('radio', { name: agent }).check();
    await page.getByRole('button', { name: 'Begin' }).click();
    await page.getByLabel('Prompt').waitFor();
  }
  async function prompt(words, answer) {
    const before = await page.locator('.end').count();
    await page.getByLabel('Prompt').fill(words);
    await page.getByLabel('Prompt').press('Enter');
    if (answer) await page.locator('.request-card').getByRole('button', { name: answer }).first().click();
    if (answer !== null) await page.waitForFunction((count) => document.querySelectorAll('.end').length > count, before);
  }
  const wanted = process.argv.slice(2);
  async function take(name) {
    if (wanted.length > 0 && !wanted.includes(name)) return;
    for (const [colorScheme, suffix] of [
      ['dark', '-dark'],
      ['light', ''],
    ]) {
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(400);
      await page.screenshot({ path: path.join(images, `console-${name}${suffix}.png`) });
    }
  }

  await begin('Gardener');
  await prompt('Look at garden.ts');
  const text = readFileSync(path.join(project, 'garden.ts'), 'utf8');
  writeFileSync(path.join(project, 'garden.ts'), text.replace('bed12: { length: 4 }', 'bed12: { length: 9 }'));
  await page.getByRole('button', { name: 'Apply…' }).click();
  await page.locator('.apply').waitFor();
  await page.locator('.scroll').evaluate((element) => element.scrollTo(0, 60));
  await take('apply');
  await begin('Builder');
  await prompt('How wide should the door be?');
  await begin('Sketcher');
  await prompt('/plan the garden path');
  await begin('Builder');
  await prompt('/run ls -l --color=always');
  await begin('Sketcher');
  await prompt('/plan a garden shed');
  await prompt('/edit shed.md', null);
  await page.locator('.request-card .diff').waitFor();
  await take('chat');
  await page.setViewportSize({ width: 390, height: 700 });
  await take('narrow');
  await page.setViewportSize({ width: 1120, height: 700 });
  await page.goto(`${origin}/#/inbox`);
  await page.locator('.request-card .diff').waitFor();
  await take('requests');
  await page.locator('.request-card').getByRole('button', { name: 'Always' }).first().click();
  await page.getByText(', under allow').waitFor();
  await take('rule');
  await page.getByRole('button', { name: 'Back' }).click();
  await page.goto(`${origin}/#/policy`);
  await page.getByLabel('What', { exact: true }).fill('cp shed.md notes.md && git push');
  await page.locator('.answer').waitFor();
  await take('policy');
  await page.goto(`${origin}/#/frames`);
  await page.locator('.frame').first().waitFor();
  await page.locator('.frame', { hasText: 'session/request_permission' }).last().click();
  await page.locator('.detail [role=tabpanel]').waitFor();
  await take('frames');
} finally {
  await browser?.close();
  serving.kill('SIGINT');
  await exited;
  rmSync(place, { recursive: true, force: true });
}
