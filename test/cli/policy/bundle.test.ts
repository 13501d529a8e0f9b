// `switchboard policy bundle`, from the key to the bus, and every way in which it says no.
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { generateKey, signBundle } from '../../../src/bus/policy/bundle.ts';
import { busOverWebSocket } from '../../bus/websocket-peer.ts';
import { createHome } from '../command.ts';

const POLICY = 'version: 1\ndeny:\n  - { id: no-rm, command: "rm ..." }\n';

function signer() {
  const home = createHome();
  const run = (...args: string[]) => home.quick(['policy', 'bundle', ...args]);
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
  return { ...home, run, json };
}

describe('a bundle', () => {
  test('is signed with a key that nobody else can read, and its version rises by itself', async () => {
    const { run, json, write, project } = signer();
    write('company.yaml', POLICY);
    const { publicKey } = (await json('keygen')).data;
    expect(publicKey).toMatch(/^ed25519:/);
    expect(statSync(path.join(project, 'policy-key.pem')).mode & 0o777).toBe(0o600);
    expect((await json('sign', 'company.yaml', 'standard')).data).toMatchObject({
      version: 1,
      policies: ['company.yaml', 'standard.yaml'],
      key: publicKey,
    });
    expect((await json('sign', 'company.yaml', 'company.yaml')).data).toMatchObject({
      version: 2,
      policies: ['company.yaml', '2-company.yaml'],
    });
    expect((await json('sign', 'company.yaml', '--number', '40', '--max-age', '12h')).data.version).toBe(40);
    expect((await run('verify', 'policy.bundle', '--key', publicKey)).stdout).toMatch(
      /policy bundle 40 \(company\.yaml\), issued .*, expires .*, signed by ed25519:/,
    );
    expect((await json('verify', 'policy.bundle')).data).toMatchObject({ version: 40, isExpired: false });
  });

  test('warns of rules that have no effect in it', async () => {
    const { run, write } = signer();
    await run('keygen');
    expect((await run('sign', 'standard')).stderr).toContain('allow rules have no effect: a bundle only tightens');
    write('closed.yaml', 'version: 1\ndefault: deny\nallow: [ "read($cwd/**)" ]\n');
    expect((await run('sign', 'closed.yaml')).stderr).toBe('');
  });

  test('explains with its version what a host would decide', async () => {
    const { run, quick, write } = signer();
    write('company.yaml', POLICY);
    await run('keygen');
    await run('sign', 'company.yaml', '--number', '7');
    const { stdout } = await quick(['policy', 'explain', '--bundle', 'policy.bundle', '--command', 'rm x']);
    expect(stdout).toContain('bundle    policy bundle 7 (company.yaml)');
    expect(stdout).toContain('deny by rule no-rm (bundle-7/company.yaml:3)');
    const asJson = await quick(['policy', 'explain', '--bundle', 'policy.bundle', '--command', 'ls', '--json']);
    expect(JSON.parse(asJson.stdout).data).toMatchObject({ verdict: 'allow', bundle: { version: 7 } });
  });

  test('is published once, and never an older one', async () => {
    const bus = await busOverWebSocket();
    try {
      const home = signer();
      home.write('company.yaml', POLICY);
      await home.run('keygen');
      const publish = (...args: string[]) =>
        home.quick(['policy', 'bundle', 'publish', 'policy.bundle', '--bus', bus.url, ...args], { SWITCHBOARD_TOKEN: 'any' });
      await home.run('sign', 'company.yaml', '--number', '5');
      expect((await publish()).stdout).toMatch(/^published: policy bundle 5 /);
      expect((await publish()).stdout).toMatch(/^it is on the bus already: /);
      expect(JSON.parse((await publish('--json')).stdout).data).toMatchObject({ version: 5, isNew: false, tenant: 'default' });
      await home.run('sign', 'company.yaml', '--number', '4');
      expect(await publish()).toMatchObject({ code: 1, stderr: expect.stringContaining('the bus has bundle 5, and versions only rise') });
      writeFileSync(
        path.join(home.project, 'policy.bundle'),
        signBundle(
          { version: 1, issuedAtMs: Date.now(), maxAgeMs: 1000, policies: [{ name: 'p', text: 'version: 1' }] },
          generateKey().privateKey,
        ),
      );
      expect((await publish()).stderr).toContain(
        'warning: what was on the bus before was no bundle of this key: it was signed by ed25519:',
      );
    } finally {
      await bus.stop();
    }
  });
});

describe('what goes wrong', () => {
  const refused = async (
    expected: number,
    message: string,
    args: readonly string[],
    prepare: (home: ReturnType<typeof signer>) => Promise<unknown> | unknown = () => {},
  ) => {
    const home = signer();
    home.write('company.yaml', POLICY);
    await home.run('keygen');
    await home.run('sign', 'company.yaml');
    await prepare(home);
    const { code, stderr } = await home.run(...args);
    expect([code, stderr]).toEqual([expected, expect.stringContaining(message)]);
  };
  const bundle = (change: object, { privateKey } = generateKey()) =>
    signBundle(
      { version: 1, issuedAtMs: Date.now(), maxAgeMs: 60_000, policies: [{ name: 'p', text: 'version: 1' }], ...change },
      privateKey,
    );

  test.each<[string, number, string, readonly string[], ((home: ReturnType<typeof signer>) => unknown)?]>([
    ['a key is never overwritten', 2, 'it exists, and a key is never overwritten', ['keygen']],
    ['a key must have a place', 2, 'cannot write the key', ['keygen', '--out', 'no/such/place']],
    [
      'a key that others can read',
      2,
      'other users can read the private key',
      ['sign', 'company.yaml'],
      ({ project }) => chmodSync(path.join(project, 'policy-key.pem'), 0o640),
    ],
    ['no key', 2, 'cannot read the private key', ['sign', 'company.yaml', '--key', 'none.pem']],
    [
      'what is no key',
      8,
      'no Ed25519 private key',
      ['sign', 'company.yaml', '--key', 'bad.pem'],
      ({ write }) => chmodSync(write('bad.pem', 'x'), 0o600),
    ],
    ['an invalid policy', 6, 'unknown key "denny"', ['sign', 'bad.yaml'], ({ write }) => write('bad.yaml', 'version: 1\ndenny: []\n')],
    ['no policy', 6, 'cannot be read', ['sign', 'none.yaml']],
    ['an invalid time', 2, 'invalid time "soon" for --max-age', ['sign', 'company.yaml', '--max-age', 'soon']],
    ['an invalid version', 2, 'invalid version "0"', ['sign', 'company.yaml', '--number', '0']],
    ['a file that is no bundle is not replaced', 2, 'exists and is no policy bundle', ['sign', 'company.yaml', '--out', 'company.yaml']],
    ['a bundle must have a place', 2, 'cannot write the bundle', ['sign', 'company.yaml', '--out', 'no/such/place']],
    ['no bundle', 2, 'cannot read the bundle', ['verify', 'none']],
    [
      'a forged bundle',
      8,
      'it was forged or changed',
      ['verify', 'policy.bundle'],
      ({ project }) => {
        const file = path.join(project, 'policy.bundle');
        writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), key: generateKey().publicKey }));
      },
    ],
    ['a bundle of another key', 8, 'is signed by ed25519:', ['verify', 'policy.bundle', '--key', generateKey().publicKey]],
    ['what is no public key', 2, '"x" is no public key', ['verify', 'policy.bundle', '--key', 'x']],
    ['an expired bundle', 8, '', ['verify', 'old'], ({ write }) => write('old', bundle({ issuedAtMs: 0 }))],
    [
      'a bundle with an invalid policy',
      8,
      'missing key "version"',
      ['verify', 'odd'],
      ({ write }) => write('odd', bundle({ policies: [{ name: 'p', text: 'deny: []' }] })),
    ],
    ['no bus to publish on', 2, 'a bundle is published on a bus', ['publish', 'policy.bundle']],
    ['a bus that is away', 1, 'cannot reach the bus', ['publish', 'policy.bundle', '--bus', 'nats://127.0.0.1:1']],
  ])('%s', async (_, code, message, args, prepare) => {
    await refused(code, message, args, prepare);
  });
});
