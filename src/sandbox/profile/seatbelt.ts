// A profile in the language of macOS's sandbox-exec. Written from its documentation and from other projects' use of it; not tested on macOS.
import type { Place, Profile } from './profile.ts';

/** Later rules win over earlier ones, so the places come outermost first. */
export function seatbeltProfile({ network, hosts, places, temporary, sockets }: Profile): string {
  const rules = [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/tty.*") (literal "/dev/ptmx"))',
    ...temporary.flatMap((directory) => [allowWrite(directory), allowWrite(`/private${directory}`)]),
    '(allow file-write* (regex #"^/private/var/folders/[^/]+/[^/]+/[TC]/"))',
    ...places.flatMap(rulesFor),
    ...networkRules(network, hosts.ports, sockets),
    // Services that start programs, change settings or hold secrets outside the sandbox.
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.coreservices.launchservicesd") (global-name "com.apple.pasteboard.1"))',
    '(deny appleevent-send)',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
  ];
  return `${rules.join('\n')}\n`;
}

function rulesFor({ kind, path, isDirectory }: Place): string[] {
  const target = isDirectory ? `(subpath ${quoted(path)})` : `(literal ${quoted(path)})`;
  switch (kind) {
    case 'write':
      return [`(allow file-read* file-write* ${target})`];
    case 'read':
      return [`(allow file-read* ${target})`];
    case 'protect':
      return [`(deny file-write* ${target})`];
    case 'hide':
      return [`(deny file-read* file-write* ${target})`];
    case 'pin':
      return [`(deny file-write-unlink (literal ${quoted(path)}))`];
  }
}

/** Hosts cannot be named here: `listed` would need the proxy's port, which does not exist on this system yet. */
function networkRules(network: Profile['network'], ports: readonly number[], sockets: readonly string[]): string[] {
  const unix = [
    '(deny network-outbound (remote unix-socket))',
    ...sockets.map((one) => `(allow network-outbound (remote unix-socket (path-literal ${quoted(one)})))`),
  ];
  if (network === 'open') return unix;
  return [
    '(deny network*)',
    '(allow network-outbound (remote ip "localhost:*"))',
    ...ports.map((port) => `(allow network-outbound (remote ip "localhost:${port}"))`),
    ...unix.slice(1),
  ];
}

const allowWrite = (directory: string): string => `(allow file-write* (subpath ${quoted(directory)}))`;

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`;
