// Installs what a plan says into the store. Nothing becomes visible before it is complete and verified.
import { type DownloadOptions, downloadBinary, refuseUnverified } from './download.ts';
import { installPackage, type Run } from './packages.ts';
import type { Plan } from './plan.ts';
import type { Installed } from './records.ts';
import { RegistryError } from './registry-error.ts';
import type { Store } from './store.ts';

export type InstallOptions = {
  readonly store: Store;
  readonly run: Run;
  /** The index comes from this machine, and may name addresses on it. */
  readonly isLocal: boolean;
  readonly platform: NodeJS.Platform;
  readonly allowScripts: boolean;
  readonly allowUnverified: boolean;
  /** The present installation of this agent. */
  readonly present?: Installed | undefined;
  /** The name of the program, where the catalogue knows which of several it is. */
  readonly program?: string | undefined;
  readonly onProgress?: DownloadOptions['onProgress'];
};

export type Unstarted = Omit<Installed, 'command' | 'prefix' | 'at' | 'plan'> & {
  /** Relative to the folder. */
  readonly program: string;
  readonly skippedScripts: readonly string[];
};

export function refuseEarly(plan: Plan, options: Pick<InstallOptions, 'allowUnverified'>): void {
  if (plan.source.kind === 'binary') refuseUnverified(plan.id, plan.source, options);
}

export async function install(plan: Plan, options: InstallOptions): Promise<Unstarted> {
  const { store } = options;
  refuseEarly(plan, options);
  store.tidy();
  const staged = store.stage();
  try {
    const { mayLinkOut, ...found } = await fill(plan, staged, options);
    return { ...found, folder: await store.commit(staged, { mayLinkOut }) };
  } finally {
    store.discard(staged);
  }
}

async function fill(
  plan: Plan,
  staged: string,
  options: InstallOptions,
): Promise<Omit<Unstarted, 'folder'> & { readonly mayLinkOut: boolean }> {
  const { source } = plan;
  if (source.kind !== 'binary') {
    const { version, checksum, program, scripts } = await installPackage(source, staged, options);
    // A Python environment links to the Python of the system.
    return {
      ...{ version, checksum, program, skippedScripts: scripts },
      ...{ verifiedBy: 'packages' as const, withScripts: options.allowScripts, mayLinkOut: source.kind === 'uvx' },
    };
  }
  const { allowUnverified, isLocal, onProgress } = options;
  const { sha256, program } = await downloadBinary(source, staged, { allowUnverified, isLocal, ...(onProgress && { onProgress }) });
  const seen = pinnedFor(source.url, options.present);
  if (source.sha256 === undefined && seen !== undefined && seen !== sha256)
    throw new RegistryError(
      'CHECKSUM',
      `the archive of "${plan.id}" is not the one that was installed from this address before: sha256 ${sha256}, pinned ${seen}`,
      `remove the agent first if you trust the new one: switchboard agents remove ${plan.id}`,
    );
  return {
    ...{ version: plan.version, checksum: sha256, program },
    ...{
      verifiedBy: source.sha256 === undefined ? ('seen' as const) : ('index' as const),
      withScripts: false,
      skippedScripts: [],
      mayLinkOut: false,
    },
  };
}

function pinnedFor(url: string, present: Installed | undefined): string | undefined {
  const source = present?.plan.source;
  return source?.kind === 'binary' && source.url === url && present?.verifiedBy === 'seen' ? present.checksum : undefined;
}
