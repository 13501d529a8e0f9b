// The files of a bus on NATS: for each server its configuration and certificate, for each process its key and its settings. Pure but for keys.
import { type Certified, createAuthority, createServerCertificate } from './certificates.ts';
import type { Member, Role } from './grants.ts';
import { accountsConfig, addressOf, type Server, serverConfig, type Tenants } from './server-config.ts';

export type ClusterFile = {
  /** Below the directory of the cluster, with `/`. */
  readonly path: string;
  readonly text: string;
};

/** What a cluster is made of; keys that exist are kept. */
export type Cluster = {
  readonly servers: readonly Server[];
  readonly tenants: Tenants;
  /** By the path of its file. */
  readonly seeds: ReadonlyMap<string, string>;
  readonly authority: Certified;
};

export const AUTHORITY = { cert: 'ca.pem', key: 'ca-key.pem' } as const;
export const SERVERS = 'cluster.json';
export const SETTINGS = 'bus.json';
const SEED = 'bus.nk';

export const newAuthority = (nowMs: number): Certified => createAuthority('switchboard bus', nowMs);

/** Where the files of a member are. There is one `control` and one `admin` for a tenant. */
export const memberPath = (tenant: string, { role, name }: Pick<Member, 'role' | 'name'>): string =>
  `tenants/${tenant}/${role === 'host' || role === 'edge' ? `${role}-${name}` : role}`;

export const seedPath = (tenant: string, member: Pick<Member, 'role' | 'name'>): string => `${memberPath(tenant, member)}/${SEED}`;

export const serverPath = ({ name }: Server): string => `servers/${name}`;

/** The member whose files are in a directory of this name. */
export function memberOf(directory: string): { readonly role: Role; readonly name: string } | undefined {
  if (directory === 'control' || directory === 'admin') return { role: directory, name: directory };
  const [, role, name] = /^(host|edge)-(.+)$/.exec(directory) ?? [];
  return role === undefined || name === undefined ? undefined : { role: role as Role, name };
}

export function clusterFiles({ servers, tenants, seeds, authority }: Cluster, nowMs: number): readonly ClusterFile[] {
  const accounts = accountsConfig(tenants);
  const ofServers = servers.flatMap((server) => {
    const { cert, key } = createServerCertificate(authority, [server.host], nowMs);
    const texts = { 'nats.conf': serverConfig(server, servers), 'accounts.conf': accounts, 'ca.pem': authority.cert };
    return Object.entries({ ...texts, 'cert.pem': cert, 'key.pem': key }).map(([name, text]) => ({
      path: `${serverPath(server)}/${name}`,
      text,
    }));
  });
  const url = servers.map((server) => `tls://${addressOf(server)}`).join(',');
  const ofMembers = [...tenants].flatMap(([tenant, members]) =>
    members.flatMap((member) => {
      const { role, name } = member;
      const settings = {
        url,
        tenant,
        name,
        credentials: SEED,
        tls: { ca: AUTHORITY.cert },
        ...(role === 'admin' && { replicas: servers.length }),
      };
      const at = memberPath(tenant, member);
      return [
        { path: `${at}/${SETTINGS}`, text: `${JSON.stringify(settings, null, 2)}\n` },
        {
          path: `${at}/${SEED}`,
          text: `# The key of ${role} "${name}" of tenant "${tenant}". It gives the rights of this ${role}.\n${seeds.get(`${at}/${SEED}`)}\n`,
        },
        { path: `${at}/${AUTHORITY.cert}`, text: authority.cert },
      ];
    }),
  );
  return [
    { path: AUTHORITY.cert, text: authority.cert },
    { path: AUTHORITY.key, text: authority.key },
    { path: SERVERS, text: `${JSON.stringify({ servers }, null, 2)}\n` },
    ...ofServers,
    ...ofMembers,
  ];
}
