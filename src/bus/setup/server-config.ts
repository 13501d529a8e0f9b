// The configuration files of NATS servers: one server, or a cluster that survives the loss of a server. Pure.
import { type Grants, grantsOf, type Member } from './grants.ts';

export type Server = {
  readonly name: string;
  /** A name or an IP address, without brackets. */
  readonly host: string;
  /** For clients. */
  readonly port: number;
};

/** Members by tenant. */
export type Tenants = ReadonlyMap<string, readonly Member[]>;

/** Servers of a cluster reach each other here. */
export const clusterPort = ({ port }: Server): number => port + 2000;

export const addressOf = ({ host, port }: Pick<Server, 'host' | 'port'>): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Paths are relative to the directory in which the server starts. */
export function serverConfig(server: Server, all: readonly Server[]): string {
  const tls = ['cert_file: "cert.pem"', 'key_file: "key.pem"'];
  const lines = [
    `# NATS server "${server.name}" of a switchboard bus. Start it in this directory: nats-server --config nats.conf`,
    '# To apply changes of accounts.conf to a running server: nats-server --signal reload',
    `server_name: "${server.name}"`,
    `listen: "${addressOf(server)}"`,
    `tls { ${tls.join(', ')} }`,
    'jetstream { store_dir: "data" }',
    'include "accounts.conf"',
  ];
  if (all.length === 1) return `${lines.join('\n')}\n`;
  const at = (one: Server) => addressOf({ host: one.host, port: clusterPort(one) });
  return `${[
    ...lines,
    'cluster {',
    '  name: "switchboard"',
    `  listen: "${at(server)}"`,
    // Only servers have certificates of this authority.
    `  tls { ${[...tls, 'ca_file: "ca.pem"', 'verify: true'].join(', ')} }`,
    `  routes: [${all
      .filter((one) => one !== server)
      .map((one) => `"tls://${at(one)}"`)
      .join(', ')}]`,
    '}',
  ].join('\n')}\n`;
}

/** An account for each tenant: nothing passes between them. Without a key that is listed here, nobody gets in. */
export function accountsConfig(tenants: Tenants): string {
  const accounts = [...tenants].map(([tenant, members]) => {
    const users = members.map((member) => userOf(tenant, member));
    return `  "${tenant}" {\n    jetstream: enabled\n    users: [\n${users.join('\n')}\n    ]\n  }`;
  });
  return `# The tenants and users of a switchboard bus. Every server has the same. It contains public keys only.
accounts {
${accounts.join('\n')}
}
`;
}

function userOf(tenant: string, member: Member): string {
  const { publish, subscribe, answers }: Grants = grantsOf(tenant, member);
  const list = (all: readonly string[]) => `[${all.map((one) => JSON.stringify(one)).join(', ')}]`;
  const lines = [
    `      # ${member.role} ${member.name}`,
    `      { nkey: "${member.key}", permissions: {`,
    `        publish: { allow: ${list(publish)} }`,
    `        subscribe: { allow: ${list(subscribe)} }`,
    // To where the question says, once.
    ...(answers ? ['        allow_responses: { max: 1, expires: "1m" }'] : []),
    '      } }',
  ];
  return lines.join('\n');
}
