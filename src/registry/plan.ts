// What an installation will do, decided from an entry of the index. Pure: the index is not trusted, so everything that reaches a command line,
// an environment or a path is checked here.
import { RegistryError } from './registry-error.ts';
import type { Distribution, PackageDistribution, RegistryAgent } from './schema.ts';

export type ArchiveFormat = 'zip' | 'tar.gz' | 'tar.bz2' | 'raw';

export type Source =
  | { readonly kind: 'npx' | 'uvx'; readonly package: string; readonly wanted: string | undefined; readonly program: string | undefined }
  | {
      readonly kind: 'binary';
      readonly target: string;
      readonly url: string;
      readonly sha256: string | undefined;
      readonly program: string;
      readonly format: ArchiveFormat;
    };

export type Plan = {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly source: Source;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

export type Wishes = {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly version?: string | undefined;
  readonly preview?: boolean | undefined;
  /** Only this kind of distribution. */
  readonly from?: Source['kind'] | undefined;
  /** http addresses on this machine are allowed: the index itself comes from there. */
  readonly isLocal?: boolean | undefined;
};

export function planInstall(agent: RegistryAgent, wishes: Wishes): Plan {
  const release = releaseOf(agent, wishes);
  const kind = kindOf(agent, release.distribution, wishes);
  const { npx, uvx, binary = {} } = release.distribution;
  if (kind !== 'binary') {
    const distribution = (kind === 'npx' ? npx : uvx) as PackageDistribution;
    const source = packageSource(agent.id, kind, distribution, release.isOther ? release.version : undefined);
    return { id: agent.id, name: agent.name, version: release.version, source, ...startOf(agent.id, distribution) };
  }
  const target = targetOf(wishes);
  const found = binary[target] as NonNullable<(typeof binary)[string]>;
  const source: Source = {
    kind,
    target,
    url: safeUrl(agent.id, found.archive, wishes.isLocal === true),
    sha256: found.sha256,
    program: programIn(agent.id, found.cmd),
    format: formatOf(agent.id, found.archive),
  };
  return { id: agent.id, name: agent.name, version: release.version, source, ...startOf(agent.id, found) };
}

type Release = {
  readonly version: string;
  readonly distribution: Distribution /** Not in the index; packages keep old versions. */;
  readonly isOther: boolean;
};

function releaseOf(agent: RegistryAgent, { version, preview }: Wishes): Release {
  const releases = [agent, ...(agent.preview ? [agent.preview] : [])];
  if (preview && !agent.preview) throw unavailable(agent.id, 'it has no preview', `the current version is ${agent.version}`);
  if (preview && agent.preview) {
    if (version === undefined || version === agent.preview.version) return { ...agent.preview, isOther: false };
    throw unavailable(agent.id, `its preview is ${agent.preview.version}, not ${version}`, 'leave out the version, or --preview');
  }
  const found = version === undefined ? agent : releases.find((release) => release.version === version);
  if (found) return { version: found.version, distribution: found.distribution, isOther: false };
  const { npx, uvx } = agent.distribution;
  if (!/^\d[\w.+-]*$/.test(version ?? '')) throw unavailable(agent.id, `"${version}" is not an exact version`, 'name one such as 1.2.3');
  if (!npx && !uvx) {
    const have = releases.map((release) => release.version).join(', ');
    throw unavailable(agent.id, `the registry has no version ${version} of it`, `available: ${have}`);
  }
  return { version: version as string, distribution: { npx, uvx }, isOther: true };
}

/** A verified binary first: it needs nothing else. One without a checksum comes last. */
function kindOf(agent: RegistryAgent, { npx, uvx, binary = {} }: Distribution, wishes: Wishes): Source['kind'] {
  const target = targetOf(wishes);
  const here = Object.hasOwn(binary, target) ? binary[target] : undefined;
  const has = { binary: here !== undefined, npx: npx !== undefined, uvx: uvx !== undefined };
  const order: readonly Source['kind'][] = here?.sha256 === undefined ? ['npx', 'uvx', 'binary'] : ['binary', 'npx', 'uvx'];
  const kind = wishes.from === undefined ? order.find((one) => has[one]) : has[wishes.from] ? wishes.from : undefined;
  if (kind !== undefined) return kind;
  const offered = [...Object.keys(binary).map((one) => `binary for ${one}`), ...(npx ? ['npx'] : []), ...(uvx ? ['uvx'] : [])];
  const wanted = wishes.from === undefined || wishes.from === 'binary' ? `for this machine (${target})` : `for ${wishes.from}`;
  throw unavailable(agent.id, `it has no distribution ${wanted}`, `the registry offers: ${offered.join(', ') || 'nothing'}`);
}

const OS: Readonly<Record<string, string>> = { darwin: 'darwin', linux: 'linux', win32: 'windows' };
const ARCH: Readonly<Record<string, string>> = { arm64: 'aarch64', x64: 'x86_64' };

const targetOf = ({ platform, arch }: Pick<Wishes, 'platform' | 'arch'>): string => `${OS[platform] ?? platform}-${ARCH[arch] ?? arch}`;

const NPM_NAME = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~][\w.~-]*$/i;
const PYPI_NAME = /^[a-z0-9](?:[\w.-]*[a-z0-9])?(?:\[[\w.,-]+\])?$/i;
const VERSION_WISH = /^[\w.^~*+!-]+$/;

/** Only packages of the package registry by their name: no addresses, paths, aliases or options. */
function packageSource(id: string, kind: 'npx' | 'uvx', { package: spec, cmd }: PackageDistribution, other: string | undefined): Source {
  const [, name = '', wanted] = /^(.[^@=]*)(?:@|==)?(.+)?$/s.exec(spec) ?? [];
  const isName = (kind === 'npx' ? NPM_NAME : PYPI_NAME).test(name);
  if (!isName || (wanted !== undefined && !VERSION_WISH.test(wanted)))
    throw unavailable(id, `"${spec}" is not the name of a package`, 'report this to the registry');
  if (cmd !== undefined && !/^[\w.-]+$/.test(cmd))
    throw unavailable(id, `"${cmd}" is not the name of a program`, 'report this to the registry');
  return { kind, package: name, wanted: other ?? (wanted === 'latest' ? undefined : wanted), program: cmd };
}

/** Variables that make programs load code, find other programs or send data elsewhere. */
const UNSAFE_VARIABLES =
  /^(?:LD_|DYLD_|NODE_|NPM_CONFIG_|UV_|PIP_|PYTHON|PERL5?|RUBY|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|BASH_ENV|BASH_FUNC|ENV$|ZDOTDIR|IFS$|PATH$|PATHEXT|HOME$|SHELL$|TMPDIR$|EDITOR$|VISUAL$|PAGER$|GIT_|SSH_|SSL_|CURL_|REQUESTS_CA|XDG_|SWITCHBOARD_|COMSPEC|SYSTEMROOT|.*_PROXY$|GCONV_PATH|GLIBC_TUNABLES|MALLOC_|OPENSSL_)/i;

function startOf(
  id: string,
  { args = [], env = {} }: { args?: string[] | undefined; env?: Record<string, string> | undefined },
): Pick<Plan, 'args' | 'env'> {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_]\w*$/.test(name) || UNSAFE_VARIABLES.test(name))
      throw unavailable(id, `it sets the variable ${JSON.stringify(name)}, which changes how programs run`, 'report this to the registry');
    refuseReference(id, value);
  }
  for (const one of args) refuseReference(id, one);
  return { args, env };
}

/** Our configuration replaces references by variables and files of the user. Only the user writes them. */
function refuseReference(id: string, value: string): void {
  if (value.includes('${') || value.includes('\0'))
    throw unavailable(id, 'its arguments or variables refer to your environment or files', 'report this to the registry');
}

/** The program's path inside the archive. */
function programIn(id: string, cmd: string): string {
  const parts = cmd
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  const isInside = parts.length > 0 && !parts.includes('..') && !/^[/\\]|^[A-Za-z]:|[\p{Cc}:]/u.test(cmd);
  if (!isInside) throw unavailable(id, `its command ${JSON.stringify(cmd)} leaves its folder`, 'report this to the registry');
  return parts.join('/');
}

const INSTALLER = /\.(?:dmg|pkg|msi|msix|deb|rpm|apk|appimage|snap|flatpak|run|sh|bat|ps1)$/i;
const OTHER_ARCHIVE = /\.(?:tar|xz|txz|zst|tzst|7z|rar|lz|lzma|br|gz|bz2)$/i;

function formatOf(id: string, url: string): ArchiveFormat {
  const { pathname } = new URL(url);
  if (/\.zip$/i.test(pathname)) return 'zip';
  if (/\.(?:tar\.gz|tgz)$/i.test(pathname)) return 'tar.gz';
  if (/\.(?:tar\.bz2|tbz2)$/i.test(pathname)) return 'tar.bz2';
  const [ending] = INSTALLER.exec(pathname) ?? OTHER_ARCHIVE.exec(pathname) ?? [];
  if (ending !== undefined)
    throw unavailable(id, `${ending} files are not supported`, 'supported: zip, tar.gz, tgz, tar.bz2, tbz2 and single programs');
  return 'raw';
}

function safeUrl(id: string, given: string, isLocal: boolean): string {
  const problem = urlProblem(given, isLocal);
  if (problem !== undefined) throw unavailable(id, `its archive ${problem}`, 'report this to the registry');
  return given;
}

const LOOPBACK = /^(?:localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Why an address must not be fetched. */
export function urlProblem(given: string, isLocal: boolean): string | undefined {
  if (!URL.canParse(given)) return 'is not a valid address';
  const { protocol, hostname, username, password } = new URL(given);
  if (username !== '' || password !== '') return 'has a password in its address';
  if (protocol !== 'https:' && protocol !== 'http:') return 'must have an https address';
  if (!LOOPBACK.test(hostname)) return protocol === 'https:' ? undefined : 'must have an https address; http is only for this machine';
  return isLocal ? undefined : 'has an address on this machine, but the registry is elsewhere';
}

/** Whether a registry at this address may name addresses on this machine. */
export const isLocalRegistry = (url: string): boolean => LOOPBACK.test(new URL(url).hostname);

function unavailable(id: string, why: string, next: string): RegistryError {
  return new RegistryError('NOT_INSTALLABLE', `"${id}" cannot be installed: ${why}`, next);
}
