// `switchboard token`: access tokens for clients that connect over the network.
import { createToken, listTokens, ROLES, type Role, revokeToken, TOKEN_NAME } from '../../store/tokens.ts';
import { CommandFailure } from '../failure.ts';
import { printJson, printTable } from '../output.ts';
import { surroundings } from '../resolve-config.ts';

export type TokenFlags = { readonly json?: true; readonly role?: string; readonly expires?: string };

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

export function tokenCreate(name: string, { role, expires, json }: TokenFlags): number {
  if (!TOKEN_NAME.test(name))
    throw new CommandFailure(
      2,
      `invalid token name "${name}"`,
      'start with a letter or digit; use letters, digits, ".", "_" and "-", at most 64',
    );
  if (!isRole(role))
    throw new CommandFailure(2, role === undefined ? 'a role is required' : `unknown role "${role}"`, `--role ${ROLES.join('|')}`);
  const createdAt = new Date().toISOString();
  const expiresAt = expires === undefined ? undefined : new Date(Date.now() + durationMs(expires)).toISOString();
  const { stateDir } = surroundings({});
  const token = createToken(stateDir, { name, role, createdAt, expiresAt });
  if (token === undefined)
    throw new CommandFailure(2, `token "${name}" already exists`, `choose another name, or run: switchboard token revoke ${name}`);
  if (json) printJson({ name, role, expiresAt: expiresAt ?? null, token });
  else {
    process.stdout.write(`${token}\n`);
    const until = expiresAt === undefined ? '' : `, until ${expiresAt}`;
    process.stderr.write(
      `Token "${name}" with the role ${role}${until}. It is not shown again: put it into SWITCHBOARD_TOKEN or a file.\n`,
    );
  }
  return 0;
}

export function tokenList({ json }: TokenFlags): number {
  const tokens = listTokens(surroundings({}).stateDir).map((token) => ({ ...token, isExpired: isExpired(token.expiresAt) }));
  if (json) printJson({ tokens });
  else if (tokens.length === 0)
    process.stdout.write('There are no tokens. To create one, run: switchboard token create NAME --role client\n');
  else
    printTable(
      ['TOKEN', 'ROLE', 'CREATED', 'EXPIRES'],
      tokens.map(({ name, role, createdAt, expiresAt, isExpired: over }) => [
        name,
        role,
        createdAt,
        over ? 'expired' : (expiresAt ?? 'never'),
      ]),
    );
  return 0;
}

export function tokenRevoke(name: string, { json }: TokenFlags): number {
  if (!revokeToken(surroundings({}).stateDir, name))
    throw new CommandFailure(4, `there is no token "${name}"`, 'to see the tokens, run: switchboard token list');
  if (json) printJson({ name, revoked: true });
  else process.stdout.write(`Token "${name}" is revoked; a running daemon ends its connections within seconds.\n`);
  return 0;
}

const isRole = (role: string | undefined): role is Role => ROLES.some((one) => one === role);

const isExpired = (expiresAt: string | undefined): boolean => expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();

/** `30d`, `12h`, `90m`, `2w`. */
function durationMs(text: string): number {
  const [, count, unit] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS_MS[unit ?? ''] ?? Number.NaN);
  if (Number.isFinite(ms) && ms > 0) return ms;
  throw new CommandFailure(2, `invalid duration "${text}"`, 'use a number and m, h, d or w, such as 30d');
}
