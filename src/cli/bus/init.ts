// `switchboard bus init`: writes the configuration of NATS servers, and a key with its settings for each process that uses them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { NAME } from '../../bus/bus.ts';
import { createUserKey, publicKeyOf } from '../../bus/nats-login.ts';
import {
  AUTHORITY,
  clusterFiles,
  memberOf,
  memberPath,
  newAuthority,
  SERVERS,
  SETTINGS,
  seedPath,
  serverPath,
} from '../../bus/setup/cluster-files.ts';
import type { Member, Role } from '../../bus/setup/grants.ts';
import { addressOf, type Server } from '../../bus/setup/server-config.ts';
import { makeDirectory, replaceFile } from '../../private-files.ts';
import { CommandFailure } from '../failure.ts';
import { printData } from '../policy/output.ts';
import { refuse } from '../resolve-config.ts';
import { say } from '../setup/show-change.ts';

export type BusInitFlags = {
  readonly server?: readonly string[];
  readonly tenant?: readonly string[];
  readonly host?: readonly string[];
  readonly edge?: readonly string[];
  readonly yes?: true;
  readonly json?: true;
};

const DIRECTORY = 'switchboard-bus';
const PORT = 4222;
const PERSON = /^[\w.@+-]{1,100}$/;

type Named = { readonly tenant: string; readonly role: Role; readonly name: string };

export function busInit(given: string | undefined, flags: BusInitFlags): number {
  const dir = path.resolve(given ?? DIRECTORY);
  const isThere = existsSync(dir) && readdirSync(dir).length > 0;
  const servers = serversOf(flags.server);
  const wanted = membersOf(flags, isThere);
  if (isThere && !flags.yes)
    throw new CommandFailure(
      2,
      `${dir} is not empty`,
      'to add to a bus that is there and write its files again, use --yes; its keys are kept',
    );
  if (isThere && !existsSync(path.join(dir, SERVERS)))
    throw new CommandFailure(2, `${dir} contains files that are not a bus`, 'name another directory: switchboard bus init DIR');
  const before = isThere ? readCluster(dir) : undefined;
  const seeds = new Map<string, string>();
  const tenants = new Map<string, Member[]>();
  const all = [...(before?.members ?? []), ...wanted].flatMap((one) => [one, ...officesOf(one.tenant)]);
  for (const { tenant, role, name } of all) {
    const file = seedPath(tenant, { role, name });
    if (seeds.has(file)) continue;
    const { seed, key } = keyAt(path.join(dir, file));
    seeds.set(file, seed);
    tenants.set(tenant, [...(tenants.get(tenant) ?? []), { role, name, key }]);
  }
  const now = Date.now();
  const authority = before?.authority ?? newAuthority(now);
  const cluster = { servers: servers ?? before?.servers ?? [serverAt('127.0.0.1', 0)], tenants, seeds, authority };
  const files = clusterFiles(cluster, now);
  for (const { path: file, text } of files) write(path.join(dir, file), text);
  report(dir, cluster.servers, tenants, files.length, before !== undefined, flags.json === true);
  return 0;
}

/** Who looks after a tenant. */
const officesOf = (tenant: string): readonly Named[] => (['control', 'admin'] as const).map((role) => ({ tenant, role, name: role }));

function membersOf({ tenant: tenants = [], host: hosts, edge: edges }: BusInitFlags, isThere: boolean): readonly Named[] {
  for (const tenant of tenants) if (!NAME.test(tenant)) throw nameFailure('tenant', tenant, 'letters, digits, "_" and "-"');
  const [first = 'default'] = tenants;
  const isNew = !isThere && hosts === undefined && edges === undefined;
  const named = (role: Role, all: readonly string[], form: RegExp): readonly Named[] =>
    all.map((one) => {
      const [, tenant = first, name = ''] = /^(?:([^/]*)\/)?(.*)$/.exec(one) ?? [];
      if (!NAME.test(tenant)) throw nameFailure('tenant', tenant, 'letters, digits, "_" and "-"');
      if (!form.test(name)) throw nameFailure(role, name, role === 'host' ? 'letters, digits, "_" and "-"' : 'letters, digits and "_.@+-"');
      return { tenant, role, name };
    });
  return [
    ...(isThere && tenants.length === 0 ? [] : tenants.length === 0 ? [first] : tenants).flatMap((tenant) => officesOf(tenant)),
    ...named('host', hosts ?? (isNew ? [os.hostname().replaceAll(/[^\w-]/g, '-')] : []), NAME),
    ...named('edge', edges ?? (isNew ? [os.userInfo().username.replaceAll(/[^\w.@+-]/g, '-')] : []), PERSON),
  ];
}

const nameFailure = (what: string, name: string, characters: string): CommandFailure =>
  new CommandFailure(2, `invalid ${what} name "${name}"`, `use ${characters}; for a member of another tenant: TENANT/NAME`);

function serversOf(given: readonly string[] | undefined): readonly Server[] | undefined {
  if (given === undefined) return undefined;
  if (given.length !== 1 && given.length !== 3 && given.length !== 5)
    throw new CommandFailure(2, `${given.length} servers cannot be a cluster`, 'name 1 server, or 3 or 5: of those, 1 or 2 may be lost');
  const servers = given.map(serverAt);
  if (new Set(servers.map(addressOf)).size < servers.length)
    throw new CommandFailure(2, 'a server is named twice', 'name each --server once');
  return servers;
}

function serverAt(text: string, at: number): Server {
  const [, bracketed, plain, port] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? (/^[\da-fA-F:.]+$/.test(text) ? text : undefined);
  if (host === undefined || Number(port ?? PORT) > 63_000)
    throw new CommandFailure(
      2,
      `invalid server "${text}"`,
      'use a name or an address, such as --server 10.0.0.5 or --server nats-1.example:4222',
    );
  return { name: `n${at + 1}`, host, port: Number(port ?? PORT) };
}

/** What a directory has from an earlier run. A member whose directory was removed is not a member any more. */
function readCluster(dir: string) {
  const { servers } = JSON.parse(read(path.join(dir, SERVERS))) as { servers: readonly Server[] };
  const below = (folder: string) => readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [one.name] : []));
  const members = below(path.join(dir, 'tenants')).flatMap((tenant) =>
    below(path.join(dir, 'tenants', tenant)).flatMap((name) => {
      const member = memberOf(name);
      return member ? [{ tenant, ...member }] : [];
    }),
  );
  return { servers, members, authority: { cert: read(path.join(dir, AUTHORITY.cert)), key: read(path.join(dir, AUTHORITY.key)) } };
}

function keyAt(file: string): { readonly seed: string; readonly key: string } {
  if (!existsSync(file)) return createUserKey();
  const text = read(file);
  const key = publicKeyOf(text);
  if (key === undefined)
    throw new CommandFailure(1, `${file} contains no key`, 'to make a new one, remove the file and run the command again');
  return { seed: text.replaceAll(/^#.*\n/gm, '').trim(), key };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return refuse('the file', file, error);
  }
}

function write(file: string, text: string): void {
  try {
    makeDirectory(path.dirname(file));
    replaceFile(file, text);
  } catch (error) {
    throw new CommandFailure(
      1,
      `cannot write ${file} (${(error as NodeJS.ErrnoException).code})`,
      'check the directory and its permissions',
    );
  }
}

function report(
  dir: string,
  servers: readonly Server[],
  tenants: ReadonlyMap<string, readonly Member[]>,
  count: number,
  isChanged: boolean,
  isJson: boolean,
): void {
  const members = [...tenants].flatMap(([tenant, all]) =>
    all.map((member) => ({ tenant, ...member, settings: path.join(dir, memberPath(tenant, member), SETTINGS) })),
  );
  if (isJson)
    return printData({
      directory: dir,
      servers: servers.map((server) => ({ ...server, directory: path.join(dir, serverPath(server)) })),
      members: members.map(({ tenant, role, name, settings }) => ({ tenant, role, name, settings })),
    });
  const rows: (readonly [string, string])[] = [
    ...servers.map((server) => {
      const run = isChanged ? 'nats-server --signal reload' : 'nats-server --config nats.conf';
      return [`server ${addressOf(server)}`, `there, in ${serverPath(server)}: ${run}`] as const;
    }),
    ...members
      .filter(({ role }) => role === 'admin')
      .map(({ tenant, settings }) => [`tenant ${tenant}, once`, `switchboard bus create --bus ${settings}`] as const),
    ...members
      .filter(({ role }) => role === 'host')
      .map(({ name }) => [`host ${name}`, `switchboard host --bus host-${name}/${SETTINGS}`] as const),
    ...members
      .filter(({ role }) => role === 'edge')
      .map(({ name }) => [`edge ${name}`, `switchboard acp --bus edge-${name}/${SETTINGS}`] as const),
    ['audit logs', `switchboard audit collect --bus control/${SETTINGS} --follow`],
    ['check', 'switchboard doctor --bus FILE, with any bus.json'],
  ];
  say(
    `Written: ${count} files in ${dir}. Keys are in it: give each machine its own directory of servers/ or tenants/ only, and keep ${AUTHORITY.key}.`,
  );
  say('Next:');
  const width = Math.max(...rows.map(([where]) => where.length));
  for (const [where, what] of rows) say(`  ${where.padEnd(width)}  ${what}`);
}
