// `switchboard policy bundle`: makes, checks and publishes the signed policy of all hosts on a bus.
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readPolicyText } from '../../app/read-policy.ts';
import { BusFailure } from '../../bus/bus.ts';
import { subjects } from '../../bus/cluster/records.ts';
import { durationMs, PUBLIC_KEY } from '../../bus/config.ts';
import { generateKey, NoBundle, readBundle, signBundle } from '../../bus/policy/bundle.ts';
import { publishBundle } from '../../bus/policy/publish-bundle.ts';
import { errorCode } from '../../config/watch-files.ts';
import { here } from '../../platform/platform.ts';
import { loadPolicy } from '../../policy/format/load.ts';
import type { PolicyFile } from '../../policy/policy.ts';
import { replaceFile } from '../../private-files.ts';
import { type BusFlags, busOf, connectBus } from '../bus/open-bus.ts';
import { CommandFailure } from '../failure.ts';
import { readInput, resolveConfig } from '../resolve-config.ts';
import { complain, complainAbout, inEnvelope, print, printData } from './output.ts';
import { bundleIn, FOUND_PROBLEMS, inWords, policiesOf, shownBundle, usable } from './signed-bundle.ts';

type Json = { readonly json?: true };
export type KeygenFlags = Json & { readonly out: string };
export type SignFlags = Json & { readonly key: string; readonly out: string; readonly number?: string; readonly maxAge: string };
export type VerifyFlags = Json & { readonly key?: string };
export type PublishFlags = Json & BusFlags & { readonly config?: string };

const INVALID = 6;

export function bundleKeygen({ out, json }: KeygenFlags): Promise<number> {
  return inEnvelope('BUNDLE_KEY', async () => {
    const { privateKey, publicKey } = generateKey();
    const file = path.resolve(out);
    try {
      writeFileSync(file, privateKey, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      const why = errorCode(error) === 'EEXIST' ? 'it exists, and a key is never overwritten' : errorCode(error);
      throw new CommandFailure(2, `cannot write the key ${file} (${why})`, 'name another file: --out FILE');
    }
    if (json) printData({ file, publicKey });
    else {
      print(`private key: ${file} (keep it away from the hosts)`);
      print(`public key:  ${publicKey}`);
      print(`In the configuration of each host: "bus": { "url": "…", "policy": { "key": "${publicKey}" } }`);
    }
    return 0;
  });
}

export function bundleSign(names: readonly string[], flags: SignFlags): Promise<number> {
  return inEnvelope('BUNDLE_INVALID', async () => {
    const maxAgeMs = durationMs(flags.maxAge);
    if (maxAgeMs === undefined || maxAgeMs === 0)
      throw new CommandFailure(2, `invalid time "${flags.maxAge}" for --max-age`, 'use 12h, 7d or the like');
    const out = path.resolve(flags.out);
    const policies: { name: string; text: string }[] = [];
    const loaded: PolicyFile[] = [];
    for (const name of names) {
      const { file, text } = await readPolicyText(name);
      const { policy, problems } = loadPolicy(file, text);
      if (!policy) {
        complainAbout('POLICY_INVALID', problems, flags);
        return INVALID;
      }
      loaded.push(policy);
      policies.push({ name: nameOf(file, policies), text });
    }
    const warnings = warningsAbout(loaded);
    const version = flags.number === undefined ? versionAfter(out) : numberOf(flags.number);
    const issuedAtMs = Date.now();
    const text = usable(() => signBundle({ version, issuedAtMs, maxAgeMs, policies }, privateKeyIn(flags.key)));
    writeBundle(out, text);
    if (flags.json) printData({ file: out, ...shownBundle(readBundle(text)) }, warnings);
    else {
      for (const warning of warnings) complain(`warning: ${warning}`);
      print(`${out}: ${inWords(readBundle(text))}`);
    }
    return 0;
  });
}

export function bundleVerify(file: string, { key, json }: VerifyFlags): Promise<number> {
  return inEnvelope('BUNDLE_INVALID', async () => {
    if (key !== undefined && !PUBLIC_KEY.test(key))
      throw new CommandFailure(2, `"${key}" is no public key`, 'use the line that switchboard policy bundle keygen printed');
    const bundle = await bundleIn(file);
    if (key !== undefined && bundle.key !== key)
      throw new CommandFailure(
        FOUND_PROBLEMS,
        `${file} is signed by ${bundle.key}, and not by ${key}`,
        'hosts that pin the other key refuse it',
      );
    const problems = policiesOf(bundle).flatMap((loaded) => loaded.problems);
    if (problems.length > 0) {
      complainAbout('POLICY_INVALID', problems, { ...(json && { json }) });
      return FOUND_PROBLEMS;
    }
    const isExpired = bundle.issuedAtMs + bundle.maxAgeMs <= Date.now();
    if (json) printData({ file: path.resolve(file), ...shownBundle(bundle), isExpired });
    else print(`${file}: ${inWords(bundle)}${isExpired ? '; hosts refuse it, because it has expired' : ''}`);
    return isExpired ? FOUND_PROBLEMS : 0;
  });
}

export function bundlePublish(file: string, { json, ...flags }: PublishFlags): Promise<number> {
  return inEnvelope('BUNDLE_INVALID', async () => {
    const text = await readInput('the bundle', file);
    const bundle = usable(() => readBundle(text), `${file}: `);
    const { config } = await resolveConfig(flags, () => {});
    const settings = await busOf(flags, config.bus);
    if (!settings || settings.url === 'local:')
      throw new CommandFailure(2, 'a bundle is published on a bus', 'name it: --bus nats://HOST:4222, or set "bus" in the configuration');
    const bus = await connectBus(settings, 'switchboard policy bundle publish');
    try {
      const { isNew, replaced } = await publishBundle(bus, subjects(settings.tenant).policy, Buffer.from(text));
      const warnings = replaced === undefined ? [] : [`what was on the bus before was no bundle of this key: ${replaced}`];
      if (json) printData({ ...shownBundle(bundle), bus: bus.shownUrl, tenant: settings.tenant, isNew }, warnings);
      else {
        for (const warning of warnings) complain(`warning: ${warning}`);
        print(`${isNew ? 'published' : 'it is on the bus already'}: ${inWords(bundle)}`);
        print('To see which hosts obey it, run: switchboard host list');
      }
      return 0;
    } catch (error) {
      if (error instanceof NoBundle)
        throw new CommandFailure(1, error.message, `sign it again with a higher version: switchboard policy bundle sign … --number N`);
      if (error instanceof BusFailure) throw new CommandFailure(1, error.message, 'check the bus: switchboard host list');
      throw error;
    } finally {
      await bus.close();
    }
  });
}

function writeBundle(file: string, text: string): void {
  try {
    replaceFile(file, text);
    chmodSync(file, 0o644); // it is public
  } catch (error) {
    throw new CommandFailure(2, `cannot write the bundle ${file} (${errorCode(error)})`, 'name another file: --out FILE');
  }
}

function warningsAbout(policies: readonly PolicyFile[]): readonly string[] {
  const isClosed = policies.some((policy) => policy.default === 'deny');
  const allows = policies.flatMap(({ rules }) => rules.filter(({ verdict }) => verdict === 'allow'));
  if (isClosed || allows.length === 0) return [];
  return [
    `${allows.length} allow rules have no effect: a bundle only tightens. With "default: deny", what they do not allow is denied on every host`,
  ];
}

function nameOf(file: string, taken: readonly { readonly name: string }[]): string {
  const name = path
    .basename(file)
    .replaceAll(/[^\w.-]/g, '-')
    .slice(-90);
  return taken.some((one) => one.name === name) ? `${taken.length + 1}-${name}` : name;
}

/** One more than the bundle that the new one takes the place of. */
function versionAfter(file: string): number {
  if (!existsSync(file)) return 1;
  try {
    return readBundle(readFileSync(file)).version + 1;
  } catch {
    throw new CommandFailure(2, `${file} exists and is no policy bundle`, 'name another file: --out FILE');
  }
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new CommandFailure(2, `invalid version "${text}"`, 'versions are whole numbers from 1 on, and only rise');
}

function privateKeyIn(file: string): string {
  let text: string;
  try {
    const { mode } = statSync(file);
    if (here.hasModes && (mode & 0o077) !== 0)
      throw new CommandFailure(2, `other users can read the private key ${file}`, `chmod 600 ${file}`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(
      2,
      `cannot read the private key ${file} (${errorCode(error)})`,
      'make one: switchboard policy bundle keygen --out FILE',
    );
  }
  return text;
}
