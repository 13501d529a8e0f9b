// Installs npm and Python packages into an empty folder, each at one exact version, and finds the program in it.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fields } from '../json-object.ts';
import { platformOf } from '../platform/platform.ts';
import type { Source } from './plan.ts';
import { RegistryError } from './registry-error.ts';

/** Starts a program whose output the user sees. `end` throws if a signal to us ended it. */
export type Run = (command: string, args: readonly string[], cwd: string) => { readonly child: ChildProcess; end(): void };

export type PackageInstall = {
  readonly version: string;
  readonly checksum: string | undefined;
  /** Relative to the folder. */
  readonly program: string;
  /** Packages with install scripts that did not run. */
  readonly scripts: readonly string[];
};

type Package = Extract<Source, { kind: 'npx' | 'uvx' }>;
type Options = {
  readonly allowScripts: boolean;
  readonly platform: NodeJS.Platform;
  readonly run: Run /** Where it is known which of several programs it is. */;
  readonly program?: string | undefined;
};

export const installPackage = (source: Package, folder: string, options: Options): Promise<PackageInstall> =>
  source.kind === 'npx' ? installNpm(source, folder, options) : installPython(source, folder, options);

async function installNpm(source: Package, folder: string, options: Options): Promise<PackageInstall> {
  const wanted = source.wanted === undefined ? source.package : `${source.package}@${source.wanted}`;
  // Without it, npm looks for a project above. Without a name, npm writes that of the folder into its lock file.
  writeFileSync(path.join(folder, 'package.json'), '{ "name": "installed", "private": true }\n');
  const flags = [
    '--save-exact',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
    '--install-strategy=hoisted',
    '--global=false',
  ];
  const scripts = options.allowScripts ? [] : ['--ignore-scripts'];
  await runTo(options.run, wanted, 'npm', ['install', ...flags, ...scripts, '--', wanted], folder);
  const inside = path.join('node_modules', ...source.package.split('/'));
  const manifest = readJson(path.join(folder, inside, 'package.json'));
  const lock = fields(readJson(path.join(folder, 'package-lock.json')).packages);
  const about = fields(lock[`node_modules/${source.package}`]);
  const { version } = manifest;
  if (typeof version !== 'string') throw installFailed(wanted, 'npm did not install it', 'check the output of npm above');
  const withScripts = Object.entries(lock).flatMap(([at, one]) =>
    fields(one).hasInstallScript === true ? [at.replace(/^.*node_modules\//, '')] : [],
  );
  return {
    version,
    checksum: typeof about.integrity === 'string' ? about.integrity : undefined,
    program: npmProgram(source, manifest, folder, options),
    scripts: options.allowScripts ? [] : withScripts,
  };
}

/** By its name in `.bin`, which also says to switchboard which agent it is. */
function npmProgram(source: Package, { bin }: { readonly bin?: unknown }, folder: string, { platform, program }: Options): string {
  const plain = source.package.split('/').at(-1) as string;
  const bins: Readonly<Record<string, unknown>> = typeof bin === 'string' ? { [plain]: bin } : fields(bin);
  const names = Object.keys(bins);
  const wish = [source.program, program, names.length === 1 ? names[0] : plain].find(
    (name) => name !== undefined && Object.hasOwn(bins, name),
  );
  const target = wish === undefined ? undefined : bins[wish];
  const why =
    names.length === 0
      ? 'the package has no program'
      : `the package has the programs ${names.join(', ')}, and the registry does not say which one is the agent`;
  if (wish === undefined || typeof target !== 'string') throw installFailed(source.package, why, 'report this to the registry');
  const linked = path.join('node_modules', '.bin', wish);
  const script = path.join('node_modules', ...source.package.split('/'), ...target.split('/'));
  const file = platformOf(platform).hasModes && existsSync(path.join(folder, linked)) ? linked : script; // elsewhere it is for a shell
  if (!existsSync(path.join(folder, file)))
    throw installFailed(source.package, `its program ${wish} is missing`, 'its install script may create it: add --allow-scripts');
  return file;
}

async function installPython(source: Package, folder: string, options: Options): Promise<PackageInstall> {
  const name = source.package.replace(/\[.*/, '');
  const wanted =
    source.wanted === undefined ? source.package : `${source.package}${/^[<>=~!]/.test(source.wanted) ? '' : '=='}${source.wanted}`;
  const { bin, ending } = platformOf(options.platform).python;
  const python = path.join(folder, bin, `python${ending}`);
  await runTo(options.run, wanted, 'uv', ['venv', '--quiet', '--relocatable', '--no-project', '--allow-existing', folder], folder);
  // Building a package runs its code; a wheel is only unpacked.
  const scripts = options.allowScripts ? [] : ['--no-build'];
  await runTo(
    options.run,
    wanted,
    'uv',
    ['pip', 'install', '--quiet', '--python', python, '--link-mode=copy', ...scripts, '--', wanted],
    folder,
  );
  const version = pythonVersion(folder, name);
  if (version === undefined) throw installFailed(wanted, 'uv did not install it', 'check the output of uv above');
  const programs = [source.program, options.program, name].flatMap((one) => (one === undefined ? [] : [path.join(bin, one + ending)]));
  const program = programs.find((file) => existsSync(path.join(folder, file)));
  if (program === undefined)
    throw installFailed(wanted, `it has no program named ${source.program ?? name}`, 'report this to the registry');
  return { version, checksum: undefined, program, scripts: [] };
}

/** From the name of its folder of metadata, `name-1.2.3.dist-info`. */
function pythonVersion(folder: string, name: string): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_.]+/g, '_');
  const libraries = [
    path.join(folder, 'Lib', 'site-packages'),
    ...namesIn(path.join(folder, 'lib')).map((one) => path.join(folder, 'lib', one, 'site-packages')),
  ];
  for (const one of libraries.flatMap(namesIn)) {
    const [, found, version] = /^(.+)-([^-]+)\.dist-info$/.exec(one) ?? [];
    if (found !== undefined && plain(found) === plain(name)) return version;
  }
  return undefined;
}

async function runTo(run: Run, wanted: string, command: string, args: readonly string[], cwd: string): Promise<void> {
  const { child, end } = run(command, args, cwd);
  const why = await once(child, 'exit').then(
    ([code, signal]) => (code === 0 ? undefined : `${command} exited with ${signal ?? `code ${code}`}`),
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? `${command} was not found` : `${command} did not start (${error.code})`),
  );
  end();
  if (why === undefined) return;
  const next =
    command === 'uv'
      ? 'install uv (https://docs.astral.sh/uv), or start it with uvx: --no-install'
      : 'check your network, or start it with npx: --no-install';
  throw installFailed(wanted, why, next);
}

const installFailed = (wanted: string, why: string, next: string): RegistryError =>
  new RegistryError('INSTALL_FAILED', `installing ${wanted} failed: ${why}`, next);

function readJson(file: string): Readonly<Record<string, unknown>> {
  try {
    return fields(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
