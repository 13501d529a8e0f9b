// What every contained process is refused, whatever the policy says.

/** Below the home directory. Credentials: nothing an agent needs to edit code. */
export const CREDENTIALS: readonly string[] = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.netrc',
  '.git-credentials',
  '.password-store',
  '.docker/config.json',
  '.config/gcloud',
  '.config/gh',
  '.config/op',
  '.local/share/keyrings',
  '.mozilla',
  '.thunderbird',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
];

/** Files of the system that root could read. */
export const SYSTEM_SECRETS: readonly string[] = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers', '/etc/sudoers.d', '/etc/ssl/private'];

/** Sockets and state of other programs. What the resolver and some distributions keep there stays visible. */
export const RUNTIME_DIRECTORY = '/run';
export const VISIBLE_IN_RUNTIME: readonly string[] = [
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager/resolv.conf',
  '/run/current-system',
  '/run/opengl-driver',
];

export const TEMPORARY: readonly string[] = ['/tmp', '/var/tmp'];

/** Parts of a git directory that make git run something. `HEAD`, refs and objects stay writable: a commit needs them. */
export const GIT_FILES: readonly string[] = ['config', 'config.worktree', 'commondir', 'gitdir', 'hooks', 'info/attributes'];

/** Not looked into: large, and rebuilt from the manifest. */
export const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set(['node_modules']);

/** Each cover makes the start of the process slower than the one before. */
export const MAX_COVERS = 300;
export const MAX_ENTRIES = 200_000;
